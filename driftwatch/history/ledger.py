"""What one poll changes in what we believe: a difference becomes a change when a new connection confirms it. Pure.

Per tool there is a held definition (or absence) and at most one doubt: another definition seen and not yet believed.
A second sighting on a new connection confirms it. A tool that only vanishes must be missed three times over a minute,
unless something that first showed in the same poll is believed. When the held definition comes back in between, two
replicas may be answering: from then on nothing is believed until one definition has held for fifteen minutes.
Replicas that differ for ever therefore never become a change here; naming them is not built yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

Kind = Literal["added", "removed", "changed", "restored"]

#: the doubt about a first list that is empty; no tool can have this name
WHOLE_LIST: Final = ""
#: connections asked in quick succession when the held definition comes back
SAMPLES: Final = 5
#: what differs at every look, or alternates, is not chased by quick looks more often than this
RESTARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Constants:
    """The ledger's times.

    ``confirm``: soonest second look; ``removal``: how long a tool must be missing; ``stable``: how long a definition
    must hold once two have alternated.
    """

    confirm: timedelta = timedelta(seconds=1)
    removal: timedelta = timedelta(seconds=60)
    stable: timedelta = timedelta(minutes=15)


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
    before: Mapping[str, Any] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Step:
    """What to store after a poll.

    ``doubts`` replace the stored ones. ``passed``: doubts that ended with the held definition back. ``look_again``:
    how soon to look once more on a new connection; None: at the usual time. ``baseline``: a first list is believed.
    """

    transitions: tuple[Transition, ...] = ()
    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    passed: Mapping[str, Doubt] = field(default_factory=dict)
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
) -> Step:
    """The step from ``held`` (digest of each tool ever believed; None: absent now) to what a poll has ``seen``."""
    open_: dict[str, Doubt] = {}
    passed: dict[str, Doubt] = {}
    for tool in held.keys() | seen.keys() | doubts.keys():
        old, new, doubt = held.get(tool), seen.get(tool), doubts.get(tool)
        if old != new:
            open_[tool] = _differs(old, new, doubt, poll, constants)
        elif doubt is not None:
            back = _is_back(doubt, poll)
            (passed if _is_over(back, poll, constants) else open_)[tool] = back
    believed = _believed(open_, poll, constants)
    transitions = tuple(_transition(tool, open_[tool], held) for tool in sorted(believed))
    rest = {tool: doubt for tool, doubt in open_.items() if tool not in believed}
    waits = [wait for doubt in rest.values() if (wait := _wait(doubt, poll, constants)) is not None]
    return Step(transitions, rest, passed, min(waits, default=None))


def _differs(old: bytes | None, new: bytes | None, doubt: Doubt | None, poll: Poll, constants: Constants) -> Doubt:
    if doubt is None or doubt.old != old:
        prior = poll.prior_sent_at or poll.sent_at
        return Doubt(old, new, prior, poll.arrived_at, poll.arrived_at, before=poll.before)
    if doubt.new != new:
        return replace(
            doubt,
            new=new,
            first_arrived_at=poll.arrived_at,
            last_seen_at=poll.arrived_at,
            sightings=1,
            calm=0,
            restarts=doubt.restarts + 1,
        )
    if doubt.sightings == 0:
        return replace(doubt, first_arrived_at=poll.arrived_at, last_seen_at=poll.arrived_at, sightings=1, calm=0)
    counted = int(_counts(doubt, poll, constants))
    return replace(doubt, last_seen_at=poll.arrived_at, sightings=doubt.sightings + counted)


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
    return doubt.sightings >= 2 and (doubt.returns == 0 or held_for >= constants.stable)


def _missing_long_enough(doubt: Doubt, poll: Poll, constants: Constants) -> bool:
    return doubt.sightings >= 3 and poll.arrived_at - doubt.first_arrived_at >= constants.removal


def _transition(tool: str, doubt: Doubt, held: Mapping[str, bytes | None]) -> Transition:
    window = (doubt.prior_sent_at, doubt.first_arrived_at)
    kind = _kind(tool, held, doubt)
    return Transition(tool, kind, doubt.old, doubt.new, window, doubt.sightings, doubt.returns, doubt.before)


def _kind(tool: str, held: Mapping[str, bytes | None], doubt: Doubt) -> Kind:
    if doubt.new is None:
        return "removed"
    if doubt.old is not None:
        return "changed"
    return "restored" if tool in held else "added"


def _wait(doubt: Doubt, poll: Poll, constants: Constants) -> timedelta | None:
    if doubt.restarts >= RESTARTS or doubt.returns >= RESTARTS:
        return None
    if doubt.returns:
        return constants.confirm if max(doubt.sightings, doubt.calm) < SAMPLES else None
    if doubt.new is None and doubt.sightings >= 2:
        return max(constants.confirm, doubt.first_arrived_at + constants.removal - poll.arrived_at)
    return constants.confirm
