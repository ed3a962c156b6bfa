"""Changes gathered for lists: one changeset (one deploy) is one entry, entries stand under their day. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Final

from driftwatch.history.views import ChangeView
from driftwatch.web.pages import story, times, words
from driftwatch.web.pages.words import State

_RANK: Final = {"invalid": 4, "breaking": 3, "undecided": 2, None: 1, "compatible": 0}


@dataclass(frozen=True, slots=True)
class Tool:
    """A changed tool of an entry."""

    href: str
    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One changeset. ``what`` is a sentence with names in backticks; ``tools`` is empty when there is only one."""

    changeset_id: int
    href: str
    at: datetime
    server_id: int
    server: str
    tool: Tool | None
    state: State
    what: str
    announced: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """The entries of one day (UTC), newest first."""

    heading: str
    side: str
    entries: tuple[Entry, ...]


def gather(changes: Sequence[ChangeView]) -> list[Entry]:
    """Changes, newest first, gathered into one entry per changeset."""
    sets: dict[int, list[ChangeView]] = {}
    for change in changes:
        sets.setdefault(change.changeset_id, []).append(change)
    return [entry(group) for group in sets.values()]


def entry(changes: Sequence[ChangeView]) -> Entry:
    """One changeset from its changes; the worst one speaks for it."""
    worst = max(changes, key=lambda change: (_RANK.get(change.verdict, 1), -change.id))
    tools = list({change.tool: Tool(f"/changes/{change.id}", change.tool) for change in changes}.values())
    alone = len(tools) == 1
    more = story.others(worst)
    what = f"{story.headline(worst)}{f', +{more} more' if more else ''}" if alone else together(changes)
    return Entry(
        changeset_id=worst.changeset_id,
        href=f"/changes/{worst.id}" if alone else f"/changesets/{worst.changeset_id}",
        at=max(change.window[1] for change in changes),
        server_id=worst.server_id,
        server=worst.server,
        tool=Tool(f"/tools/{worst.tool_id}", worst.tool) if alone else None,
        state=words.calm(worst.verdict, worst.via),
        what=what,
        announced=words.announcement(worst.announcement, worst.announcement_reason).word,
        tools=() if alone else tuple(tools),
    )


def together(changes: Sequence[ChangeView]) -> str:
    """Many tools in one sentence: ``13 tools changed, 13 invalid`` or ``9 tools added, 2 changed``."""
    by_kind: dict[str, set[str]] = {}
    by_verdict: dict[str, set[str]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, set()).add(change.tool)
        by_verdict.setdefault(change.verdict or "being checked", set()).add(change.tool)
    first, *rest = [f"{words.count(len(by_kind[k]), 'tool')} {k}" for k in _KINDS if k in by_kind]
    bad = [f"{len(by_verdict[v])} {v}" for v in ("invalid", "breaking", "undecided") if v in by_verdict]
    return ", ".join([first, *rest, *bad])


_KINDS: Final = ("changed", "removed", "added", "restored")


def days(found: Sequence[Entry], today: date) -> list[Day]:
    """The entries under the days they happened on."""
    out = []
    for when, group in groupby(sorted(found, key=lambda item: item.at, reverse=True), key=lambda item: item.at.date()):
        heading, side = times.day_heading(when, today)
        out.append(Day(heading, side, tuple(group)))
    return out
