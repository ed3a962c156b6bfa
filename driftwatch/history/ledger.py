"""What one poll changes in what we believe: a difference becomes a change when a new connection confirms it. Pure.

Per tool there is a held definition (or absence) and at most one doubt: another definition seen and not yet believed.
A second sighting on a new connection confirms it. Where a definition differs at every look, because it holds the clock
or a list in random order, sightings of one meaning count, and differences without meaning are never believed. A tool
that only vanishes must be missed three times over a minute, unless something that first showed in the same poll is
believed. When the held definition comes back in between, two replicas may be answering: from then on nothing is
believed until one definition has held for fifteen minutes; after a day of that the newest is believed once, as replicas
that differ, and what alternates with it stays a doubt. What never settles otherwise never becomes a change here; the
server's page names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

Kind = Literal["added", "removed", "changed", "restored"]

#: the doubt about a first list that is empty, and later about what the server says of itself; no tool has this name
WHOLE_LIST: Final = ""
#: connections asked in quick succession when the held definition comes back
SAMPLES: Final = 5
#: what differs at every look, or alternates, is not chased by quick looks more often than this
RESTARTS: Final = 3
NO_MEANINGS: Final[Mapping[bytes, bytes]] = {}


@dataclass(frozen=True, slots=True)
class Constants:
    """The ledger's times.

    ``confirm``: soonest second look; ``removal``: how long a tool must be missing; ``stable``: how long a definition
    must hold once two have alternated; ``patience``: how long two may alternate before the newest is believed.
    """

    confirm: timedelta = timedelta(seconds=1)
    removal: timedelta = timedelta(seconds=60)
    stable: timedelta = timedelta(minutes=15)
    patience: timedelta = timedelta(hours=24)


DEFAULT_CONSTANTS: Final = Constants()


@dataclass(frozen=True, slots=True)
class Poll:
    """When a poll was sent and had arrived, when the one before it was sent, and whether it used a new connection.

    ``before``: what the server said of itself until now; doubts that begin with this poll carry it, unread.
    """

    sent_at: datetime
    arrived_at: datetime
    prior_sent_at: datetime | None
    fresh: bool
    before: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A difference between what is held (``old``) and what was seen (``new``); None means absent.

    ``prior_sent_at``: when the last poll that saw ``old`` was sent. ``first_arrived_at``: arrival of the first poll
    of the unbroken run of sightings. ``sightings`` of ``new`` in that run; 0 while ``old`` is back, then ``calm``
    counts. ``returns``: how often ``old`` came back. ``restarts``: how often yet another definition took its place.
    ``meaning`` of ``new``; None: absent, or not known.
    ``began_at``: arrival of the first sighting of all. ``told``: that replicas differ was said.
    """

    old: bytes | None
    new: bytes | None
    prior_sent_at: datetime
    first_arrived_at: datetime
    last_seen_at: datetime
    sightings: int = 1
    returns: int = 0
    calm: int = 0
    restarts: int = 0
    meaning: bytes | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    began_at: datetime | None = None
    told: bool = False

    @property
    def alternates(self) -> bool:
        """True once ``new`` was seen again after ``old`` had come back: two replicas, or a rollout under way."""
        return self.returns > 0 and self.sightings > 0

    @property
    def restless(self) -> bool:
        """True when it is pointless to look again soon: another definition came each time, or two alternate."""
        return self.restarts >= RESTARTS or self.returns >= RESTARTS


@dataclass(frozen=True, slots=True)
class Transition:
    """A change that is believed, in the window (start, end]."""

    tool: str
    kind: Kind
    old: bytes | None
    new: bytes | None
    window: tuple[datetime, datetime]
    sightings: int
    returns: int
    before: Mapping[str, Any] = field(default_factory=dict)
    replicas_differ: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What to store after a poll.

    ``doubts`` replace the stored ones. ``passed``: doubts that ended with the held definition back. ``mixed``: those
    that were found to alternate by this poll. ``look_again``: how soon to look once more on a new connection; None:
    at the usual time. ``baseline``: a first list is believed.
    """

    transitions: tuple[Transition, ...] = ()
    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    passed: Mapping[str, Doubt] = field(default_factory=dict)
    mixed: Mapping[str, Doubt] = field(default_factory=dict)
    look_again: timedelta | None = None
    baseline: bool = False

    @property
    def settled(self) -> bool:
        """True when the poll agrees with everything that is believed now."""
        return not self.doubts


def begin(seen: Mapping[str, bytes], doubts: Mapping[str, Doubt], poll: Poll, constants: Constants) -> Step:
    """The step of a profile's first list: believed at once, but an empty one only at a second look."""
    doubt = doubts.get(WHOLE_LIST)
    if seen or (doubt is not None and _counts(doubt, poll, constants)):
        return Step(baseline=True)
    first = doubt or Doubt(None, None, poll.sent_at, poll.arrived_at, poll.arrived_at)
    return Step(doubts={WHOLE_LIST: first}, look_again=constants.confirm)


