"""Thirteen weeks of changes as thirteen bars. Pure geometry; the template draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from driftwatch.history.views import WeekView

WEEKS: Final = 13
_LEFT: Final = 2
_STEP: Final = 9
_BASE: Final = 19
_FULL: Final = 18
_STEPS_FOR_FULL: Final = 6
_WORST: Final = ("invalid", "breaking", "undecided")


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle in a 120 x 20 box. ``tone`` is ``off`` where nobody was watching."""

    x: float
    y: float
    width: float
    height: float
    tone: str


@dataclass(frozen=True, slots=True)
class Spark:
    """The bars, oldest first, the quiet weeks as one path, and the same thing in words."""

    bars: tuple[Bar, ...]
    quiet: str
    label: str


def draw(weeks: Sequence[WeekView], *, blind_weeks: int = 0) -> Spark:
    """Bars for the weeks; the newest ``blind_weeks`` without a change are drawn dashed."""
    by_ago = {week.ago: week for week in weeks}
    drawn = [(ago, _bar(ago, by_ago.get(ago), blind=ago < blind_weeks)) for ago in reversed(range(WEEKS))]
    quiet = "".join(f"M{_left(ago)} 18h7" for ago, bar in drawn if bar is None)
    return Spark(tuple(bar for _, bar in drawn if bar is not None), quiet, _label(by_ago, blind_weeks))


def _bar(ago: int, week: WeekView | None, *, blind: bool) -> Bar | None:
    x = _left(ago)
    if week is not None and (changes := sum(week.verdicts.values())):
        height = min(3 + round(changes * (_FULL - 3) / _STEPS_FOR_FULL), _FULL)
        return Bar(x, _BASE - height, 7, height, _worst(week))
    return Bar(x + 0.5, 13.5, 6, 5, "off") if blind else None


def _left(ago: int) -> int:
    return _LEFT + (WEEKS - 1 - ago) * _STEP


def _worst(week: WeekView) -> str:
    """The worst verdict of a week; what is not assessed yet looks harmless."""
    return next((verdict for verdict in _WORST if week.verdicts.get(verdict)), "compatible")


def _label(weeks: Mapping[int, WeekView], blind_weeks: int) -> str:
    shown = {ago: week for ago, week in weeks.items() if ago < WEEKS and any(week.verdicts.values())}
    total = sum(sum(week.verdicts.values()) for week in shown.values())
    text = "no change"
    if total:
        text = f"{total} {'change' if total == 1 else 'changes'}, the latest {_worst(shown[min(shown)])}"
    return f"{WEEKS} weeks: {text}" + ("; not watched now" if blind_weeks else "")
