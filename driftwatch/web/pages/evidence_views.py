"""What the evidence timeline is drawn from. Pure data; tool names are server text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Stretch:
    """A change stream we held: from its acknowledgement to the last byte. ``ended_by``: open, us or server."""

    era: str
    start: datetime
    end: datetime
    ended_by: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A notification or a sign of a restart; ``note`` says which kind."""

    era: str
    at: datetime
    note: str


@dataclass(frozen=True, slots=True)
class Happened:
    """A change as the timeline needs it; ``number`` is the version it led to, None: the tool is gone."""

    change_id: int
    changeset_id: int
    tool: str
    kind: str
    number: int | None
    verdict: str | None
    via: str | None
    part: str | None
    announcement: str | None
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known of a stretch of time, each kind oldest first."""

    streams: tuple[Stretch, ...] = ()
    notified: tuple[Marked, ...] = ()
    restarts: tuple[Marked, ...] = ()
    changes: tuple[Happened, ...] = ()
