from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from driftwatch.web.pages import times

NOW = datetime(2026, 11, 30, 14, 9, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "0 s"),
        (2.9, "2 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (100_000, "27 h"),
        (41 * 86400, "41 d"),
    ],
)
def test_one_unit_is_enough(seconds: float, expected: str) -> None:
    assert times.duration(seconds) == expected


def test_the_absolute_time_is_utc_whatever_zone_it_came_in() -> None:
    berlin = datetime(2026, 11, 30, 15, 7, 8, tzinfo=timezone(timedelta(hours=1)))
    assert times.stamp(berlin) == "2026-11-30 14:07:08 UTC"
    assert times.iso(berlin) == "2026-11-30T14:07:08Z"
    assert times.clock(berlin) == "14:07"
    assert times.ago(berlin, NOW) == "2 min ago"


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (NOW - timedelta(hours=2), "12:09"),
        (NOW - timedelta(days=49), "12 Oct"),
        (NOW - timedelta(days=400), "26 Oct 2025"),
    ],
)
def test_when_is_short_and_clear(moment: datetime, expected: str) -> None:
    assert times.when(moment, NOW) == expected


def test_days_have_names_people_use() -> None:
    today = date(2026, 11, 30)
    assert times.day_heading(today, today) == ("Today", "Mon 30 Nov")
    assert times.day_heading(date(2026, 11, 29), today) == ("Yesterday", "Sun 29 Nov")
    assert times.day_heading(date(2026, 11, 27), today) == ("Fri 27 Nov", "3 days ago")
    assert times.day_heading(date(2025, 12, 31), today)[0] == "Wed 31 Dec 2025"


def test_a_window_over_midnight_names_both_days() -> None:
    start = datetime(2026, 11, 29, 23, 59, tzinfo=UTC)
    assert times.span(start, NOW) == "29 Nov 23:59 – 30 Nov 14:09"
    assert times.span(NOW, NOW, seconds=True) == "14:09:21 – 14:09:21"


def test_what_is_ahead() -> None:
    assert times.ahead(NOW + timedelta(seconds=167), NOW) == "in 2 min"
    assert times.ahead(NOW - timedelta(seconds=1), NOW) == "now"
