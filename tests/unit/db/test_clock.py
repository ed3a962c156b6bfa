"""DatabaseClock without a database: the arithmetic between two clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from driftwatch.db.clock import DRIFT, DatabaseClock, Reading
from driftwatch.db.engine import Database

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Steady:
    """A steady clock that a test turns by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def clock_at(reading: Reading, steady: Steady) -> DatabaseClock:
    clock = DatabaseClock(Database("postgresql://nobody@/none"), steady=steady)
    clock._reading = reading
    return clock


def test_now_is_the_reading_plus_what_passed_since_the_middle_of_the_round_trip() -> None:
    steady = Steady()
    clock = clock_at(Reading(NOON, 99.0, 100.0), steady)
    steady.seconds = 110.0
    assert clock.now() == NOON + timedelta(seconds=10.5)


def test_the_error_bound_grows_with_time() -> None:
    steady = Steady()
    clock = clock_at(Reading(NOON, 99.0, 100.0), steady)
    assert clock.error_seconds == 0.5
    steady.seconds = 160.0
    assert clock.error_seconds == pytest.approx(0.5 + 60 * DRIFT)


def test_a_small_step_back_is_not_shown() -> None:
    steady = Steady()
    clock = clock_at(Reading(NOON, 100.0, 100.0), steady)
    shown = clock.now()
    clock._reading = Reading(NOON - timedelta(milliseconds=20), 100.0, 100.0)
    assert clock.now() == shown
    steady.seconds += 0.05
    assert clock.now() == NOON + timedelta(milliseconds=30)


def test_a_database_clock_that_was_set_back_is_followed() -> None:
    steady = Steady()
    clock = clock_at(Reading(NOON, 100.0, 100.0), steady)
    clock.now()
    clock._reading = Reading(NOON - timedelta(hours=1), 100.0, 100.0)
    assert clock.now() == NOON - timedelta(hours=1)


def test_a_clock_that_was_never_read_says_so() -> None:
    with pytest.raises(RuntimeError, match="never read"):
        DatabaseClock(Database("postgresql://nobody@/none")).now()
