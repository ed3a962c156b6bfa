"""What pages, the API and messages read of alerts, already joined. Pure data.

Titles, tool names, bodies and errors may hold text from watched servers or channels: escape them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class AlertChange:
    """A change that belongs to an alert. ``outcome``: alert, or summary/history for the quiet ones beside it."""

    change_id: int
    changeset_id: int
    tool_id: int
    tool: str
    era: str
    kind: str
    from_version: int | None
    to_version: int | None
    verdict: str | None
    part: str | None
    announcement: str | None
    outcome: str


@dataclass(frozen=True, slots=True)
class EventView:
    """Something that happened to an alert, and who did it."""

    id: int
    at: datetime
    kind: str
    actor: str
    reason: str | None
    detail: Any = None


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert. ``state``: open, acknowledged, accepted, settled, reverted (kind drift) or resolved (not-watching)."""

    id: int
    kind: str
    server_id: int
    server: str
    changeset_id: int | None
    state: str
    severity: str
    title: str
    opened_at: datetime
    settles_at: datetime | None
    closed_at: datetime | None
    handled_by: str | None
    held: str | None = None
    changes: tuple[AlertChange, ...] = ()
    events: tuple[EventView, ...] = ()
    #: how many tools alert, where ``changes`` holds only the one that speaks for all
    alerting: int | None = None

    @property
    def tools(self) -> int:
        """How many tools alert."""
        return len({c.tool for c in self.changes if c.outcome == "alert"}) if self.alerting is None else self.alerting

    @property
    def needs_someone(self) -> bool:
        """True while nobody has accepted it and it has not ended by itself."""
        return self.state in {"open", "acknowledged"}


@dataclass(frozen=True, slots=True)
class DecisionView:
    """Why a change did or did not alert. ``path``: every policy line asked, in order, up to the one that matched."""

    change_id: int
    at: datetime
    outcome: str
    line: str
    severity: str | None
    path: tuple[dict[str, Any], ...]
    alert_id: int | None


def alerting_line(decisions: Sequence[DecisionView]) -> str | None:
    """The policy line that made a change an alert, by its newest decision; None when nobody was alerted."""
    return decisions[0].line if decisions and decisions[0].outcome == "alert" else None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt of a delivery and what the channel answered."""

    at: datetime
    outcome: str
    status: int | None
    body: str | None
    error: str | None
    duration_ms: float | None


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """One message to one channel. ``state``: queued, leased (being sent), delivered, dead."""

    id: int
    alert_id: int | None
    channel_id: int
    channel: str
    channel_kind: str
    event: str
    form: str
    state: str
    tries: int
    created_at: datetime
    next_try_at: datetime | None
    delivered_at: datetime | None
    attempts: tuple[AttemptView, ...] = ()
    action: str = "post"
    route: str | None = None


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel without its secret. ``waiting``: deliveries not yet made; ``oldest``: since when."""

    id: int
    name: str
    kind: str
    state: str
    disabled_reason: str | None
    waiting: int
    oldest: datetime | None
    accepts: Mapping[str, Any] | None = None
    paused_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class BaselineView:
    """What was last accepted for a tool. ``version_id`` None: its absence.

    ``mode``: first (what the first poll saw), follow, settled or person.
    """

    tool_id: int
    version_id: int | None
    number: int | None
    mode: str
    by: str | None = None
    at: datetime | None = None
    reason: str | None = None
