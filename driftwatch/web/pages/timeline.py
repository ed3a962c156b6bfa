"""The evidence around a change on one small time axis. Pure geometry; the template draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from driftwatch.history.views import ChangeView
from driftwatch.web.pages import times

_LEFT: Final = 84.0
_RIGHT: Final = 708.0
_MAX_MARKS: Final = 40
_TICKS: Final = 5
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400, 7 * 86400)
_SHORTEST: Final = times.from_epoch(2) - times.from_epoch(0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point on the time axis: ``x`` in the drawing, ``at`` as a time, ``text`` beside it."""

    x: float
    at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch on the time axis."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The drawing around a window; every coordinate is in a 732 x 186 box."""

    window: Bar
    window_text: str
    ticks: tuple[Mark, ...]
    streams: tuple[Bar, ...]
    notifications: tuple[Mark, ...]
    restarts: tuple[Mark, ...]
    saw_old: Mark
    saw_new: Mark
    now: Mark | None
    description: str


def draw(change: ChangeView, evidence: Mapping[str, Any], now: datetime, *, description: str) -> Timeline:
    """The drawing for one change as of ``now``; ``description`` says the same for those who cannot see it."""
    start, end = change.window
    axis = _Axis.around(start, end, [*moments(evidence, "notifications"), *moments(evidence, "restarts")])
    words = f"changed in here: {times.span(start, end, seconds=True)}"
    notified = [t for t in moments(evidence, "notifications") if axis.holds(t)]
    restarts = [t for t in moments(evidence, "restarts") if axis.holds(t)]
    return Timeline(
        window=axis.bar(start, end),
        window_text=words,
        ticks=tuple(axis.ticks()),
        streams=tuple(axis.bar(first, last) for first, last in streams(evidence) if last > first),
        notifications=tuple(axis.mark(t, times.clock(t, seconds=True)) for t in notified[:_MAX_MARKS]),
        restarts=tuple(axis.mark(t, times.clock(t, seconds=True)) for t in restarts[:_MAX_MARKS]),
        saw_old=axis.mark(start, _saw(change.from_version)),
        saw_new=axis.mark(end, _saw(change.to_version)),
        now=axis.mark(now) if axis.holds(now) else None,
        description=f"{words}. {description}",
    )


def _saw(number: int | None) -> str:
    return "not listed" if number is None else f"saw v{number}"


@dataclass(frozen=True, slots=True)
class _Axis:
    first: datetime
    last: datetime

    @classmethod
    def around(cls, start: datetime, end: datetime, others: Sequence[datetime]) -> _Axis:
        """The window takes about half of the width; evidence a little outside is still on it."""
        length = max(end - start, _SHORTEST)
        near = [t for t in others if start - length * 2 <= t <= end + length * 2]
        margin = length / 2
        return cls(min([start, *near]) - margin, max([end, *near]) + margin)

    def x(self, moment: datetime) -> float:
        share = (moment - self.first) / (self.last - self.first)
        return round(_LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0), 1)

    def holds(self, moment: datetime) -> bool:
        return self.first <= moment <= self.last

    def mark(self, moment: datetime, text: str = "") -> Mark:
        return Mark(self.x(moment), moment, text)

    def bar(self, start: datetime, end: datetime) -> Bar:
        left = self.x(start)
        return Bar(left, round(max(self.x(end) - left, 1.5), 1))

    def ticks(self) -> list[Mark]:
        length = (self.last - self.first).total_seconds()
        step = next((s for s in _STEPS if length / s <= _TICKS), _STEPS[-1])
        first = -(-self.first.timestamp() // step) * step
        moments = [times.from_epoch(first + i * step) for i in range(_TICKS + 1)]
        return [self.mark(t, _tick(t, step)) for t in moments if self.holds(t)]


def _tick(moment: datetime, step: int) -> str:
    return times.day(moment, year=False) if step >= 86400 else times.clock(moment, seconds=step < 60)


def moments(evidence: Mapping[str, Any], key: str) -> list[datetime]:
    """The times that stored evidence holds under a key, in order."""
    found = evidence.get(key)
    if not isinstance(found, list | tuple):
        return []
    return sorted(times.from_epoch(float(item)) for item in found if isinstance(item, int | float))


def streams(evidence: Mapping[str, Any]) -> list[tuple[datetime, datetime]]:
    """The stretches in which stored evidence proves that we were listening."""
    found = evidence.get("streams")
    return [
        (times.from_epoch(stream["acked"]), times.from_epoch(stream["verified_until"]))
        for stream in (found if isinstance(found, list | tuple) else ())
        if isinstance(stream, Mapping) and isinstance(stream.get("verified_until"), int | float)
    ]
