"""The evidence of a server on one time axis: what we heard, what we saw, what changed. Pure geometry.

The drawing shows why a change is called announced, silent or unknown; the list beside it says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from driftwatch.web.pages import evidence_list, times
from driftwatch.web.pages.evidence_list import Deploy, Event
from driftwatch.web.pages.evidence_views import Evidence, Marked, Stretch

#: the ranges one can choose, by the word in the URL
RANGES: Final = {"24h": ("24 h", timedelta(hours=24)), "7d": ("7 d", timedelta(days=7)), "90d": ("90 d", timedelta(90))}
DEFAULT_RANGE: Final = "90d"

_LEFT: Final = 112.0
_RIGHT: Final = 1179.0
_LANE: Final = 21
_MAX_MARKS: Final = 120
_MAX_TICKS: Final = 8
_STEPS: Final = tuple(h * 3600 for h in (1, 2, 3, 4, 6, 12, 24, 48, 96, 7 * 24, 14 * 24, 28 * 24))
#: a letter of a label in the drawing's units, and the air between two labels
_LETTER: Final = 6.3
_AIR: Final = 22.0
_SHORTEST_GAP: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a lane; ``title`` says it in words."""

    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """What we could hear of one kind of client."""

    name: str
    y: float
    held: tuple[Bar, ...]
    gaps: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point on the axis. ``label`` stands left of it; empty where there is no room."""

    x: float
    title: str
    label: str = ""
    sub: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """The whole drawing, 1232 wide and ``height`` high, and its events as a list, newest first."""

    height: int
    top: float
    ticks: tuple[Mark, ...]
    lanes: tuple[Lane, ...]
    notified: tuple[Mark, ...]
    restarts: tuple[Mark, ...]
    changes: tuple[Mark, ...]
    now: float
    title: str
    description: str
    events: tuple[Event, ...]
    chosen: str


def draw(evidence: Evidence, eras: Sequence[str], now: datetime, *, server: str, chosen: str) -> Line:
    """The timeline of the ``chosen`` range up to ``now``; ``eras``: the kinds of clients that are watched."""
    name, length = RANGES[chosen]
    axis = _Axis(now - length, now)
    deploys = [deploy for deploy in evidence_list.deploys(evidence.changes) if axis.holds(deploy.at)]
    lanes = tuple(
        _lane(era, [s for s in evidence.streams if s.era == era], axis, place) for place, era in enumerate(eras)
    )
    top = 24.0 + max(len(lanes), 1) * _LANE + 8
    notified = [mark for mark in evidence.notified if axis.holds(mark.at)]
    restarts = [mark for mark in evidence.restarts if axis.holds(mark.at)]
    return Line(
        height=int(top + 140),
        top=top,
        ticks=tuple(axis.ticks()),
        lanes=lanes,
        notified=_signs(notified, axis, "list_changed"),
        restarts=_signs(restarts, axis, "restart"),
        changes=_dots(deploys, axis),
        now=axis.x(now),
        title=f"Evidence of {server}, the last {name}",
        description=_description(lanes, notified, restarts, deploys),
        events=evidence_list.events(evidence, deploys, since=axis.start),
        chosen=chosen,
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    start: datetime
    end: datetime

    def x(self, moment: datetime) -> float:
        share = (moment - self.start) / (self.end - self.start)
        return round(_LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0), 1)

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment <= self.end

    def bar(self, start: datetime, end: datetime, title: str) -> Bar:
        left = self.x(start)
        return Bar(left, round(max(self.x(end) - left, 1.6), 1), title)

    def ticks(self) -> Iterable[Mark]:
        length = (self.end - self.start).total_seconds()
        step = next((s for s in _STEPS if length / s <= _MAX_TICKS), _STEPS[-1])
        first = -(-self.start.timestamp() // step) * step
        for place in range(_MAX_TICKS + 1):
            moment = times.from_epoch(first + place * step)
            if self.holds(moment) and self.x(moment) < _RIGHT - 40:
                yield Mark(self.x(moment), times.stamp(moment), _tick(moment, step))


def _tick(moment: datetime, step: int) -> str:
    return times.day(moment, year=False) if step >= 86400 else f"{times.day(moment, year=False)} {times.clock(moment)}"


def _lane(era: str, streams: Sequence[Stretch], axis: _Axis, place: int) -> Lane:
    held = [axis.bar(s.start, s.end, f"stream held, {_span(s.start, s.end)}") for s in streams]
    gaps = [
        axis.bar(max(start, axis.start), end, f"not listening, {_span(start, end)}")
        for start, end in evidence_list.gaps(streams, axis.end, shortest=_SHORTEST_GAP)
        if end > axis.start
    ]
    return Lane(era, 26.0 + place * _LANE, tuple(held[-_MAX_MARKS:]), tuple(gaps[-_MAX_MARKS:]))


def _span(start: datetime, end: datetime) -> str:
    return f"{times.span(start, end)} UTC, {times.duration((end - start).total_seconds())}"


def _signs(found: Sequence[Marked], axis: _Axis, word: str) -> tuple[Mark, ...]:
    """The newest ones get a label where there is room."""
    marks: list[Mark] = []
    free = _RIGHT
    for sign in reversed(found[-_MAX_MARKS:]):
        x = axis.x(sign.at)
        label = f"{times.day(sign.at, year=False)} {times.clock(sign.at)}, {sign.note}"
        room = len(label) * _LETTER + _AIR
        fits = x - room > _LEFT and x <= free
        marks.append(Mark(x, f"{word} at {times.stamp(sign.at)}, {sign.era}: {sign.note}", label if fits else ""))
        free = x - room if fits else min(free, x - _AIR)
    return tuple(reversed(marks))


def _dots(deploys: Sequence[Deploy], axis: _Axis) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    free = _RIGHT + _AIR
    for deploy in reversed(deploys[-_MAX_MARKS:]):
        x = axis.x(deploy.at)
        room = max(len(deploy.label), len(deploy.sub)) * _LETTER + _AIR
        fits = x - room > _LEFT and x <= free
        marks.append(
            Mark(
                x,
                f"{deploy.label}, {times.stamp(deploy.at)}: {deploy.state.word}, {deploy.sub}",
                deploy.label if fits else "",
                deploy.sub if fits else "",
                "note" if deploy.state.quiet else deploy.state.tone,
            )
        )
        free = x - room if fits else min(free, x - _AIR)
    return tuple(reversed(marks))


def _description(
    lanes: Sequence[Lane], notified: Sequence[Marked], restarts: Sequence[Marked], deploys: Sequence[Deploy]
) -> str:
    held = sum(1 for lane in lanes if lane.held)
    gaps = sum(len(lane.gaps) for lane in lanes)
    streams = f"{held} of {len(lanes)} streams held, gaps: {gaps}" if held else "no stream was held"
    latest = f", the latest {deploys[-1].state.word}, {deploys[-1].sub}" if deploys else ""
    return f"{streams}; list_changed: {len(notified)}; restarts: {len(restarts)}; deploys: {len(deploys)}{latest}."
