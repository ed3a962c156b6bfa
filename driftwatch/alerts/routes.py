"""Where an alert goes: rules in order, a default at the end, and what each channel wants to hear. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from driftwatch.errors import InputError

DEFAULT: Final = "default route: every channel"
#: facts of single changes; the others are facts of the whole alert
_OF_A_CHANGE: Final = ("tools", "verdicts", "announcements", "reasons", "directions", "via", "changes")


class Match(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an alert must be like. An empty list asks nothing; within a list any entry will do.

    ``servers`` and ``tools`` are globs (``orders-*``). ``changes``: changed, added, removed, restored. Several
    conditions on tools must hold for one and the same change. ``events`` is for channels, for example drift.opened.
    """

    kinds: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    announcements: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """A change as routes see it. ``direction``: input, output, or another part."""

    tool: str
    kind: str
    verdict: str | None
    announcement: str | None
    reason: str | None
    direction: str | None
    via: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What routes and channels match on. Messages that are about no alert at all have only a kind."""

    kind: str
    event: str
    severity: str | None = None
    server: str | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None
    changes: tuple[ChangeFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A stored route."""

    id: int
    name: str
    match: Match
    channels: tuple[int, ...]
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """A channel as routes see it."""

    id: int
    name: str
    kind: str
    enabled: bool
    accepts: Match | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """Whether a channel is told, and why or why not."""

    channel_id: int
    channel: str
    kind: str
    told: bool
    route: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Which routes were asked, and what follows for every channel."""

    asked: tuple[tuple[str, bool], ...]
    destinations: tuple[Destination, ...]

    @property
    def told(self) -> tuple[Destination, ...]:
        """The channels that get the message."""
        return tuple(d for d in self.destinations if d.told)


def plan(rules: Sequence[Rule], ways: Sequence[Way], facts: Facts, *, known_to: Iterable[int] = ()) -> Plan:
    """Where a message goes.

    ``known_to``: channels that were told of the alert before: whoever heard the alarm hears how it goes on. When every
    channel of the routes that matched is out of service, the default route speaks: nobody is left without a message.
    """
    asked, routed = _routed(rules, facts)
    by_id = {way.id: way for way in ways}
    chosen = {channel: name for channel, name in routed.items() if channel in by_id}
    for channel in known_to:
        chosen.setdefault(channel, "told of it before")
    if not any(by_id[c].enabled for c in chosen if c in by_id):
        why = DEFAULT if not routed else f"{DEFAULT}, because no channel of the matching route is in service"
        chosen |= {way.id: why for way in ways if way.enabled}
    return Plan(tuple(asked), tuple(_destination(way, chosen.get(way.id), facts) for way in ways))


def _routed(rules: Sequence[Rule], facts: Facts) -> tuple[list[tuple[str, bool]], dict[int, str]]:
    asked: list[tuple[str, bool]] = []
    routed: dict[int, str] = {}
    for rule in rules:
        matched = matches(rule.match, facts)
        asked.append((rule.name, matched))
        if matched:
            for channel in rule.channels:
                routed.setdefault(channel, f"route {rule.name}")
            if not rule.goes_on:
                return asked, routed
    if not routed:
        asked.append((DEFAULT, True))
    return asked, routed


def _destination(way: Way, route: str | None, facts: Facts) -> Destination:
    def answer(told: bool, why: str) -> Destination:
        return Destination(way.id, way.name, way.kind, told, route or "", why)

    if route is None:
        return answer(False, "no matching route names it")
    if not way.enabled:
        return answer(False, "the channel is out of service")
    if way.accepts is not None and not matches(way.accepts, facts):
        return answer(False, "the channel's own filter leaves it out")
    return answer(True, route)


def matches(match: Match, facts: Facts) -> bool:
    """True when the alert is what ``match`` asks for."""
    whole = (
        _one_of(match.kinds, facts.kind)
        and _one_of(match.severities, facts.severity)
        and _one_of(match.owners, facts.owner)
        and _one_of(match.events, facts.event)
        and _glob(match.servers, facts.server)
        and (not match.tags or bool(set(match.tags) & set(facts.tags)))
    )
    if not whole or not any(getattr(match, name) for name in _OF_A_CHANGE):
        return whole
    return any(_matches_change(match, change) for change in facts.changes)


def _matches_change(match: Match, change: ChangeFacts) -> bool:
    return (
        _glob(match.tools, change.tool)
        and _one_of(match.verdicts, change.verdict)
        and _one_of(match.announcements, change.announcement)
        and _one_of(match.reasons, change.reason)
        and _one_of(match.directions, change.direction)
        and _one_of(match.via, change.via)
        and _one_of(match.changes, change.kind)
    )


def _one_of(wanted: tuple[str, ...], value: str | None) -> bool:
    return not wanted or value in wanted


def _glob(wanted: tuple[str, ...], value: str | None) -> bool:
    return not wanted or (value is not None and any(fnmatchcase(value, pattern) for pattern in wanted))


def match_of(stored: Any) -> Match:
    """A match from JSON. Raises InputError that names the wrong field."""
    try:
        return msgspec.convert(stored or {}, Match)
    except msgspec.ValidationError as error:
        raise InputError(
            f"The match is not understood: {error}.", hint="See the fields in the API description."
        ) from None
