"""A private URL as the agent sees it: the wire room's polls and streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final, Literal

from driftwatch.agent.report import Covered, Evidence
from driftwatch.errors import WireError
from driftwatch.wire.client import WireClient
from driftwatch.wire.eras import detect
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart, Target
from driftwatch.wire.session import close_session
from driftwatch.wire.stream_events import Acknowledged, Ended, Heard, Limited, Notified, StreamEvent, Undeliverable
from driftwatch.wire.streams import listen
from driftwatch.wire.walk import walk

#: a stream that was silent for so long proves nothing after its last byte
SILENCE: Final = timedelta(seconds=45)
#: before a stream is opened again that ended, and one that the server cannot deliver on
AGAIN_SECONDS: Final = 2.0
UNDELIVERABLE_SECONDS: Final = 3600.0


@asynccontextmanager
async def open_http(client: WireClient, target: Target, era: Era) -> AsyncIterator[HttpSight]:
    """Find out whether the server speaks the era; see Opener."""
    found = await detect(client, target, frozenset({era}))
    if era not in found.found:
        raise found.failure or EraNotSpokenError(f"The server does not speak the {era} era.")
    sight = HttpSight(client, target, found.found[era])
    try:
        yield sight
    finally:
        await sight.close()


class HttpSight:
    """See Sight. Its stream is a task beside it, opened once the first list is known."""

    def __init__(self, client: WireClient, target: Target, facts: EraFacts) -> None:
        self.heard = asyncio.Event()
        self.ended = asyncio.Event()
        self._client, self._target, self._facts = client, target, facts
        self._survived = 0
        self._restarts: list[Restart] = []
        self._notified: list[datetime] = []
        self._over: list[Covered] = []
        self._current: Covered | None = None
        self._unheard: tuple[str, str | None] | None = None
        self._stream: asyncio.Task[None] | None = None

    async def walk(self, *, fresh: bool) -> tuple[Listing, bool]:
        """See Sight."""
        listing = await walk(
            self._client, self._target, self._facts, polls_survived=self._survived, fresh_connection=fresh
        )
        self._survived = 0 if listing.session_replaced else self._survived + 1
        self._facts = listing.facts
        self._restarts += listing.restarts
        self._notified += listing.list_changed_at
        if listing.session_replaced or self._stream is None:
            await self._listen_anew()
        return listing, fresh

    def evidence(self) -> Evidence:
        """See Sight."""
        current = () if self._current is None else (self._current,)
        said = Evidence((*self._over, *current), tuple(self._notified), tuple(self._restarts), self._unheard)
        self._over, self._notified, self._restarts = [], [], []
        self.heard.clear()
        return said

    def last_words(self, error: WireError | None) -> Evidence:
        """See Sight."""
        kind = None if error is None else error.restart_kind
        if kind is not None:
            self._restarts.append(Restart(self._client.clock.now(), kind))
        self._end("us" if kind is None else "server", kind or "closed")
        return self.evidence()

    async def close(self) -> None:
        """End the stream and the session."""
        await self._hush()
        if self._facts.session is not None:
            await close_session(self._client, self._target, self._facts.session)

    async def _listen_anew(self) -> None:
        await self._hush()
        if self._facts.list_changed_declared:
            self._stream = asyncio.create_task(self._listen(), name="stream")

    async def _hush(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
            await asyncio.wait({self._stream})
            self._stream = None
        self._end("us", "closed")

    async def _listen(self) -> None:
        while True:
            last: StreamEvent | None = None
            with suppress(WireError):
                async with aclosing(listen(self._client, self._target, self._facts)) as events:
                    async for event in events:
                        self._take(event)
                        last = event
            never = isinstance(last, Undeliverable | Limited)
            await asyncio.sleep(UNDELIVERABLE_SECONDS if never else AGAIN_SECONDS)

    def _take(self, event: StreamEvent) -> None:
        if isinstance(event, Acknowledged):
            self._unheard = None
            start = event.noise_until or event.at
            self._current = Covered(start, max(start, event.at))
        elif isinstance(event, Heard):
            self._extend(event.at)
        elif isinstance(event, Notified):
            self._notified.append(event.at)
            self.heard.set()
        elif isinstance(event, Ended):
            if event.properly:
                self._extend(event.at)
            self._end(event.by, event.why)
        elif isinstance(event, Undeliverable):
            self._unheard = ("cannot-deliver", event.reason)
        else:
            self._unheard = ("off", "limit")

    def _extend(self, at: datetime) -> None:
        current = self._current
        if current is None:
            return
        if at - current.until > SILENCE:
            self._end("us", "silent")
            self._current = Covered(at, at)
        else:
            self._current = Covered(current.start, max(current.until, at))

    def _end(self, by: Literal["us", "server"], why: str) -> None:
        if self._current is not None:
            self._over.append(Covered(self._current.start, self._current.until, by, why))
            self._current = None