def compare(
    held: Mapping[str, bytes | None],
    seen: Mapping[str, bytes],
    doubts: Mapping[str, Doubt],
    poll: Poll,
    constants: Constants = DEFAULT_CONSTANTS,
    meanings: Mapping[bytes, bytes] = NO_MEANINGS,
) -> Step:
    """The step from ``held`` (digest of each tool ever believed; None: absent now) to what a poll has ``seen``.

    ``meanings``: for these digests, what stays equal while only words of the definition differ.
    """
    open_: dict[str, Doubt] = {}
    passed: dict[str, Doubt] = {}
    for tool in held.keys() | seen.keys() | doubts.keys():
        old, new, doubt = held.get(tool), seen.get(tool), doubts.get(tool)
        if old != new:
            fresh = Doubt(old, new, poll.prior_sent_at or poll.sent_at, poll.arrived_at, poll.arrived_at)
            fresh = replace(fresh, meaning=_of(new, meanings), before=poll.before, began_at=poll.arrived_at)
            open_[tool] = _differs(fresh, doubt, _of(old, meanings), poll, constants)
        elif doubt is not None:
            back = _is_back(doubt, poll)
            (passed if _is_over(back, poll, constants) else open_)[tool] = back
    believed = _believed(open_, poll, constants)
    transitions = tuple(
        _transition(tool, open_[tool], held, differ=_differ_for_long(open_[tool], poll, constants))
        for tool in sorted(believed)
    )
    rest = {tool: doubt for tool, doubt in open_.items() if tool not in believed}
    rest |= {tool: _turned(open_[tool], poll) for tool in believed if _differ_for_long(open_[tool], poll, constants)}
    waits = [wait for doubt in rest.values() if (wait := _wait(doubt, poll, constants)) is not None]
    return Step(transitions, rest, passed, _newly_mixed(doubts, open_), min(waits, default=None))


def _newly_mixed(known: Mapping[str, Doubt], now: Mapping[str, Doubt]) -> dict[str, Doubt]:
    return {
        tool: doubt
        for tool, doubt in now.items()
        if doubt.alternates and doubt.returns == 1 and tool in known and known[tool].sightings == 0
    }


def _differ_for_long(doubt: Doubt, poll: Poll, constants: Constants) -> bool:
    """True when two definitions, and no third one, have alternated beyond all patience; said once."""
    if doubt.told or doubt.restarts or not doubt.alternates:
        return False
    holds = poll.arrived_at - doubt.first_arrived_at >= constants.stable
    return not holds and poll.arrived_at - (doubt.began_at or doubt.first_arrived_at) >= constants.patience


def _turned(doubt: Doubt, poll: Poll) -> Doubt:
    """The same alternation once ``new`` is held: now ``old`` is the other one."""
    return replace(
        doubt,
        old=doubt.new,
        new=doubt.old,
        prior_sent_at=poll.sent_at,
        first_arrived_at=poll.arrived_at,
        last_seen_at=poll.arrived_at,
        sightings=0,
        calm=1,
        returns=max(doubt.returns + 1, 2),
        meaning=None,
        before=poll.before,
        told=True,
    )


