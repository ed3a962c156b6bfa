"""What a sender states about one walk, and what that means on the database's clock. Pure.

Every time in a statement is the sender's. Its clock may be wrong by years; only differences are used, and what is not
known makes the window wider and the coverage shorter, never the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from driftwatch.errors import InputError
from driftwatch.wire.facts import Era, Restart

#: of a sender that says nothing of its clock: how long its request may have been under way
UNSTATED_ERROR: Final = timedelta(seconds=5)
#: a request that took longer than this to arrive says something about the clocks, not about the network
LONGEST_JOURNEY: Final = timedelta(seconds=120)
#: older windows cannot be told from repetitions any more
OLDEST: Final = timedelta(days=1)


class BadTimesError(InputError):
    """A window or another time that cannot be."""

    code = "bad-times"


class ClockMismatchError(InputError):
    """What the sender calls now is not what the database calls now, beyond what it says of its clock."""

    code = "clock-mismatch"


@dataclass(frozen=True, slots=True)
class SenderClock:
    """The database's time is the sender's plus ``offset``, give or take ``error``."""

    offset: timedelta
    error: timedelta


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which the sender would have heard a list_changed; ``ended_by`` open: it is still listening."""

    start: datetime
    until: datetime
    ended_by: Literal["open", "us", "server"] = "open"
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Listening:
    """Why nothing can be heard: the server cannot deliver, or nobody listens."""

    state: Literal["cannot-deliver", "off"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Evidence beside the list: when the sender listened, what it heard, and what speaks for a restart."""

    coverage: tuple[Stretch, ...] = ()
    notifications: tuple[datetime, ...] = ()
    restarts: tuple[Restart, ...] = ()
    listening: Listening | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """What the server says of itself, as far as the sender knows; None: not stated."""

    protocol_version: str | None = None
    server_info: Mapping[str, Any] | None = None
    capabilities: Mapping[str, Any] | None = None
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """One walk of tools/list as its sender saw it. ``id`` is the sender's and stays the same over repetitions.

    ``window``: just before the first request, and after the last page. ``fresh``: no answer could come from another
    replica than the walk before because of a kept connection. ``clock``: as measured; None: only ``sent_at`` is known.
    """

    id: str
    era: Era
    sent_at: datetime
    window: tuple[datetime, datetime]
    pages: tuple[bytes, ...] = field(repr=False)
    clock: SenderClock | None = None
    fresh: bool = False
    facts: Stated = field(default_factory=Stated)
    heard: Heard = field(default_factory=Heard)


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement on the database's clock. ``error``: how far apart the clocks may be."""

    window: tuple[datetime, datetime]
    heard: Heard
    error: timedelta


def dated(statement: Statement, received_at: datetime) -> Dated:
    """The statement on the database's clock, of which ``received_at`` is the reading when it arrived.

    Raises BadTimesError, ClockMismatchError.
    """
    clock = statement.clock or SenderClock(received_at - statement.sent_at, UNSTATED_ERROR)
    _check_clock(statement.sent_at + clock.offset, clock.error, received_at)
    start, end = statement.window
    if not start <= end <= statement.sent_at + clock.error:
        raise BadTimesError("The window ends before it begins, or after it was sent.")
    if received_at - (start + clock.offset) > OLDEST:
        raise BadTimesError(
            f"The window began more than {OLDEST.days} day ago.", hint="What is as old as this cannot be put in order."
        )
    window = (start + clock.offset - clock.error, min(end + clock.offset + clock.error, received_at))
    return Dated(window, _heard(statement.heard, clock, received_at), clock.error)


def _check_clock(sent_at: datetime, error: timedelta, received_at: datetime) -> None:
    if not sent_at - error <= received_at <= sent_at + error + LONGEST_JOURNEY:
        raise ClockMismatchError(
            f"By your clock this was sent at {sent_at.isoformat()}, and it arrived at {received_at.isoformat()}.",
            hint="Measure clock.offset_seconds anew, or leave clock out: then sent_at alone is used.",
        )


def _heard(heard: Heard, clock: SenderClock, received_at: datetime) -> Heard:
    return Heard(
        coverage=tuple(_stretches(heard.coverage, clock, received_at)),
        notifications=tuple(min(at + clock.offset, received_at) for at in heard.notifications),
        restarts=tuple(
            Restart(min(restart.at + clock.offset, received_at), restart.kind, restart.detail)
            for restart in heard.restarts
        ),
        listening=heard.listening,
    )


def _stretches(coverage: Sequence[Stretch], clock: SenderClock, received_at: datetime) -> list[Stretch]:
    """Shortened at both ends by what is not known of the clocks; what is then empty proves nothing."""
    found = []
    for one in coverage:
        start = one.start + clock.offset + clock.error
        until = min(one.until + clock.offset - clock.error, received_at)
        if start <= until or one.ended_by == "open":
            found.append(Stretch(start, max(start, until), one.ended_by, one.why))
    return found
