"""What is worth fixing on a watched server although it is no change, each finding once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from driftwatch.capture.model import ConformanceFinding
from driftwatch.history.ledger import Doubt
from driftwatch.history.views import ListView, ToolView
from driftwatch.web.pages import advice, fleet, found, times, words
from driftwatch.web.pages.models import ProfileLine
from driftwatch.web.pages.words import State

MAX_FINDINGS: Final = 60
#: an order that moved so often within a day is no order
_UNSTABLE: Final = 3
_UNSTABLE_FOR: Final = timedelta(days=1)
#: polls that end like this read a list that no client can read to its end
_UNREADABLE: Final = frozenset({"repeated-cursor", "too-many-pages", "incomplete-walk", "bad-result", "bad-json"})

_UNDELIVERABLE: Final[Mapping[str, str]] = {
    "get-405": "refuses the GET on which a list_changed would arrive",
    "no-session": "holds its stream for no session, so nothing can arrive on it",
    "listen-404": "knows no subscriptions/listen",
    "ack-omits-tools": "does not honour a subscription to it",
}

#: the tool's name (empty: the server or its list) and what is to be known
Named = tuple[str, found.Note]


def unsettled(doubts: Iterable[Mapping[str, Doubt]]) -> list[Named]:
    """Tools whose definition does not hold still, each once."""
    seen: dict[str, found.Note] = {}
    for by_tool in doubts:
        for tool, doubt in by_tool.items():
            if doubt.restless:
                seen.setdefault(tool, _restless(doubt, "" if tool else f"{fleet.ITSELF}: "))
    return sorted(seen.items(), key=lambda item: item[0])


def of_server(profiles: Sequence[ProfileLine], now: datetime) -> list[Named]:
    """What polls and streams showed of the server."""
    seen: dict[tuple[str, str], found.Note] = {}
    for profile in profiles:
        for note in _of_profile(profile, now):
            seen.setdefault((note.rule, note.message), note)
    return [("", note) for note in seen.values()]


def notes(lists: Iterable[ListView], tools: Iterable[ToolView]) -> list[Named]:
    """Conformance findings of what is current; those of whole lists first."""
    seen: dict[tuple[str, str, str], Named] = {}
    for whole in lists:
        for raw in whole.findings:
            note = _note(raw)
            seen.setdefault(("", note.rule, note.message + note.where), ("", note))
    for line in tools:
        if line.invalid:
            invalid = _invalid(line.invalid)
            seen.setdefault((line.name, "invalid", invalid.message), (line.name, invalid))
        for raw in line.findings:
            note = _note(raw)
            seen.setdefault((line.name, note.rule, note.where), (line.name, note))
    return list(seen.values())


def _invalid(raw: Mapping[str, Any]) -> found.Note:
    message = str(raw.get("message", "client SDKs refuse it"))
    lost = advice.lost(str(raw.get("code", "")), str(raw.get("scope", "tool")))
    return found.Note(State("invalid", "invalid", "invalid"), f"{message}. {lost}", "", "invalid-definition")


def _restless(doubt: Doubt, about: str) -> found.Note:
    since = f"since {times.day(doubt.prior_sent_at)} {times.clock(doubt.prior_sent_at)}"
    if doubt.returns >= doubt.restarts:
        message = f"{about}two definitions alternate {since}; a change is told once one of them has held for 15 minutes"
        return found.Note(State("undecided", "undecided", "unsettled"), message, "", "replicas-differ")
    message = f"{about}another definition at every look {since}; a change is told once one meaning is seen twice"
    return found.Note(State("undecided", "undecided", "unsettled"), message, "", "volatile")


def _of_profile(profile: ProfileLine, now: datetime) -> Iterator[found.Note]:
    if profile.state in _UNREADABLE:
        told = profile.last_error.get("message") if profile.last_error else None
        message = f"no client can read the list to its end: {told}" if isinstance(told, str) else "the list has no end"
        yield found.Note(State("invalid", "invalid", "unreadable"), message, "", profile.state)
    hearing = profile.hearing
    if profile.list_changed_declared and hearing is not None and hearing.state == "cannot-deliver":
        how = _UNDELIVERABLE.get(hearing.reason or "", "offers no stream that could carry it")
        message = f"declares listChanged to {words.clients(profile.era)}, and {how}"
        yield found.Note(State("note", "note", "note"), message, "", "declared-undeliverable")
    moved = profile.order_moved_at
    if profile.order_moves >= _UNSTABLE and moved is not None and now - moved < _UNSTABLE_FOR:
        often = words.count(profile.order_moves, "time")
        message = f"the order of the list moved {often} while its tools stayed the same"
        yield found.Note(State("note", "note", "note"), message, "", "unstable-order")


def _note(raw: Mapping[str, Any]) -> found.Note:
    return found.note(
        ConformanceFinding(str(raw.get("rule", "")), str(raw.get("pointer", "")), str(raw.get("message", "")))
    )
