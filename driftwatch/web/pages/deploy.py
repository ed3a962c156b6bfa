"""A changeset as one deploy: all its tools, grouped by what happened to them before they are listed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from driftwatch.alerts import words as alert_words
from driftwatch.history.views import ChangeView
from driftwatch.web.pages import announced, entries, story, words
from driftwatch.web.pages.words import State

MAX_ROWS: Final = 400
_RANK: Final = {"invalid": 4, "breaking": 3, "undecided": 2, "compatible": 0}


@dataclass(frozen=True, slots=True)
class Row:
    """One change of the deploy. ``parts``: (part, state, words) for the parts that changed."""

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
    """Tools to which the same thing happened. ``cause`` is the shared rule or kind in words."""

    cause: str
    rule: str
    state: State
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deploy:
    """A whole changeset."""

    id: int
    title: str
    verdict: State
    announcement: State
    sentence: str
    evidence_href: str
    rule: int | None
    window: tuple[datetime, datetime]
    clients: tuple[str, ...]
    groups: tuple[Group, ...]
    rows: tuple[Row, ...]
    left_out: int
    tools: int


def tell(changes: Sequence[ChangeView]) -> Deploy:
    """Everything the page of one changeset shows; ``changes`` is not empty."""
    ordered = sorted(changes, key=lambda c: (-_RANK.get(c.verdict or "", 1), c.tool, c.era))
    worst = ordered[0]
    names = story.tool_names(ordered)
    return Deploy(
        id=worst.changeset_id,
        title=story.headline(worst) if len(names) == 1 else entries.together(changes),
        verdict=words.verdict(worst.verdict),
        announcement=words.announcement(worst.announcement, worst.announcement_reason),
        sentence=announced.sentence(worst),
        evidence_href=f"/changes/{worst.id}#q3",
        rule=worst.judgement.rule if worst.judgement else None,
        window=(min(c.window[0] for c in changes), max(c.window[1] for c in changes)),
        clients=tuple(words.clients(era) for era in sorted({c.era for c in changes}, reverse=True)),
        groups=_groups(ordered),
        rows=tuple(_row(change) for change in ordered[:MAX_ROWS]),
        left_out=max(len(ordered) - MAX_ROWS, 0),
        tools=len(names),
    )


def _groups(changes: Sequence[ChangeView]) -> tuple[Group, ...]:
    """One entry per cause, the worst first; only worth showing when several tools share one."""
    found: dict[tuple[str, str], list[ChangeView]] = {}
    for change in changes:
        found.setdefault((_cause(change), change.verdict or ""), []).append(change)
    groups = [
        Group(_in_words(rule, group[0]), rule, words.verdict(verdict or None), tuple(story.tool_names(group)))
        for (rule, verdict), group in found.items()
    ]
    return tuple(groups) if any(len(group.tools) > 1 for group in groups) else ()


def _cause(change: ChangeView) -> str:
    if change.kind != "changed":
        return f"tool-{change.kind}"
    part = change.worst or next(iter(change.parts), None)
    if part is None:
        return "being-checked"
    finding = next((f for f in part.findings if f.level == "breaking"), next(iter(part.findings), None))
    return finding.rule if finding else f"{part.part}-changed"


def _in_words(rule: str, change: ChangeView) -> str:
    return {
        "tool-added": "new tools",
        "tool-removed": "tools that are gone",
        "tool-restored": "tools that are back",
        "being-checked": "still being compared",
    }.get(rule, f"for example {alert_words.code(change.tool)}: {story.headline(change)}")


def _row(change: ChangeView) -> Row:
    return Row(
        change_id=change.id,
        tool_id=change.tool_id,
        tool=change.tool,
        clients=change.era,
        versions=story.versions(change),
        state=words.verdict(change.verdict, quiet=change.verdict == "compatible"),
        what=story.headline(change),
        more=story.others(change),
    )
