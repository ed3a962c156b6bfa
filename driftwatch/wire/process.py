"""A command with pipes: started with an environment of its own, read line by line within a cap, and ended for good."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from driftwatch.wire.errors import CommandError, TooLargeError

#: the protocol's way to end a stdio server: close its input, then ask, then insist
PATIENCE_SECONDS: Final = 3.0
_PIECE: Final = 65_536
#: what a command needs to run at all; everything else of our environment is not its business
KEPT: Final = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
)


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. Neither words nor environment are logged: both may hold secrets."""

    words: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None


def minimal_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """The variables of ``ours`` that every command gets. Exported shell functions are code, not values."""
    return {name: ours[name] for name in KEPT if name in ours and not ours[name].startswith("()")}


class Process:
    """A running command. Its standard error is not read: what a server says there is not for us to keep."""

    def __init__(self, running: subprocess.Process) -> None:
        self._running = running
        if running.stdin is None or running.stdout is None:
            raise TypeError("the command was started without pipes")
        self._input, self._output = running.stdin, running.stdout

    @property
    def pid(self) -> int:
        """The process's id, and that of its group."""
        return self._running.pid

    async def write(self, line: bytes) -> None:
        """Send one line. Raises OSError when nobody reads any more."""
        self._input.write(line + b"\n")
        await self._input.drain()

    async def lines(self, longest: int) -> AsyncIterator[bytes]:
        """Lines until the output ends, without their ends. Raises TooLargeError for one of more bytes than that."""
        rest = bytearray()
        while piece := await self._output.read(_PIECE):
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                yield bytes(rest) + piece[start:end]
                rest.clear()
                start = end + 1
            rest += piece[start:]
            if len(rest) > longest:
                raise TooLargeError(f"A line has more than {longest} bytes.")

    async def end(self) -> int:
        """End the process and everything it started; answers its exit status."""
        self._input.close()
        for sent in (None, signal.SIGTERM, signal.SIGKILL):
            if sent is not None:
                self._signal(sent)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._gone(), PATIENCE_SECONDS)
                break
        self._signal(signal.SIGKILL)  # a runner such as npx may be gone before what it ran
        return await self._running.wait()

    async def _gone(self) -> None:
        """Read on until it is gone: a process that waits for a full pipe never ends."""
        while await self._output.read(_PIECE):
            pass
        await self._running.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._running.pid, number)


@asynccontextmanager
async def running(command: Command) -> AsyncIterator[Process]:
    """The command for as long as the block lasts. Raises CommandError when it cannot be started."""
    try:
        started = await asyncio.create_subprocess_exec(
            *command.words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(command.env),
            cwd=command.folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "a word of it cannot be passed on"
        raise CommandError(f"The command cannot be started: {why}.") from error
    process = Process(started)
    try:
        yield process
    finally:
        await asyncio.shield(asyncio.ensure_future(process.end()))
