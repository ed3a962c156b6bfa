"""Alerts and what people do about them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Announcement, EraName, Id, Reason, Strict, Verdict
from driftwatch.web.api.models.changes import Kind

AlertKind = Literal["drift", "not-watching", "contract"]
AlertState = Literal["needs-someone", "any", "open", "acknowledged", "accepted", "settled", "reverted", "resolved"]


class AlertEventOut(BaseModel):
    """Something that happened to an alert."""

    at: datetime
    kind: str
    actor: str
    reason: str | None = None


class AlertChangeOut(BaseModel):
    """A change an alert is about. `outcome`: `alert`, or `summary` and `history` for the quiet ones beside it."""

    change_id: int
    changeset_id: int
    tool_id: int
    tool: str
    era: EraName
    kind: Kind
    from_version: int | None
    to_version: int | None
    verdict: Verdict | None
    announcement: Announcement | None
    outcome: str


class AlertOut(BaseModel):
    """What people handle. `events` are only there where one alert was asked for."""

    id: int
    kind: AlertKind
    server_id: int
    server: str
    changeset_id: int | None
    state: str
    severity: str
    title: str
    opened_at: datetime
    settles_at: datetime | None = Field(description="When it closes by itself if the change stays as it is.")
    closed_at: datetime | None
    handled_by: str | None
    held: str | None = Field(description="Why nobody was told yet: maintenance, rate.")
    changes: list[AlertChangeOut]
    events: list[AlertEventOut] = Field(default_factory=list)


class ReasonIn(Strict):
    """Why: required to accept a change of a pinned server, optional elsewhere."""

    reason: Reason = None


class AcceptIn(ReasonIn):
    """What to accept: the whole changeset, or only the named tools in it."""

    tools: list[Id] | None = Field(default=None, max_length=2000, description="Tool ids; None: all.")