def _differs(fresh: Doubt, doubt: Doubt | None, held: bytes | None, poll: Poll, constants: Constants) -> Doubt:
    """``fresh``: the doubt as this poll alone would begin it; ``held``: the meaning of what is believed."""
    if doubt is None or doubt.old != fresh.old:
        return fresh
    if held is not None and doubt.meaning == held and fresh.meaning not in (held, None):
        # Until now only words differed: the last poll still saw the old meaning. One quick look, however restless.
        return replace(fresh, restarts=min(doubt.restarts, RESTARTS - 1))
    known = fresh.meaning is not None and fresh.meaning != held
    if doubt.new != fresh.new and not (known and fresh.meaning == doubt.meaning):
        return replace(
            fresh,
            prior_sent_at=doubt.prior_sent_at,
            before=doubt.before,
            returns=doubt.returns,
            restarts=doubt.restarts + 1,
            began_at=doubt.began_at,
            told=doubt.told,
        )
    if doubt.sightings == 0:
        begun = replace(fresh, prior_sent_at=doubt.prior_sent_at, began_at=doubt.began_at, told=doubt.told)
        return replace(begun, returns=doubt.returns, restarts=doubt.restarts)
    counted = int(_counts(doubt, poll, constants))
    return replace(doubt, new=fresh.new, last_seen_at=poll.arrived_at, sightings=doubt.sightings + counted)


def _of(digest: bytes | None, meanings: Mapping[bytes, bytes]) -> bytes | None:
    return None if digest is None else meanings.get(digest)


def _counts(doubt: Doubt, poll: Poll, constants: Constants) -> bool:
    """A second look at the same connection, or in the same instant, says nothing new."""
    return poll.fresh and poll.sent_at - doubt.first_arrived_at >= constants.confirm


def _is_back(doubt: Doubt, poll: Poll) -> Doubt:
    if doubt.sightings == 0:
        return replace(doubt, prior_sent_at=poll.sent_at, calm=doubt.calm + int(poll.fresh))
    return replace(
        doubt,
        prior_sent_at=poll.sent_at,
        first_arrived_at=poll.arrived_at,
        sightings=0,
        calm=1,
        returns=doubt.returns + 1,
    )


def _is_over(back: Doubt, poll: Poll, constants: Constants) -> bool:
    held_for = poll.arrived_at - back.first_arrived_at
    return back.calm >= SAMPLES if back.returns == 1 else held_for >= constants.stable


def _believed(doubts: Mapping[str, Doubt], poll: Poll, constants: Constants) -> set[str]:
    arrived = {tool for tool, doubt in doubts.items() if doubt.new is not None and _confirmed(doubt, poll, constants)}
    polls = {doubts[tool].first_arrived_at for tool in arrived}
    gone = {
        tool
        for tool, doubt in doubts.items()
        if doubt.new is None
        and _confirmed(doubt, poll, constants)
        and (doubt.first_arrived_at in polls or _missing_long_enough(doubt, poll, constants))
    }
    return arrived | gone


def _confirmed(doubt: Doubt, poll: Poll, constants: Constants) -> bool:
    held_for = poll.arrived_at - doubt.first_arrived_at
    held = doubt.sightings >= 2 and (doubt.returns == 0 or held_for >= constants.stable)
    return held or _differ_for_long(doubt, poll, constants)


def _missing_long_enough(doubt: Doubt, poll: Poll, constants: Constants) -> bool:
    held_for = poll.arrived_at - doubt.first_arrived_at
    return (doubt.sightings >= 3 and held_for >= constants.removal) or _differ_for_long(doubt, poll, constants)


def _transition(tool: str, doubt: Doubt, held: Mapping[str, bytes | None], *, differ: bool) -> Transition:
    window = (doubt.prior_sent_at, doubt.first_arrived_at)
    kind = _kind(tool, held, doubt)
    seen = (doubt.sightings, doubt.returns, doubt.before)
    return Transition(tool, kind, doubt.old, doubt.new, window, *seen, replicas_differ=differ)


def _kind(tool: str, held: Mapping[str, bytes | None], doubt: Doubt) -> Kind:
    if doubt.new is None:
        return "removed"
    if doubt.old is not None:
        return "changed"
    return "restored" if tool in held else "added"


def _wait(doubt: Doubt, poll: Poll, constants: Constants) -> timedelta | None:
    if doubt.restless:
        return None
    if doubt.returns:
        return constants.confirm if max(doubt.sightings, doubt.calm) < SAMPLES else None
    if doubt.new is None and doubt.sightings >= 2:
        return max(constants.confirm, doubt.first_arrived_at + constants.removal - poll.arrived_at)
    return constants.confirm
