"""A changeset as one deploy: all its tools, grouped by what happened to them before they are listed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from driftwatch.announcement.guide import how_to_announce
from driftwatch.history.views import ChangeView
from driftwatch.web.pages import announced, entries, story, times, words
from driftwatch.web.pages.words import State

MAX_ROWS: Final = 300
_RANK: Final = {"invalid": 4, "breaking": 3, "undecided": 2, "compatible": 0}


@dataclass(frozen=True, slots=True)
class Row:
    """One change of the deploy. ``what`` is empty where its group said it; ``more`` counts what else changed."""

    change_id: int
    tool_id: int
    tool: str
    clients: str
    versions: str
    state: State
    what: str
    more: int


@dataclass(frozen=True, slots=True)
class Group:
    """Tools to which the same thing happened. ``cause`` in words; ``example``: the words are about one of them."""

    cause: str
    rule: str
    state: State
    tools: tuple[str, ...]
    example: bool
    rows: tuple[Row, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Deploy:
    """A whole changeset."""

    id: int
    title: str
    verdict: State
    announcement: State
    sentence: str
    help: str | None
    evidence_href: str
    rule: int | None
    window: tuple[datetime, datetime]
    between: tuple[str, str, str]
    clients: tuple[str, ...]
    groups: tuple[Group, ...]
    tools: int


def tell(changes: Sequence[ChangeView]) -> Deploy:
    """Everything the page of one changeset shows; ``changes`` is not empty."""
    ordered = sorted(changes, key=lambda c: (-_RANK.get(c.verdict or "", 1), c.tool, c.era))
    worst = ordered[0]
    names = story.tool_names(ordered)
    groups = _groups(ordered)
    window = (min(c.window[0] for c in changes), max(c.window[1] for c in changes))
    return Deploy(
        id=worst.changeset_id,
        title=story.headline(worst) if len(names) == 1 else entries.together(changes),
        verdict=words.verdict(worst.verdict, worst.via),
        announcement=words.announcement(worst.announcement, worst.announcement_reason),
        sentence=announced.sentence(worst),
        help=how_to_announce(worst.announcement, worst.announcement_reason),
        evidence_href=f"/changes/{worst.id}#q3",
        rule=worst.judgement.rule if worst.judgement else None,
        window=window,
        between=times.between(*window),
        clients=tuple(words.clients(era) for era in sorted({c.era for c in changes}, reverse=True)),
        groups=groups,
        tools=len(names),
    )


def _groups(changes: Sequence[ChangeView]) -> tuple[Group, ...]:
    """One entry per cause, the worst first; where no two tools share one, all stand in one group without a cause."""
    found: dict[tuple[str, str], list[ChangeView]] = {}
    for change in changes:
        found.setdefault((_cause(change), change.verdict or ""), []).append(change)
    groups = [
        Group(
            cause=_KNOWN.get(rule, story.headline(group[0])),
            rule=rule,
            state=words.verdict(verdict or None, group[0].via),
            tools=tuple(story.tool_names(group)),
            example=rule not in _KNOWN,
            rows=tuple(_row(change, told=True) for change in group[:MAX_ROWS]),
            left_out=max(len(group) - MAX_ROWS, 0),
        )
        for (rule, verdict), group in found.items()
    ]
    if any(len(group.tools) > 1 for group in groups):
        return tuple(groups)
    worst = words.verdict(changes[0].verdict, changes[0].via)
    rows = tuple(_row(change, told=False) for change in changes[:MAX_ROWS])
    return (Group("", "", worst, tuple(story.tool_names(changes)), False, rows, max(len(changes) - MAX_ROWS, 0)),)


def _cause(change: ChangeView) -> str:
    if change.kind != "changed":
        return f"tool-{change.kind}"
    part = change.worst or next(iter(change.parts), None)
    if part is None:
        return "being-checked"
    finding = next((f for f in part.findings if f.level == "breaking"), next(iter(part.findings), None))
    return finding.rule if finding else f"{part.part}-changed"


_KNOWN: Final = {
    "tool-added": "new",
    "tool-removed": "gone",
    "tool-restored": "back",
    "being-checked": "still being compared",
}


def _row(change: ChangeView, *, told: bool) -> Row:
    return Row(
        change_id=change.id,
        tool_id=change.tool_id,
        tool=change.tool,
        clients=change.era,
        versions=story.versions(change),
        state=words.calm(change.verdict, change.via),
        what="" if told else story.headline(change),
        more=story.others(change),
    )
