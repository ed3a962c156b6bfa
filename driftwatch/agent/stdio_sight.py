"""A stdio server as the agent sees it: one process, which is heard up to the last answer it gave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Literal

from driftwatch.agent.clock import AgentClock
from driftwatch.agent.report import Covered, Evidence
from driftwatch.errors import WireError
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era, Listing, Restart
from driftwatch.wire.process import Command
from driftwatch.wire.stdio_session import StdioSession, open_session
from driftwatch.wire.stream_events import Acknowledged, Limited, Undeliverable


@asynccontextmanager
async def open_stdio(command: Command, era: Era, clock: AgentClock, settings: Settings) -> AsyncIterator[StdioSight]:
    """Start the command; see Opener."""
    started = clock.now()
    async with open_session(command, era, clock, settings) as session:
        yield StdioSight(session, clock, started)


class StdioSight:
    """See Sight. A newly started process is restart evidence: the one that clients knew is not this one."""

    def __init__(self, session: StdioSession, clock: AgentClock, started: datetime) -> None:
        self._session = session
        self._channel = session.channel
        self._clock = clock
        self._restarts = [Restart(started, "process-started")]
        self._over: list[Covered] = []

    @property
    def heard(self) -> asyncio.Event:
        """See Sight."""
        return self._channel.heard

    @property
    def ended(self) -> asyncio.Event:
        """See Sight."""
        return self._channel.ended

    async def walk(self, *, fresh: bool) -> tuple[Listing, bool]:
        """See Sight. There is one process: no look is answered by another one."""
        if self._channel.unsubscribed_at is not None:
            self._over += self._covered("server", "finished")
            self._session.listening = await self._channel.subscribe()
        return await self._session.walk(), True

    def evidence(self) -> Evidence:
        """See Sight."""
        return self._taken(self._covered("open", None))

    def last_words(self, error: WireError | None) -> Evidence:
        """See Sight."""
        kind = None if error is None else error.restart_kind
        if kind is not None:
            self._restarts.append(Restart(self._clock.now(), kind))
        by: Literal["us", "server"] = "us" if kind is None else "server"
        return self._taken(self._covered(by, kind or "closed"))

    def _taken(self, current: list[Covered]) -> Evidence:
        noise_until = self._listening_from()
        notifications = tuple(at for at in self._channel.take_heard() if noise_until is None or at >= noise_until)
        said = Evidence((*self._over, *current), notifications, tuple(self._restarts), self._unheard())
        self._over, self._restarts = [], []
        return said

    def _listening_from(self) -> datetime | None:
        listening = self._session.listening
        return (listening.noise_until or listening.at) if isinstance(listening, Acknowledged) else None

    def _covered(self, by: Literal["open", "us", "server"], why: str | None) -> list[Covered]:
        start, until = self._listening_from(), self._channel.answered_at
        if start is None or until is None or until < start:
            return []
        gone = self._channel.unsubscribed_at
        return [Covered(start, until if gone is None else max(start, min(until, gone)), by, why)]

    def _unheard(self) -> tuple[str, str | None] | None:
        listening = self._session.listening
        if isinstance(listening, Undeliverable):
            return "cannot-deliver", listening.reason
        return ("off", "limit") if isinstance(listening, Limited) else None
