"""One era of one server: look, report, listen, look again; start anew when the server is gone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Final
from uuid import uuid4

import structlog

from driftwatch.agent.outbox import Outbox
from driftwatch.agent.report import Evidence, Report
from driftwatch.agent.service import Taken
from driftwatch.agent.sight import Opener, Sight
from driftwatch.errors import WireError
from driftwatch.scheduler.finish import FOLLOW_UPS
from driftwatch.wire.errors import EraNotSpokenError, ExitedError, PollTimeoutError
from driftwatch.wire.facts import Era, Listing

log = structlog.get_logger(__name__)

#: before a server that failed is started or asked again
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 300.0
#: an era that is not spoken may be after an update
NOT_SPOKEN_WAIT: Final = 3600.0
#: a session that lived so long was a good one
STEADY_SECONDS: Final = 30.0
#: looks that confirm what differs, should driftwatch be away and not ask for them: the last one is for removals
DOUBTS: Final = (2.0, 5.0, 65.0)
#: a storm of notifications is not answered by a look for every one
STORM_GAP: Final = 1.0


class EraWatch:
    """Watches one era until cancelled. ``spoken``: the eras that the server was seen to speak, of all watches.

    ``tried``: set once the first session was opened, or was not.
    """

    def __init__(
        self, era: Era, opener: Opener, outbox: Outbox, interval: Callable[[], float], spoken: set[Era]
    ) -> None:
        self.era = era
        self.tried = asyncio.Event()
        self._spoken = spoken
        self._open = opener
        self._outbox = outbox
        self._interval = interval
        self._carried = Evidence()
        self._looks: list[float] = []
        self._doubts_until = 0.0
        self._body: bytes | None = None
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Never ends by itself."""
        failures = 0
        while True:
            began = _now()
            try:
                await self._session()
            except WireError as error:
                self.tried.set()
                if self._is_not_spoken(error):
                    log.info("era not spoken", era=self.era, error=error.message)
                    await asyncio.sleep(NOT_SPOKEN_WAIT)
                    continue
                failures = 1 if _now() - began > STEADY_SECONDS else failures + 1
                log.warning("the server cannot be read", era=self.era, code=error.code, error=error.message)
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 - spreads load, guards nothing

    def _is_not_spoken(self, error: WireError) -> bool:
        """Where another era is spoken, silence in this one is an answer: some servers ignore what they do not know."""
        silent = isinstance(error, PollTimeoutError) and self.era not in self._spoken and bool(self._spoken)
        return silent or isinstance(error, EraNotSpokenError)

    async def once(self) -> list[asyncio.Future[Taken]]:
        """Look until driftwatch doubts nothing any more; what became of the reports. Raises WireError."""
        sent = []
        async with self._open(self.era) as sight:
            while True:
                sent.append(await self._look(sight))
                taken = await sent[-1]
                if taken.outcome != "doubted" or taken.look_again_seconds is None:
                    return sent
                await asyncio.sleep(taken.look_again_seconds)

    async def _session(self) -> None:
        async with self._open(self.era) as sight:
            self._spoken.add(self.era)
            self.tried.set()
            why: WireError | None = None
            try:
                await self._watch(sight)
            except WireError as error:
                why = error
                raise
            finally:
                self._carried = self._carried.before(sight.last_words(why))

    async def _watch(self, sight: Sight) -> None:
        self._looks = []
        while True:
            (await self._look(sight)).add_done_callback(self._answered)
            looked = _now()
            self._look_in(self._interval() * random.uniform(0.95, 1.05))  # noqa: S311 - spreads load, guards nothing
            await self._until_due(sight, looked)

    async def _look(self, sight: Sight) -> asyncio.Future[Taken]:
        listing, fresh = await sight.walk(fresh=_now() < self._doubts_until)
        self._looks = [at for at in self._looks if at > _now()]
        self._doubt(listing)
        evidence = self._carried.before(sight.evidence())
        self._carried = Evidence()
        return self._outbox.put(Report(uuid4().hex, listing, fresh, evidence))

    def _doubt(self, listing: Listing) -> None:
        """A list that differs from the one before must be seen again, on connections of its own."""
        if self._body is not None and self._body != listing.body_sha256:
            self._doubts_until = _now() + DOUBTS[-1] + 1
            for wait in DOUBTS:
                self._look_in(wait)
        self._body = listing.body_sha256

    def _answered(self, taken: asyncio.Future[Taken]) -> None:
        """Driftwatch knows best when the next look is of use."""
        if taken.cancelled() or taken.exception() is not None:
            return
        answer = taken.result()
        if answer.changes:
            log.info("change recorded", era=self.era, changes=list(answer.changes))
        if answer.look_again_seconds is not None:
            if answer.outcome == "doubted":
                self._doubts_until = max(self._doubts_until, _now() + answer.look_again_seconds + 1)
            self._look_in(answer.look_again_seconds)

    def _look_in(self, seconds: float) -> None:
        self._looks.append(_now() + seconds)
        self._wake.set()

    async def _until_due(self, sight: Sight, looked: float) -> None:
        """Wait for the next look. Raises ExitedError when there is nobody to look at any more."""
        while (left := min(self._looks) - _now()) > 0:
            self._wake.clear()
            done = await _first(self._wake, sight.heard, sight.ended, seconds=left)
            if sight.ended in done:
                raise ExitedError("The server ended the session.", restart_kind="process-exited")
            if sight.heard in done:
                for wait in FOLLOW_UPS:
                    self._look_in(wait)
                await asyncio.sleep(max(0.0, looked + STORM_GAP - _now()))
                return


async def _first(*events: asyncio.Event, seconds: float) -> set[asyncio.Event]:
    """The events that are set when the first one is, or when the time is over."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)
    return {event for event in events if event.is_set()}


def _now() -> float:
    return asyncio.get_running_loop().time()
