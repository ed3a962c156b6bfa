"""MCP over a command's pipes: one JSON-RPC message a line, in either era, results kept as the bytes they came in.

A pipe carries everything in order. So when an answer has arrived, whatever the server announced before it has arrived
as well: a session hears everything up to the last answer it got.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

import msgspec

from driftwatch.errors import WireError
from driftwatch.settings import Settings
from driftwatch.wire import messages
from driftwatch.wire.channels import modern_params
from driftwatch.wire.client import Budget, Clock
from driftwatch.wire.errors import (
    BadResultError,
    ExitedError,
    PollTimeoutError,
    TooDeepError,
    TooLargeError,
)
from driftwatch.wire.process import Process
from driftwatch.wire.stream_events import Acknowledged, Limited, StreamEvent, Undeliverable
from driftwatch.wire.streamable import Answer
from driftwatch.wire.streams import ACK_SECONDS, LISTEN

#: what a line holds beside the result
_ENVELOPE: Final = 65_536
#: JSON-RPC has no status; these stand where HTTP's would
_OK: Final = 200
REFUSED: Final = 400


class StdioChannel:
    """Requests and notifications over the pipes of one process. ``version``: of a modern session, else None."""

    def __init__(self, process: Process, clock: Clock, settings: Settings, version: str | None = None) -> None:
        self.version = version
        self.ended = asyncio.Event()
        self.heard = asyncio.Event()
        self.list_changed_at: list[datetime] = []
        self.answered_at: datetime | None = None
        self.unsubscribed_at: datetime | None = None
        self.budget = Budget(settings.max_body_bytes)
        self._process = process
        self._clock = clock
        self._longest = settings.max_body_bytes + _ENVELOPE
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._acknowledged: asyncio.Future[StreamEvent] | None = None
        self._why: WireError = ExitedError("The command ended.", restart_kind="process-exited")

    async def read(self) -> None:
        """Take what the server says until it ends; then nothing waits any more."""
        try:
            async for line in self._process.lines(self._longest):
                await self._take(line)
        except WireError as error:
            self._why = error
        finally:
            self.ended.set()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(self._why)
            if self._acknowledged is not None and not self._acknowledged.done():
                self._acknowledged.set_exception(self._why)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request and wait for its answer. Raises ExitedError, TooDeepError, TooLargeError."""
        sent = self._enveloped(params)
        request_id = self._next_id()
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = waiting
        try:
            await self._send(messages.request(method, sent, request_id))
            return await waiting
        finally:
            del self._waiting[request_id]
            waiting.cancel()

    async def tell(self, method: str) -> None:
        """Send a notification."""
        await self._send(messages.notification(method))

    async def subscribe(self) -> StreamEvent:
        """Ask a modern server to announce changes of its tools: Acknowledged, Undeliverable or Limited.

        Raises PollTimeoutError, ExitedError.
        """
        params = self._enveloped({"notifications": {"toolsListChanged": True}})
        request_id = self._next_id()
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._acknowledged = asyncio.get_running_loop().create_future()
        self.unsubscribed_at = None
        self._waiting[request_id] = answer  # stays: the answer would be the end of the subscription
        await self._send(messages.request(LISTEN, params, request_id))
        answer.add_done_callback(self._not_acknowledged)
        async with within(ACK_SECONDS, "The subscription was not acknowledged"):
            return await self._acknowledged

    def _not_acknowledged(self, answer: asyncio.Future[Answer]) -> None:
        """The subscription was answered: before its acknowledgement that is a refusal, after it its end."""
        error = None if answer.cancelled() else answer.exception()
        self.unsubscribed_at = self._clock.now()
        if self._acknowledged is None or self._acknowledged.done() or answer.cancelled():
            return
        if error is not None:
            self._acknowledged.set_exception(error)
        else:
            self._acknowledged.set_result(self._refusal(answer.result()))

    def _refusal(self, answer: Answer) -> StreamEvent:
        now = self._clock.now()
        code = 0 if answer.failure is None else answer.failure.code
        return Limited(now) if code == messages.INTERNAL_ERROR else Undeliverable(now, "listen-404")

    def take_heard(self) -> list[datetime]:
        """The list_changed since the last call."""
        heard, self.list_changed_at = self.list_changed_at, []
        self.heard.clear()
        return heard

    def _enveloped(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return params if self.version is None else modern_params(self.version, params)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _send(self, line: bytes) -> None:
        if self.ended.is_set():
            raise self._why
        try:
            await self._process.write(line)
        except OSError as error:
            raise ExitedError("The command reads no more.", restart_kind="process-exited") from error

    async def _take(self, line: bytes) -> None:
        """One line. What is no JSON-RPC is somebody's print; a bomb is an answer that nobody will read."""
        if not line.strip():
            return
        try:
            found = messages.read_messages(line)
        except TooDeepError as error:
            self._fail(error)
            return
        except WireError:
            return
        for message in found:
            with contextlib.suppress(WireError):
                await self._take_message(message, len(line))

    async def _take_message(self, message: messages.Message, size: int) -> None:
        if message.is_list_changed():
            self.list_changed_at.append(self._clock.now())
            self.heard.set()
        elif message.is_acknowledgement():
            if self._acknowledged is not None and not self._acknowledged.done():
                now = self._clock.now()
                said = Acknowledged(now) if message.honours_tools() else Undeliverable(now, "ack-omits-tools")
                self._acknowledged.set_result(said)
        elif bytes(message.method):
            if bytes(message.id):
                await self._reply(message)
        else:
            self._answer(message, size)

    def _answer(self, message: messages.Message, size: int) -> None:
        waiting = next((one for number, one in self._waiting.items() if message.answers(number)), None)
        if waiting is None or waiting.done():
            return
        self.answered_at = self._clock.now()
        try:
            self.budget.take(size)
        except TooLargeError as error:
            waiting.set_exception(error)
            return
        if refusal := message.error_object():
            waiting.set_result(Answer(REFUSED, failure=messages.failure(refusal)))
        elif result := bytes(message.result):
            waiting.set_result(Answer(_OK, result=result))
        else:
            waiting.set_exception(BadResultError("An answer has neither a result nor an error."))

    def _fail(self, error: WireError) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)

    async def _reply(self, message: messages.Message) -> None:
        """A server may ask as well: we are there, and can do nothing else."""
        said: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
        if messages.value(message.method) == "ping":
            said["result"] = {}
        else:
            said["error"] = {"code": messages.METHOD_NOT_FOUND, "message": "Method not found"}
        await self._send(msgspec.json.encode(said))


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """Raises PollTimeoutError when the block takes longer."""
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError:
        if not timer.expired():
            raise
        raise PollTimeoutError(f"{what} within {seconds:g} s.") from None
