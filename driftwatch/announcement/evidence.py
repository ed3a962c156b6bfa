"""What a judgement is made from, and the judgement. Pure data; times are seconds of one clock (the database's)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Announcement = Literal["announced", "silent", "unknown", "pending"]
Reason = Literal["not-delivered", "cannot-deliver", "not-declared", "restart"]
Listening = Literal["ok", "cannot-deliver", "limit", "off"]


@dataclass(frozen=True, slots=True)
class Constants:
    """The rule's times in seconds. The first four are settings.

    ``together``: between the last byte of a stream that the server broke and a sign of its restart. A sign comes within
    10 s of the break, and the break up to a keep-alive after the last byte.
    """

    lead: float = 60
    lag: float = 60
    roll: float = 900
    pending_grace: float = 30
    start_up_noise: float = 5
    together: float = 30


DEFAULT_CONSTANTS: Final = Constants()


@dataclass(frozen=True, slots=True)
class Stream:
    """A held change stream; ``verified_until`` is the last byte received, None proves nothing."""

    acked: float
    verified_until: float | None
    ended_by: Literal["open", "us", "server"] = "open"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known about one change window. ``notifications``: unspent ones, start-up noise removed."""

    window: tuple[float, float]
    now: float
    declared: bool
    listening: Listening = "ok"
    streams: tuple[Stream, ...] = ()
    notifications: tuple[float, ...] = ()
    restarts: tuple[float, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Judgement:
    """``rule`` is the row of announcement.md (1-7) that decided; ``fact`` is ``undeclared`` or ``restarted``."""

    announcement: Announcement
    reason: Reason | None
    fact: str | None
    rule: int
