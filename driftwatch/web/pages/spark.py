"""Thirteen weeks of changes as thirteen bars. Pure geometry; the template draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

WEEKS: Final = 13
_LEFT: Final = 2
_STEP: Final = 9
_BASE: Final = 19
_FULL: Final = 18
_STEPS_FOR_FULL: Final = 6
_WORST: Final = ("invalid", "breaking", "undecided", "compatible")


@dataclass(frozen=True, slots=True)
class Week:
    """What changed in one week: how many changes, and the worst verdict among them."""

    changes: int
    worst: str | None


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle in a 120 x 20 box. ``tone`` is empty for a quiet week, ``off`` where nobody was watching."""

    x: float
    y: float
    width: float
    height: float
    tone: str


@dataclass(frozen=True, slots=True)
class Spark:
    """The bars, oldest first, and the same thing in words."""

    bars: tuple[Bar, ...]
    label: str


def worst(verdicts: Mapping[str, int]) -> str | None:
    """The worst verdict that occurs."""
    return next((verdict for verdict in _WORST if verdicts.get(verdict)), None)


def draw(weeks: Mapping[int, Week], *, blind_weeks: int = 0) -> Spark:
    """Bars for ``weeks`` (0 is the last seven days); the newest ``blind_weeks`` without a change are drawn dashed."""
    bars = tuple(
        _bar(WEEKS - 1 - ago, weeks.get(ago), blind=ago < min(blind_weeks, WEEKS)) for ago in reversed(range(WEEKS))
    )
    return Spark(bars, _label(weeks, blind_weeks))


def _bar(position: int, week: Week | None, *, blind: bool) -> Bar:
    x = _LEFT + position * _STEP
    if week is not None and week.changes:
        height = min(3 + round(week.changes * (_FULL - 3) / _STEPS_FOR_FULL), _FULL)
        return Bar(x, _BASE - height, 7, height, week.worst or "compatible")
    return Bar(x + 0.5, 13.5, 6, 5, "off") if blind else Bar(x, 17, 7, 2, "")


def _label(weeks: Mapping[int, Week], blind_weeks: int) -> str:
    shown = {ago: week for ago, week in weeks.items() if ago < WEEKS and week.changes}
    total = sum(week.changes for week in shown.values())
    if not total:
        text = "no change"
    else:
        latest = shown[min(shown)].worst or "compatible"
        text = f"{total} {'change' if total == 1 else 'changes'}, the latest {latest}"
    return f"{WEEKS} weeks: {text}" + ("; not watched now" if blind_weeks else "")
