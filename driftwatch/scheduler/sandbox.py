"""Classification in a process of its own: a server's schema may burn time or memory there, but not here."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

import msgspec
import structlog

from driftwatch import telemetry
from driftwatch.capture.model import ToolDefinition
from driftwatch.classify import DEFAULT_POLICY, Policy, Verdict
from driftwatch.classify.decide import DISAGREEMENT
from driftwatch.classify.dialect import Schema
from driftwatch.classify.tool import Assessment, over_budget, schemas_over_budget
from driftwatch.classify.verdict import Direction, Root
from driftwatch.errors import CaptureError
from driftwatch.scheduler import sandbox_frames as frames
from driftwatch.scheduler.sandbox_frames import AssessQuestion, ClassifyQuestion, Question, SchemasQuestion
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era

log = structlog.get_logger(__name__)

_START_SECONDS: Final = 30.0
#: what the child may know of our environment: enough to start Python, no setting and no secret
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")
#: jsonschema-rs's allocator reserves 1 GiB of addresses at once, which the memory limit would count (KiB)
_ALLOCATOR: Final = {"MIMALLOC_ARENA_RESERVE": "65536"}


class _BudgetError(Exception):
    """The child did not answer: ``reason`` for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sandbox:
    """A small pool of classifier processes, each with a memory limit, each question with a wall limit.

    A process that crashes, runs out of memory or is late is killed and replaced; its question is answered with
    ``undecided`` and a reason that starts with ``budget:``. Processes start with the first question.
    """

    def __init__(self, settings: Settings, *, processes: int = 1) -> None:
        self._seconds = settings.classify_timeout_seconds
        self._arguments = (str(settings.classify_memory_mib), str(settings.classify_timeout_seconds))
        self._idle: asyncio.Queue[_Child | None] = asyncio.Queue()
        self._running: set[_Child] = set()
        for _ in range(processes):
            self._idle.put_nowait(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End every process. The sandbox may be used again afterwards."""
        for child in list(self._running):
            self._running.discard(child)
            await child.kill()

    async def assess(self, old: ToolDefinition | None, new: ToolDefinition | None, *, era: Era) -> Assessment:
        """See :func:`driftwatch.classify.tool.assess`."""
        try:
            return _counted(frames.decode_assessment(await self._ask(AssessQuestion(old, new, era))))
        except (_BudgetError, msgspec.ValidationError, CaptureError) as error:
            return over_budget(old, new, _reason(error))

    async def assess_schemas(
        self, old: Schema | None, new: Schema | None, *, directions: Sequence[Direction], root: Root, era: Era
    ) -> Assessment:
        """See :func:`driftwatch.classify.tool.assess_schemas`. Raises CaptureError for a schema that is not JSON."""
        question = SchemasQuestion(frames.schema_bytes(old), frames.schema_bytes(new), tuple(directions), root, era)
        try:
            return _counted(frames.decode_assessment(await self._ask(question)))
        except (_BudgetError, msgspec.ValidationError, CaptureError) as error:
            return schemas_over_budget(directions, _reason(error))

    async def classify(
        self,
        old: Schema | None,
        new: Schema | None,
        *,
        direction: Direction,
        root: Root = "any",
        old_dialect: str | None = None,
        new_dialect: str | None = None,
        policy: Policy = DEFAULT_POLICY,
    ) -> Verdict:
        """See :func:`driftwatch.classify.classify`. Raises CaptureError for a schema that is not JSON."""
        pair = frames.schema_bytes(old), frames.schema_bytes(new)
        try:
            question = ClassifyQuestion(*pair, direction, root, old_dialect, new_dialect, policy)
            return frames.decode_verdict(await self._ask(question))
        except (_BudgetError, msgspec.ValidationError, CaptureError) as error:
            return Verdict("undecided", direction, reason=_reason(error))

    async def _ask(self, question: Question) -> bytes:
        body = frames.encode_question(question)
        child = await self._idle.get()
        kept: _Child | None = None
        try:
            if child is None or not child.alive or child not in self._running:
                child = await _Child.start(self._arguments)
                self._running.add(child)
            answer = await child.ask(body, self._seconds)
            kept = child
        finally:
            # Also when the caller was cancelled in between: a process in the middle of an answer is of no use.
            self._idle.put_nowait(kept)
            if kept is None and child is not None:
                self._running.discard(child)
                await asyncio.shield(child.kill())
        return answer


def _counted(answer: Assessment) -> Assessment:
    """The answer, after the metric knows of parts about which two of us contradict each other, whoever asked."""
    for part in answer.parts:
        if (part.reason or "").startswith(DISAGREEMENT):
            telemetry.DISAGREEMENTS.inc()
    return answer


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, _BudgetError) else "budget: the answer was not readable"


class _Child:
    """One classifier process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, arguments: tuple[str, ...]) -> _Child:
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | _ALLOCATOR
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "driftwatch.scheduler.sandbox_child", *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            # A Ctrl-C in the terminal is the service's to handle.
            start_new_session=True,
        )
        child = cls(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                ready = await child._read()
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            await child.kill()
            raise _BudgetError("budget: the classifier did not start") from error
        if ready != frames.READY:
            await child.kill()
            raise _BudgetError("budget: the classifier did not start")
        return child

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, body: bytes, seconds: float) -> bytes:
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(body)
        except TimeoutError as error:
            log.warning("classifier stopped", reason="late", seconds=seconds)
            raise _BudgetError(f"budget: no answer within {seconds:g} s") from error
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            taken = asyncio.get_running_loop().time() - started
            log.warning("classifier stopped", reason="crashed", seconds=round(taken, 3))
            raise _BudgetError("budget: the classifier ran out of memory or crashed") from error

    async def _exchange(self, body: bytes) -> bytes:
        writer = self._process.stdin
        if writer is None:
            raise ConnectionError("the process has no pipes")
        writer.write(frames.frame(body))
        await writer.drain()
        return await self._read()

    async def _read(self) -> bytes:
        reader = self._process.stdout
        if reader is None:
            raise ConnectionError("the process has no pipes")
        (length,) = frames.HEADER.unpack(await reader.readexactly(frames.HEADER.size))
        if length > frames.MAX_FRAME:
            raise ValueError("the answer is too large")
        return await reader.readexactly(length)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
