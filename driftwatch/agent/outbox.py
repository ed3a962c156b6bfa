"""Reports wait here until driftwatch has taken them: in order, bounded, and nothing that was heard is lost."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Final

import structlog

from driftwatch.agent.report import Report
from driftwatch.agent.service import AwayError, RefusedReportError, Registration, Service, Taken

log = structlog.get_logger(__name__)

MOST_REPORTS: Final = 500
MOST_BYTES: Final = 64 * 1024 * 1024
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0


@dataclass(slots=True, eq=False)
class Waiting:
    """A report and what will become of it."""

    report: Report
    taken: asyncio.Future[Taken]


class Outbox:
    """One server's reports on their way. ``registered``: its id, once driftwatch knows it."""

    def __init__(
        self, service: Service, wanted: Registration, *, most: int = MOST_REPORTS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.registered: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.interval = float(wanted.interval_seconds or 0)
        self._service = service
        self._wanted = wanted
        self._most, self._most_bytes = most, most_bytes
        self._queue: list[Waiting] = []
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, report: Report) -> asyncio.Future[Taken]:
        """Let a report be sent; the answer is there once driftwatch gave it."""
        waiting = Waiting(report, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._shrink()
        self._filled.set()
        return waiting.taken

    async def run(self) -> None:
        """Send until cancelled. While driftwatch is away, what was seen waits."""
        failures = 0
        while True:
            try:
                await self._send_all()
                failures = 0
                await self._filled.wait()
            except AwayError as error:
                failures += 1
                wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
                log.warning("driftwatch is away", error=error.message, hint=error.hint, waiting=len(self._queue))
                await asyncio.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 - spreads load, guards nothing

    async def drained(self) -> None:
        """Wait until nothing waits any more."""
        while self._queue:
            await asyncio.wait({self._queue[-1].taken})

    async def _send_all(self) -> None:
        if not self.registered.done():
            server_id, self.interval = await self._service.register(self._wanted)
            self.registered.set_result(server_id)
        while self._queue:
            await self._send(self._queue[0], self.registered.result())
        self._filled.clear()

    async def _send(self, first: Waiting, server_id: int) -> None:
        try:
            taken = await self._service.push(server_id, first.report)
        except RefusedReportError as error:
            log.warning("driftwatch refused a snapshot", error=error.message, hint=error.hint)
            self._drop(0)
            return
        self._queue.pop(0)
        self.interval = taken.interval_seconds
        if not first.taken.done():
            first.taken.set_result(taken)

    def _shrink(self) -> None:
        """Over the bounds the oldest go, those first that say nothing new. The first one may be under way: it stays."""
        while len(self._queue) > self._most or sum(w.report.size for w in self._queue) > self._most_bytes:
            droppable = [i for i in range(1, len(self._queue)) if self._next(i) is not None]
            if not droppable:
                return
            self._drop(min(droppable, key=lambda i: (self._is_news(i), i)))

    def _drop(self, index: int) -> None:
        """Lose a report's list; what was heard goes with the next one of its era."""
        dropped, follower = self._queue[index], self._next(index)
        if follower is not None:
            follower.report = follower.report.after(dropped.report)
        del self._queue[index]
        dropped.taken.cancel()

    def _next(self, index: int) -> Waiting | None:
        era = self._queue[index].report.listing.era
        return next((w for w in self._queue[index + 1 :] if w.report.listing.era is era), None)

    def _is_news(self, index: int) -> bool:
        mine = self._queue[index].report.listing
        before = next((w for w in reversed(self._queue[:index]) if w.report.listing.era is mine.era), None)
        return before is None or before.report.listing.body_sha256 != mine.body_sha256
