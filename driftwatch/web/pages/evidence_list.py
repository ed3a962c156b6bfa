"""The evidence timeline in words: deploys, gaps of our listening, and every event as a line. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from driftwatch.web.pages import times, words
from driftwatch.web.pages.evidence_views import Evidence, Happened, Stretch
from driftwatch.web.pages.words import State

MAX_EVENTS: Final = 200
_RANK: Final = {"invalid": 4, "breaking": 3, "undecided": 2, "compatible": 0}
_NAME: Final = 40


@dataclass(frozen=True, slots=True)
class Deploy:
    """One changeset as a dot: the worst change speaks for it."""

    at: datetime
    label: str
    sub: str
    state: State
    href: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the list."""

    at: datetime
    state: State
    text: str
    href: str = ""


def deploys(changes: Sequence[Happened]) -> list[Deploy]:
    """One per changeset, oldest first."""
    sets: dict[int, list[Happened]] = {}
    for change in changes:
        sets.setdefault(change.changeset_id, []).append(change)
    return sorted((_deploy(group) for group in sets.values()), key=lambda deploy: deploy.at)


def _deploy(group: Sequence[Happened]) -> Deploy:
    worst = max(group, key=lambda change: (_RANK.get(change.verdict or "", 1), change.change_id))
    tools = list(dict.fromkeys(change.tool for change in group))
    alone = len(tools) == 1
    number = "" if worst.number is None else f" v{worst.number}"
    label = f"{words_clip(worst.tool)}{number}" if alone else words.count(len(tools), "tool")
    state = words.calm(worst.verdict, worst.via)
    told = words.announcement(worst.announcement, worst.reason).word
    what = words.kind(worst.kind) if worst.kind != "changed" else state.word
    return Deploy(
        at=max(change.at for change in group),
        label=label,
        sub=f"{what}, {told}",
        state=state,
        href=f"/changes/{worst.change_id}" if alone else f"/changesets/{worst.changeset_id}",
    )


def words_clip(name: str) -> str:
    """A tool's name, short enough for a label."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def gaps(
    streams: Sequence[Stretch], now: datetime, *, shortest: timedelta = timedelta(0)
) -> list[tuple[datetime, datetime]]:
    """When we did not listen between the first stream of one kind of client (oldest first) and now."""
    found: list[tuple[datetime, datetime]] = []
    heard: datetime | None = None
    for stream in sorted(streams, key=lambda item: item.start):
        if heard is not None and stream.start - heard > shortest:
            found.append((heard, stream.start))
        heard = stream.end if heard is None else max(heard, stream.end)
    still = any(stream.ended_by == "open" for stream in streams)
    if heard is not None and not still and now - heard > shortest:
        found.append((heard, now))
    return found


def events(evidence: Evidence, happened: Sequence[Deploy], *, since: datetime) -> tuple[Event, ...]:
    """Everything since then, newest first."""
    found = [
        *_heard(evidence.streams),
        *(Event(n.at, _ANNOUNCED, f"list_changed for {words.clients(n.era)}, {n.note}") for n in evidence.notified),
        *(Event(r.at, _RESTART, f"{r.note}, seen as {words.clients(r.era)}") for r in evidence.restarts),
        *(Event(d.at, d.state, f"{d.label}: {d.sub}", d.href) for d in happened),
    ]
    recent = sorted((event for event in found if event.at >= since), key=lambda event: event.at, reverse=True)
    return tuple(recent[:MAX_EVENTS])


_ANNOUNCED: Final = State("compatible", "announced", "notified")
_RESTART: Final = State("undecided", "note", "restart")
_LISTENING: Final = State("compatible", "compatible", "listening", quiet=True)
_DEAF: Final = State("unknown", "unknown", "not listening")
_BY: Final = {"server": "the server ended it", "us": "we ended it", "open": "no byte came any more"}


def _heard(streams: Sequence[Stretch]) -> Iterator[Event]:
    before: dict[str, Stretch] = {}
    for stream in streams:
        last = before.get(stream.era)
        after = f" after {times.duration((stream.start - last.end).total_seconds())}" if last else ""
        yield Event(stream.start, _LISTENING, f"stream for {words.clients(stream.era)} held{after}")
        if stream.ended_by != "open":
            why = _BY.get(stream.ended_by, stream.ended_by)
            yield Event(stream.end, _DEAF, f"stream for {words.clients(stream.era)} over: {why}")
        before[stream.era] = stream
