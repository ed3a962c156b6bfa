"""Times as people read them: relative first, the absolute one on hover. All UTC, the database's clock."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Final

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def age(then: datetime, now: datetime) -> str:
    """How long ago in one unit: ``2 s``, ``14 min``, ``3 h``, ``41 d``. A time ahead of ``now`` is ``0 s``."""
    return duration((now - then).total_seconds())


def duration(seconds: float) -> str:
    """A length of time in one unit, rounded down: ``45 s``, ``2 min``, ``3 h``, ``41 d``."""
    left = max(int(seconds), 0)
    if left < 60:
        return f"{left} s"
    if left < 3600:
        return f"{left // 60} min"
    if left < 2 * 86400:
        return f"{left // 3600} h"
    return f"{left // 86400} d"


def ago(then: datetime, now: datetime) -> str:
    """``2 min ago``."""
    return f"{age(then, now)} ago"


def ahead(then: datetime, now: datetime) -> str:
    """``in 2 min``, or ``now`` when the time has come."""
    seconds = (then - now).total_seconds()
    return "now" if seconds < 1 else f"in {duration(seconds)}"


def stamp(moment: datetime) -> str:
    """The absolute time for a tooltip: ``2026-11-30 14:07:08 UTC``."""
    return f"{_utc(moment):%Y-%m-%d %H:%M:%S} UTC"


def iso(moment: datetime) -> str:
    """For ``<time datetime>``: ``2026-11-30T14:07:08Z``."""
    return f"{_utc(moment):%Y-%m-%dT%H:%M:%SZ}"


def clock(moment: datetime, *, seconds: bool = False) -> str:
    """``14:07`` or ``14:07:08``."""
    return f"{_utc(moment):%H:%M:%S}" if seconds else f"{_utc(moment):%H:%M}"


def day(moment: datetime | date, *, year: bool = True) -> str:
    """``30 Nov 2026`` or ``30 Nov``."""
    when = _utc(moment).date() if isinstance(moment, datetime) else moment
    words = f"{when.day} {_MONTHS[when.month - 1]}"
    return f"{words} {when.year}" if year else words


def weekday(when: date) -> str:
    """``Mon``."""
    return _DAYS[when.weekday()]


def when(moment: datetime, now: datetime) -> str:
    """The shortest absolute form that is still clear: ``14:07`` today, ``12 Oct`` this year, else with the year."""
    then, today = _utc(moment), _utc(now)
    if then.date() == today.date():
        return clock(then)
    return day(then, year=then.year != today.year)


def day_heading(when: date, today: date) -> tuple[str, str]:
    """A changelog day and its side note: ("Today", "Mon 30 Nov"), ("Fri 27 Nov", "3 days ago")."""
    long = f"{weekday(when)} {day(when, year=when.year != today.year)}"
    apart = (today - when).days
    if apart <= 0:
        return "Today", long
    if apart == 1:
        return "Yesterday", long
    return long, f"{apart} days ago"


def span(start: datetime, end: datetime, *, seconds: bool = False) -> str:
    """A window: ``14:02 – 14:07``, with days where the two ends fall on different ones."""
    first, last = _utc(start), _utc(end)
    if first.date() == last.date():
        return f"{clock(first, seconds=seconds)} – {clock(last, seconds=seconds)}"
    return f"{_dated(first, seconds=seconds)} – {_dated(last, seconds=seconds)}"


def between(start: datetime, end: datetime) -> tuple[str, str, str]:
    """The two ends of a window with seconds, and the day where it is one and the same (else the ends name theirs)."""
    first, last = _utc(start), _utc(end)
    if first.date() == last.date():
        return clock(first, seconds=True), clock(last, seconds=True), day(last)
    return _dated(first, seconds=True), _dated(last, seconds=True), ""


def from_epoch(seconds: float) -> datetime:
    """Seconds of the database's clock as an aware time."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def _dated(moment: datetime, *, seconds: bool) -> str:
    return f"{day(moment, year=False)} {clock(moment, seconds=seconds)}"


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
