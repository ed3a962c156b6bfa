"""The database's clock, read without a round trip: every time in driftwatch is dated by it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import text

from driftwatch.db.engine import Database

log = structlog.get_logger(__name__)

REFRESH_SECONDS: Final = 60.0
SAMPLES: Final = 4
#: two clocks drift apart by less than this (200 ppm is four times what NTP accepts of a crystal)
DRIFT: Final = 200e-6
#: answers never run backwards over a step this small; a larger one means that the database's clock was set
SLEW_SECONDS: Final = 1.0


def steady_seconds() -> float:
    """Seconds on a clock that nobody sets. On Linux it goes on while a laptop sleeps, as the database's clock does."""
    boot_time: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the database's clock: it showed ``at`` at some moment between ``before`` and ``after``."""

    at: datetime
    before: float
    after: float

    @property
    def uncertainty(self) -> float:
        """Seconds by which the middle of the round trip may miss the moment of reading."""
        return (self.after - self.before) / 2


class DatabaseClock:
    """Database time as an offset to a steady clock, measured anew every minute.

    :meth:`now` never blocks. It is off by at most :attr:`error_seconds`, and does not run backwards unless the
    database's own clock was set back.
    """

    def __init__(self, db: Database, *, steady: Callable[[], float] = steady_seconds) -> None:
        self._db = db
        self._steady = steady
        self._reading: Reading | None = None
        self._last: datetime | None = None

    def now(self) -> datetime:
        """The database's time, timezone-aware UTC.

        Raises:
            RuntimeError: :meth:`refresh` never succeeded.
        """
        reading = self._current()
        middle = (reading.before + reading.after) / 2
        moment = reading.at + timedelta(seconds=self._steady() - middle)
        if self._last is not None and timedelta() < self._last - moment < timedelta(seconds=SLEW_SECONDS):
            return self._last
        self._last = moment
        return moment

    @property
    def error_seconds(self) -> float:
        """How far :meth:`now` may be off: half the round trip, plus drift since then."""
        reading = self._current()
        return reading.uncertainty + (self._steady() - reading.after) * DRIFT

    async def refresh(self) -> None:
        """Measure the offset; the quickest of a few round trips counts."""
        async with self._db.engine.connect() as connection:
            readings = []
            for _ in range(SAMPLES):
                before = self._steady()
                at: datetime = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
                readings.append(Reading(at.astimezone(UTC), before, self._steady()))
        self._reading = min(readings, key=lambda reading: reading.uncertainty)

    async def run(self) -> None:
        """Refresh every minute until cancelled; while the database is away the error bound grows."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.refresh()
            except Exception as error:  # a clock that stops being refreshed is worse than a line in the log
                log.warning("clock not refreshed", error=str(error), error_seconds=round(self.error_seconds, 3))

    def _current(self) -> Reading:
        if self._reading is None:
            raise RuntimeError("the database's clock was never read: await refresh() first")
        return self._reading
