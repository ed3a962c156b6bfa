"""Holds the change stream of one profile: opens it, keeps it, recycles it, backs off."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from datetime import timedelta
from typing import Final

import structlog

from driftwatch.errors import WireError
from driftwatch.scheduler.streams.journal import Interval, Journal
from driftwatch.scheduler.streams.wanted import Wanted
from driftwatch.wire.client import WireClient
from driftwatch.wire.facts import Era
from driftwatch.wire.stream_events import Acknowledged, Ended, Heard, Limited, Notified, StreamEvent, Undeliverable
from driftwatch.wire.streams import ACK_SECONDS, listen

log = structlog.get_logger(__name__)

#: a stream that was silent for so long proves nothing after its last byte
SILENCE: Final = timedelta(seconds=45)
#: old replicas live on for as long as somebody listens to them
RECYCLE_SECONDS: Final = (300.0, 600.0)
RECYCLE_AGAIN_SECONDS: Final = 60.0
CHECK_SECONDS: Final = 5.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 300.0
#: a server that holds as many streams as it wants is asked rarely; what it cannot deliver it rarely learns
LIMIT_WAITS: Final = (60.0, 3600.0)
UNDELIVERABLE_WAIT: Final = 3600.0
#: a stream that lived this long was a good one
STEADY_SECONDS: Final = 30.0
LOOK_NOW_EVERY: Final = 300.0

#: streams that are being opened at a time, in one process
OPENING: Final = 50


class Line:
    """One stream and the task that reads it. ``opened``: its first event, or the error instead of one."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[StreamEvent] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[StreamEvent] | None = None
        self.spoke = False

    async def close(self) -> None:
        """End the stream."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})
            if not self.task.cancelled():
                self.task.exception()  # whatever it ended with, nobody wants to know any more
        self.opened.cancel()


class Holder:
    """The stream of one profile, for as long as it is wanted. ``lines`` are being read; the last one counts."""

    def __init__(self, wanted: Wanted, wire: WireClient, journal: Journal, places: asyncio.Semaphore) -> None:
        self.wanted = wanted
        self._wire = wire
        self._journal = journal
        self._places = places
        self._interval: Interval | None = None
        self._current: Line | None = None
        self._failures = 0
        self._looked = float("-inf")
        self._task = asyncio.create_task(self._run(), name=f"stream {wanted.profile_id}")

    async def stop(self, by: str, why: str) -> None:
        """Let go of the stream; nothing heard later counts."""
        if self._interval is not None:
            self._journal.ended(self._interval, by, why)
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        structlog.contextvars.bind_contextvars(profile=self.wanted.profile_id)
        while True:
            try:
                wait = await self._hold()
            except Exception:  # one profile's fault must not end everybody's listening
                log.exception("stream failed")
                wait = LONGEST_WAIT
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 - spreads load, guards nothing

    async def _hold(self) -> float:
        """Hold one stream until it is over; answers the seconds to wait before the next."""
        loop = asyncio.get_running_loop()
        started, line = loop.time(), self._open()
        recycle_at = started + random.uniform(*RECYCLE_SECONDS)  # noqa: S311 - spreads load, guards nothing
        try:
            while line.task is not None:
                await asyncio.wait({line.task}, timeout=CHECK_SECONDS)
                if line.task.done():
                    return self._over(line, loop.time() - started)
                if self._half_open(line):
                    self._end("us", "silent")
                    return FIRST_WAIT
                if loop.time() >= recycle_at and self.wanted.facts.era is Era.MODERN:
                    line, renewed = await self._recycle(line)
                    started = loop.time() if renewed else started
                    again = random.uniform(*RECYCLE_SECONDS) if renewed else RECYCLE_AGAIN_SECONDS  # noqa: S311
                    recycle_at = loop.time() + again
            raise TypeError("a line without a task")
        finally:
            self._end("us", "stopped")
            await line.close()

    def _open(self) -> Line:
        line = Line()
        line.task = asyncio.create_task(self._read(line), name=f"line {self.wanted.profile_id}")
        return line

    async def _recycle(self, old: Line) -> tuple[Line, bool]:
        """Make before break: a new stream takes over once it is acknowledged; else the old one stays."""
        new = self._open()
        try:
            await asyncio.wait({new.opened}, timeout=ACK_SECONDS)
        except asyncio.CancelledError:
            await new.close()
            await old.close()
            raise
        if self._current is new:
            await old.close()
            return new, True
        await new.close()
        return old, False

    async def _read(self, line: Line) -> StreamEvent:
        try:
            async with aclosing(listen(self._wire, self.wanted.target, self.wanted.facts)) as events:
                async with self._places:
                    first = await anext(events)
                self._take(line, first)
                line.opened.set_result(first)
                last = first
                async for event in events:
                    self._take(line, event)
                    last = event
        finally:
            line.opened.cancel()
        return last

    def _take(self, line: Line, event: StreamEvent) -> None:
        if isinstance(event, Acknowledged):
            self._acknowledged(line, event)
        elif isinstance(event, Heard):
            line.spoke = True
            self._heard(line, event)
        elif isinstance(event, Notified):
            noise_until = self.wanted.noise_until
            noise = noise_until is not None and event.at < noise_until
            self._journal.notified(self.wanted.profile_id, event.at, noise=noise)
        elif isinstance(event, Ended) and self._current is line and self._interval is not None:
            if event.properly:
                self._interval.heard(event.at)
            self._end(event.by, event.why)

    def _acknowledged(self, line: Line, event: Acknowledged) -> None:
        self._current = line
        if self._interval is None or not self._interval.open:
            # What is said while a server starts is not counted, so that time cannot count as listened to either.
            quiet = [at for at in (event.noise_until, self.wanted.noise_until) if at is not None]
            self._interval = self._journal.opened(self.wanted.profile_id, max([event.at, *quiet]))
        self._interval.heard(event.at)

    def _heard(self, line: Line, event: Heard) -> None:
        interval = self._interval
        if self._current is not line or interval is None:
            return
        last = interval.verified_until or interval.acked
        if event.at - last > SILENCE:
            self._journal.ended(interval, "us", "silent")
            interval = self._interval = self._journal.opened(self.wanted.profile_id, event.at)
        interval.heard(event.at)

    def _half_open(self, line: Line) -> bool:
        """True for a stream that used to send keep-alives and stopped: nobody may be at the other end.

        One that never sent any is left alone: some SDKs do not, and what they announce still arrives.
        """
        interval = self._interval
        if not line.spoke or self._current is not line or interval is None or interval.verified_until is None:
            return False
        return self._wire.clock.now() - interval.verified_until > SILENCE

    def _end(self, by: str, why: str) -> None:
        if self._interval is not None:
            self._journal.ended(self._interval, by, why)
        self._current = None

    def _over(self, line: Line, lived: float) -> float:
        """The seconds to wait after a stream ended by itself."""
        if line.task is None or line.task.cancelled():
            return FIRST_WAIT
        now, error = self._wire.clock.now(), line.task.exception()
        if isinstance(error, WireError):
            self._failures += 1
            self._journal.listening(self.wanted.profile_id, now, "off", error.code)
            if error.status == 404:
                self._look_now()  # the session may be lost; only a poll may say so
            return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self._failures, 20))
        if error is not None:
            raise error
        return self._after(line.task.result(), lived)

    def _after(self, last: StreamEvent, lived: float) -> float:
        profile_id, now = self.wanted.profile_id, self._wire.clock.now()
        if isinstance(last, Undeliverable):
            self._journal.listening(profile_id, now, "cannot-deliver", last.reason)
            return UNDELIVERABLE_WAIT
        if isinstance(last, Limited):
            self._journal.listening(profile_id, now, "limit")
            self._failures += 1
            return min(LIMIT_WAITS[1], LIMIT_WAITS[0] * 2.0 ** min(self._failures - 1, 20))
        self._failures = 0 if lived > STEADY_SECONDS else self._failures + 1
        if isinstance(last, Ended) and last.by == "server":
            self._look_now()
        return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(max(self._failures - 1, 0), 20))

    def _look_now(self) -> None:
        """Proxies cut idle streams all the time; that must not become another polling interval."""
        now = asyncio.get_running_loop().time()
        if now - self._looked > LOOK_NOW_EVERY:
            self._looked = now
            self._journal.look_now(self.wanted.profile_id)
