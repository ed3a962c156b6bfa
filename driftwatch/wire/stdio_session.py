"""A stdio server while one process lives: the era it is spoken to in, its tool list, whether it tells of changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from driftwatch.settings import Settings
from driftwatch.wire import session
from driftwatch.wire.client import Budget, Clock
from driftwatch.wire.eras import UNSUPPORTED_VERSION, modern_facts, mutual_version
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Listing, Transport
from driftwatch.wire.listing import read_pages
from driftwatch.wire.pages import Pages
from driftwatch.wire.process import Command, running
from driftwatch.wire.stdio import REFUSED, StdioChannel, within
from driftwatch.wire.stream_events import Acknowledged, StreamEvent
from driftwatch.wire.walk import STARTUP_NOISE


class StdioSession:
    """One process, spoken to in one era. ``listening``: whether it would tell us of changes; None: it never said so."""

    def __init__(
        self, channel: StdioChannel, facts: EraFacts, clock: Clock, settings: Settings, listening: StreamEvent | None
    ) -> None:
        self.channel = channel
        self.facts = facts
        self.listening = listening
        self._clock = clock
        self._settings = settings

    async def walk(self) -> Listing:
        """Read the whole tool list, or raise a WireError: never a part of it."""
        settings, started = self._settings, time.perf_counter()
        pages = Pages(settings.max_pages, settings.max_tools)
        self.channel.budget = Budget(settings.max_body_bytes)
        sent_at = self._clock.now()
        async with within(settings.poll_timeout_seconds, "The tool list was not complete"):
            await read_pages(self.channel, pages, self.facts, [])
        arrived_at = self._clock.now()
        modern = self.facts.era is Era.MODERN
        if modern and pages.server_info is not None:
            self.facts = replace(self.facts, server_info=pages.server_info)
        return Listing(
            era=self.facts.era,
            facts=self.facts,
            sent_at=sent_at,
            arrived_at=arrived_at,
            tools=tuple(pages.tools),
            results=tuple(pages.results),
            body_sha256=pages.sha256,
            pages=pages.count,
            size_bytes=self.channel.budget.used,
            duration_ms=(time.perf_counter() - started) * 1000,
            ttl_ms=pages.ttl_ms,
            cache_scope=pages.cache_scope,
        )


@asynccontextmanager
async def open_session(command: Command, era: Era, clock: Clock, settings: Settings) -> AsyncIterator[StdioSession]:
    """Start the command and speak to it in this era; the process is gone when the block ends.

    Raises CommandError, EraNotSpokenError, and the WireError of a server that does not answer as MCP asks.
    """
    async with running(command) as process:
        channel = StdioChannel(process, clock, settings)
        reading = asyncio.create_task(channel.read(), name="stdio")
        try:
            async with within(settings.poll_timeout_seconds, "The server did not answer"):
                facts = await (_discover if era is Era.MODERN else _initialize)(channel)
            yield StdioSession(channel, facts, clock, settings, await _listen(channel, facts, clock))
        finally:
            reading.cancel()
            await asyncio.wait({reading})


async def _discover(channel: StdioChannel) -> EraFacts:
    """The first request decides the era of a connection, so a legacy server must be given a process of its own."""
    channel.version = LATEST_MODERN
    answer = await channel.ask("server/discover", {})
    if answer.failure is not None and (mutual := mutual_version(answer.failure)) is not None:
        channel.version = mutual
        answer = await channel.ask("server/discover", {})
    if answer.failure is not None and answer.failure.code != UNSUPPORTED_VERSION:
        answer.status = REFUSED
    facts = modern_facts(answer, channel.version)
    channel.version = facts.protocol_version
    return facts


async def _initialize(channel: StdioChannel) -> EraFacts:
    answer = await session.handshake(channel)
    if answer.failure is not None:
        raise EraNotSpokenError(f"No legacy era: initialize failed: {answer.failure.message}")
    facts = session.facts_of(answer, Transport.STDIO)
    await channel.tell("notifications/initialized")
    return facts


async def _listen(channel: StdioChannel, facts: EraFacts, clock: Clock) -> StreamEvent | None:
    if not facts.list_changed_declared:
        return None
    if facts.era is Era.MODERN:
        return await channel.subscribe()
    now = clock.now()
    return Acknowledged(now, noise_until=now + STARTUP_NOISE)
