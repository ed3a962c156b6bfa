"""The scheduler role: once a second, claim what is due and enqueue its polls, in one transaction.

APScheduler only supplies the heartbeat, in memory; SQL decides what is due, so any number of schedulers may tick.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from driftwatch import telemetry
from driftwatch.scheduler import enqueue, store
from driftwatch.scheduler.batches import BATCH_SIZE

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

TICK_SECONDS: Final = 1.0
#: no tick ended well for this long: the heartbeat is nudged
STALLED_SECONDS: Final = 5.0
#: and for this long: the role says that it cannot work
UNHEALTHY_SECONDS: Final = 30.0
#: a tick that hangs would keep every later one from running
LONGEST_TICK_SECONDS: Final = 10.0
#: claims only pile up when workers cannot keep up, so no more batches than this wait in the queue
MOST_QUEUED: Final = 100


class Ticker:
    """One scheduler's ticks and their age by the monotonic clock, which no wrong date can touch."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._last = time.monotonic()

    @property
    def age(self) -> float:
        """Seconds since a tick last ended well."""
        return time.monotonic() - self._last

    @property
    def problem(self) -> str | None:
        """Words for readiness when due polls are not being handed out; None: all is well."""
        return None if self.age < UNHEALTHY_SECONDS else f"no tick for {self.age:.0f} s"

    async def tick(self) -> int:
        """Claim due profiles and enqueue their polls; answers how many were claimed."""
        async with self._services.db.transaction() as session:
            room = MOST_QUEUED - await store.queued_polls(session, limit=MOST_QUEUED)
            batches = await store.claim_due(session, limit=room * BATCH_SIZE) if room > 0 else {}
            await enqueue.defer_polls(session, batches)
        self._last = time.monotonic()
        return sum(map(len, batches.values()))

    async def attempt(self) -> None:
        """A tick whose failure is logged: the next one is a second away."""
        try:
            async with asyncio.timeout(LONGEST_TICK_SECONDS):
                await self.tick()
        except asyncio.CancelledError:
            log.debug("tick cut off")  # by the end of the role; raised, APScheduler would report a broken job
        except Exception as error:  # whatever it was, a scheduler that stops ticking is worse
            log.warning("tick failed", error=str(error), age=round(self.age, 1))


async def run_scheduler(services: Services) -> None:
    """Tick until cancelled."""
    ticker = Ticker(services)
    services.health.watch("tick", lambda: ticker.problem)
    telemetry.TICK_AGE.set_function(lambda: ticker.age)
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.add_job(
        ticker.attempt,
        "interval",
        id="tick",
        seconds=TICK_SECONDS,
        jitter=0.2,
        max_instances=1,
        coalesce=True,
        misfire_grace_time=None,
        next_run_time=datetime.now(UTC),
    )
    scheduler.start()
    try:
        await watch(scheduler, ticker)
    finally:
        scheduler.shutdown(wait=False)


async def watch(scheduler: Any, ticker: Ticker, *, stalled: float = STALLED_SECONDS) -> None:
    """Nudge the heartbeat when it stalls: APScheduler waits for the wall clock, and that may have been set back."""
    while True:
        await asyncio.sleep(min(1.0, stalled / 2))
        if ticker.age > stalled:
            log.warning("tick is late", age=round(ticker.age, 1))
            scheduler.modify_job("tick", next_run_time=datetime.now(UTC))
            scheduler.wakeup()
