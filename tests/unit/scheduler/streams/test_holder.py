"""One profile's stream: which stretches count, and how long to wait before the next. The wire is played."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.scheduler.streams import holder
from driftwatch.scheduler.streams.holder import FIRST_WAIT, LIMIT_WAITS, LONGEST_WAIT, UNDELIVERABLE_WAIT, Holder
from driftwatch.scheduler.streams.journal import Interval, Journal
from driftwatch.scheduler.streams.wanted import Wanted
from driftwatch.wire.errors import EndpointNotFoundError, RefusedError
from driftwatch.wire.facts import Era, EraFacts, Target
from driftwatch.wire.stream_events import Acknowledged, Ended, Heard, Limited, Notified, StreamEvent, Undeliverable

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


class Notebook(Journal):
    """A journal that only remembers."""

    def __init__(self) -> None:
        self.intervals: list[Interval] = []
        self.told: list[tuple[str, str | None]] = []
        self.heard: list[tuple[datetime, bool]] = []
        self.looks = 0

    def opened(self, profile_id: int, at: datetime) -> Interval:
        self.intervals.append(Interval(profile_id, at))
        return self.intervals[-1]

    def ended(self, interval: Interval, by: str, why: str) -> None:
        if interval.open:
            interval.ended_by, interval.why = by, why

    def notified(self, profile_id: int, at: datetime, *, noise: bool) -> None:
        self.heard.append((at, noise))

    def listening(self, profile_id: int, at: datetime, state: Any, reason: str | None = None) -> None:
        self.told.append((state, reason))

    def look_now(self, profile_id: int) -> None:
        self.looks += 1

    def stretches(self) -> list[tuple[float, float | None, str, str | None]]:
        def seconds(moment: datetime | None) -> float | None:
            return None if moment is None else (moment - START).total_seconds()

        return [(seconds(i.acked) or 0.0, seconds(i.verified_until), i.ended_by, i.why) for i in self.intervals]


class Wire:
    """A client of which only the clock is used."""

    def __init__(self, now: float = 0) -> None:
        self.clock = self
        self.moment = now

    def now(self) -> datetime:
        return at(self.moment)


async def played(
    monkeypatch: pytest.MonkeyPatch,
    events: Sequence[StreamEvent | Exception],
    *,
    noise_until: datetime | None = None,
    times: int = 1,
) -> tuple[Notebook, list[float]]:
    """Let a holder hold a played stream ``times`` times; what it noted, and the waits in between."""

    async def listen(*_: object) -> AsyncIterator[StreamEvent]:
        for event in events:
            if isinstance(event, Exception):
                raise event
            yield event

    monkeypatch.setattr(holder, "listen", listen)
    notes = Notebook()
    wanted = Wanted(7, Target("http://h/mcp"), EraFacts(Era.MODERN, "2026-07-28", None, {}), noise_until)
    one = Holder(wanted, Wire(), notes, asyncio.Semaphore(1))  # type: ignore[arg-type]  # only the clock is used
    one._task.cancel()
    waits = [await one._hold() for _ in range(times)]
    return notes, waits


async def test_a_stretch_runs_from_the_acknowledgement_to_the_last_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [Acknowledged(at(0)), Heard(at(15)), Heard(at(30)), Ended(at(33), "server", "broken")]
    notes, waits = await played(monkeypatch, events)
    assert notes.stretches() == [(0, 30, "server", "broken")]
    assert (waits, notes.looks) == ([FIRST_WAIT], 1)


@pytest.mark.parametrize("why", ["finished", "closed"])
async def test_a_proper_end_is_heard_as_well(monkeypatch: pytest.MonkeyPatch, why: Any) -> None:
    notes, _ = await played(monkeypatch, [Acknowledged(at(0)), Heard(at(15)), Ended(at(20), "server", why)])
    assert notes.stretches() == [(0, 20, "server", why)]


@pytest.mark.parametrize(
    ("gap", "stretches"),
    [
        (45, [(0, 60, "server", "broken")]),
        (45.1, [(0, 15, "us", "silent"), (60.1, 60.1, "server", "broken")]),
    ],
)
async def test_a_long_silence_ends_the_stretch_at_its_last_byte(
    monkeypatch: pytest.MonkeyPatch, gap: float, stretches: list[Any]
) -> None:
    end = 15 + gap
    events = [Acknowledged(at(0)), Heard(at(15)), Heard(at(end)), Ended(at(end + 1), "server", "broken")]
    notes, _ = await played(monkeypatch, events)
    assert notes.stretches() == stretches


async def test_what_is_said_at_the_start_is_noise_and_not_listened_to(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [Acknowledged(at(1)), Notified(at(4.9)), Notified(at(5)), Ended(at(9), "server", "closed")]
    notes, _ = await played(monkeypatch, events, noise_until=at(5))
    assert notes.heard == [(at(4.9), True), (at(5), False)]
    assert notes.stretches() == [(5, 9, "server", "closed")]


async def test_what_cannot_be_delivered_is_asked_for_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, waits = await played(monkeypatch, [Undeliverable(at(0), "get-405")])
    assert (notes.told, notes.intervals, waits) == ([("cannot-deliver", "get-405")], [], [UNDELIVERABLE_WAIT])


async def test_a_limit_is_respected_longer_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, waits = await played(monkeypatch, [Limited(at(0))], times=9)
    assert notes.told[0] == ("limit", None)
    assert waits[:3] == [LIMIT_WAITS[0], 2 * LIMIT_WAITS[0], 4 * LIMIT_WAITS[0]]
    assert waits[-1] == LIMIT_WAITS[1]


async def test_failures_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, waits = await played(monkeypatch, [RefusedError("no")], times=12)
    assert notes.told[0] == ("off", "refused")
    assert waits[:3] == [2, 4, 8]
    assert waits[-1] == LONGEST_WAIT
    assert notes.looks == 0


async def test_a_lost_session_asks_for_a_poll_but_not_at_every_try(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, _ = await played(monkeypatch, [EndpointNotFoundError("gone", status=404)], times=5)
    assert notes.looks == 1


async def test_streams_that_keep_ending_at_once_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, waits = await played(monkeypatch, [Acknowledged(at(0)), Ended(at(1), "server", "closed")], times=5)
    assert waits == [1, 2, 4, 8, 16][: len(waits)]
    assert len(notes.intervals) == 5
    assert notes.looks == 1


def half_open(spoke: bool, silent_for: float) -> bool:
    one = Holder.__new__(Holder)
    line = holder.Line.__new__(holder.Line)
    line.spoke = spoke
    interval = Interval(7, at(0), at(100))
    one._wire, one._current, one._interval = Wire(100 + silent_for), line, interval  # type: ignore[assignment]  # played
    return one._half_open(line)


def test_only_a_stream_that_used_to_speak_is_half_open() -> None:
    assert half_open(True, 45.1)
    assert not half_open(True, 45)
    assert not half_open(False, 4500)
