"""A tool's versions as a table, and which two of them are compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from driftwatch.alerts.views import BaselineView
from driftwatch.errors import NotFoundError
from driftwatch.history.views import ChangeView, IntervalView, VersionView
from driftwatch.web.pages import story, times, words
from driftwatch.web.pages.words import State

MAX_SPANS: Final = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One version: when it was current and what the change to it was."""

    number: int
    label: str
    current: str
    verdict: State | None
    announcement: State | None
    what: str
    href: str


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of the two lists to choose from."""

    number: int
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """The two versions that are compared; equal when there is only one to show."""

    old: VersionView
    new: VersionView

    @property
    def same(self) -> bool:
        """True when one version is shown alone."""
        return self.old.number == self.new.number


def pair(versions: Sequence[VersionView], baseline: BaselineView | None, wanted: tuple[str, str]) -> Pair:
    """Choose by ``wanted`` (from, to): numbers, ``baseline``, ``first``, or empty for the most useful pair.

    Raises NotFoundError for a version that does not exist.
    """
    by_number = {version.number: version for version in versions}
    if not by_number:
        raise NotFoundError("this tool has no version yet", hint="wait for its first poll")
    new = _named(by_number, wanted[1]) if wanted[1] else current(versions)
    if wanted[0] == "baseline":
        old = by_number.get(baseline.number or 0, new) if baseline else new
    elif wanted[0] == "first":
        old = by_number[min(by_number)]
    elif wanted[0]:
        old = _named(by_number, wanted[0])
    else:
        old = _useful(by_number, baseline, new)
    return Pair(old, new)


def current(versions: Sequence[VersionView]) -> VersionView:
    """The version that is current; of an absent tool the one that was last."""
    still = [version for version in versions if any(span.end is None for span in version.intervals)]
    if still:
        return still[0]
    return max(
        versions, key=lambda version: (version.intervals[-1].start if version.intervals else _NEVER, version.number)
    )


def since(versions: Sequence[VersionView]) -> datetime | None:
    """Since when the current version is current; None for an absent tool."""
    return next((span.start for version in versions for span in version.intervals if span.end is None), None)


def accepted(baseline: BaselineView | None, now: datetime) -> str:
    """How the baseline came to be: ``v3, accepted by mei 12 Oct: "new carrier"``."""
    if baseline is None:
        return ""
    number = "absent" if baseline.number is None else f"v{baseline.number}"
    when = f" {times.when(baseline.at, now)}" if baseline.at else ""
    how = {
        "first": ", what the first poll saw",
        "follow": f", followed{when}",
        "settled": f", settled{when}",
        "person": f", accepted by {baseline.by}{when}",
    }.get(baseline.mode, "")
    return f"{number}{how}" + (f": “{baseline.reason[:300]}”" if baseline.reason and baseline.mode == "person" else "")


def choices(versions: Sequence[VersionView], baseline: BaselineView | None, chosen: VersionView) -> list[Choice]:
    """Every version, newest first."""
    return [Choice(v.number, _label(v, baseline), v.number == chosen.number) for v in versions]


def rows(
    versions: Sequence[VersionView], changes: Sequence[ChangeView], baseline: BaselineView | None, now: datetime
) -> list[Row]:
    """The table of versions; ``changes`` are the tool's, newest first."""
    led_to: dict[int, ChangeView] = {}
    for change in changes:
        if change.to_version is not None:
            led_to.setdefault(change.to_version, change)
    return [_row(version, led_to.get(version.number), baseline, now) for version in versions]


_NEVER: Final = times.from_epoch(0)


def _row(version: VersionView, change: ChangeView | None, baseline: BaselineView | None, now: datetime) -> Row:
    more = story.others(change) if change else 0
    return Row(
        number=version.number,
        label=f"v{version.number}{', baseline' if baseline and baseline.number == version.number else ''}",
        current=_spans(version, now),
        verdict=words.calm(change.verdict, change.via) if change else None,
        announcement=words.announcement(change.announcement, change.announcement_reason) if change else None,
        what=f"{story.headline(change)}{f', +{more} more' if more else ''}" if change else "–",
        href=f"/changes/{change.id}" if change else "",
    )


def _spans(version: VersionView, now: datetime) -> str:
    spans = [_span(span, now) for span in version.intervals[: -MAX_SPANS - 1 : -1]]
    more = len(version.intervals) - MAX_SPANS
    return "; ".join([*spans, *([f"{more} times before"] if more > 0 else [])]) or "–"


def _span(span: IntervalView, now: datetime) -> str:
    since = times.when(span.start, now)
    if span.end is None:
        return f"since {since}"
    return f"{since} – {times.when(span.end, now)}, {times.duration((span.end - span.start).total_seconds())}"


def _label(version: VersionView, baseline: BaselineView | None) -> str:
    marks = []
    if baseline and baseline.number == version.number:
        marks.append("baseline")
    if any(span.end is None for span in version.intervals):
        marks.append("current")
    return f"v{version.number} ({', '.join(marks)})" if marks else f"v{version.number}"


def _useful(by_number: dict[int, VersionView], baseline: BaselineView | None, new: VersionView) -> VersionView:
    if baseline and baseline.number in by_number and baseline.number != new.number:
        return by_number[baseline.number]
    earlier = [number for number in by_number if number < new.number]
    return by_number[max(earlier)] if earlier else new


def _named(by_number: dict[int, VersionView], name: str) -> VersionView:
    digits = name.removeprefix("v")
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1
    if number not in by_number:
        raise NotFoundError(f"this tool has no version {name[:20]!r}", hint="its page lists the versions it has")
    return by_number[number]
