"""What is heard on streams, on its way to the database.

The order is the point: how far we listened is written together with, and never before, the notifications received up
to then. So a verified stretch without a notification really was one.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import psycopg
import structlog

from driftwatch import telemetry
from driftwatch.scheduler.streams import store
from driftwatch.scheduler.streams.shares import Connection, Shares

log = structlog.get_logger(__name__)

#: how far we listened is written at most this often
COVERAGE_SECONDS: Final = 10.0
#: what must be known at once waits this long, so that a burst is one write
SOON_SECONDS: Final = 0.05
AGAIN_SECONDS: Final = 1.0

ListeningState = Literal["ok", "cannot-deliver", "limit", "off"]


@dataclass(slots=True, eq=False)
class Interval:
    """One stretch of listening to a profile, from its acknowledgement to the last byte."""

    profile_id: int
    acked: datetime
    verified_until: datetime | None = None
    ended_by: str = "open"
    why: str | None = None
    row_id: int | None = None

    def heard(self, at: datetime) -> None:
        """A byte arrived."""
        self.verified_until = at

    @property
    def open(self) -> bool:
        """True until somebody ended it."""
        return self.ended_by == "open"


class Journal:
    """Collects what the streams of a process heard, and writes it through the fenced connection.

    ``uncertainty``: seconds by which our idea of the database's time may be off; intervals are shortened by it.
    """

    def __init__(self, shares: Shares, *, coverage_seconds: float = COVERAGE_SECONDS) -> None:
        self.uncertainty = 0.0
        self._shares = shares
        self._coverage_seconds = min(coverage_seconds, COVERAGE_SECONDS)
        self._open: set[Interval] = set()
        self._ended: list[Interval] = []
        self._notifications: list[tuple[int, datetime, str]] = []
        self._listening: list[tuple[int, datetime, str, str | None]] = []
        self._look_now: set[int] = set()
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()

    def opened(self, profile_id: int, at: datetime) -> Interval:
        """A stream was acknowledged."""
        interval = Interval(profile_id, at)
        self._open.add(interval)
        telemetry.STREAMS.set(len(self._open))
        self.listening(profile_id, at, "ok")
        return interval

    def ended(self, interval: Interval, by: str, why: str) -> None:
        """Nothing more will be heard in this interval."""
        if interval.open:
            interval.ended_by, interval.why = by, why
            self._open.discard(interval)
            telemetry.STREAMS.set(len(self._open))
            telemetry.STREAM_ENDS.labels(by).inc()
            self._ended.append(interval)
            self._wake.set()

    def notified(self, profile_id: int, at: datetime, *, noise: bool) -> None:
        """A list_changed arrived; one row for a burst."""
        row = (profile_id, at, "start-up" if noise else "stream")
        if not any(known[0] == profile_id and known[2] == row[2] for known in self._notifications):
            self._notifications.append(row)
            telemetry.NOTIFICATIONS.inc()
        self._wake.set()

    def listening(self, profile_id: int, at: datetime, state: ListeningState, reason: str | None = None) -> None:
        """Whether we can listen, from now on."""
        self._listening.append((profile_id, at, state, reason))
        self._wake.set()

    def look_now(self, profile_id: int) -> None:
        """The server ended a stream: a poll now may find out why."""
        self._look_now.add(profile_id)
        self._wake.set()

    async def run(self) -> None:
        """Write until cancelled; raises when the connection is gone. What could not be written is tried again."""
        loop = asyncio.get_running_loop()
        covered = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), max(0.0, covered + self._coverage_seconds - loop.time()))
                await asyncio.sleep(SOON_SECONDS)
            complete = loop.time() >= covered + self._coverage_seconds
            try:
                await self.write(coverage=complete)
            except psycopg.Error as error:
                if self._shares.lost:
                    raise
                log.warning("what was heard could not be written yet", error=str(error))
                await asyncio.sleep(AGAIN_SECONDS)
                self._wake.set()
            else:
                covered = loop.time() if complete else covered

    async def write(self, *, coverage: bool = True) -> None:
        """Write what was collected; with ``coverage`` also how far the open intervals are verified."""
        async with self._writing:
            self._wake.clear()
            notes, self._notifications = self._notifications, []
            try:
                await self._write(notes, coverage=coverage)
            except BaseException:
                self._notifications = notes + self._notifications
                raise

    async def _write(self, notes: list[tuple[int, datetime, str]], *, coverage: bool) -> None:
        ended, listening, looks = list(self._ended), list(self._listening), set(self._look_now)
        fresh = [interval for interval in (*self._open, *ended) if interval.row_id is None]
        covered = [(interval, interval.verified_until) for interval in (*(self._open if coverage else ()), *ended)]
        # An answer about this profile may have been given before anybody had tried to listen.
        proven = {profile for profile, _, state, _ in listening if state == "cannot-deliver"}
        async with self._shares.writing() as connection:
            await store.lock_profiles(connection, {profile for profile, *_ in notes} | looks | proven)
            await store.note_notifications(connection, notes)
            ids = {interval: await self._insert(connection, interval) for interval in fresh}
            known = [(ids.get(interval, interval.row_id), interval, until) for interval, until in covered]
            await store.cover(connection, [self._row(row, i, until) for row, i, until in known if row is not None])
            await store.note_listening(connection, listening)
            await store.judge_again(connection, proven)
            await store.look_now(connection, looks)
        for interval, row_id in ids.items():  # only now is it certain that these rows exist
            interval.row_id = row_id
        del self._ended[: len(ended)]
        del self._listening[: len(listening)]
        self._look_now -= looks

    async def _insert(self, connection: Connection, interval: Interval) -> int | None:
        acked = interval.acked + timedelta(seconds=self.uncertainty)
        return await store.open_interval(connection, interval.profile_id, acked)

    def _row(self, row_id: int, interval: Interval, until: datetime | None) -> store.Covered:
        sure = None if until is None else until - timedelta(seconds=self.uncertainty)
        return row_id, sure, interval.ended_by, interval.why
