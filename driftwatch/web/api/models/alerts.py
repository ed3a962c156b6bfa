"""Alerts and what people do about them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Strict


class AlertEventOut(BaseModel):
    """Something that happened to an alert."""

    at: datetime
    kind: str
    actor: str
    reason: str | None = None


class AlertOut(BaseModel):
    """What people handle."""

    id: int
    kind: str
    server_id: int
    changeset_id: int | None
    state: str
    severity: str
    title: str
    opened_at: datetime
    closed_at: datetime | None
    handled_by: str | None
    events: list[AlertEventOut] = Field(default_factory=list)


class ReasonIn(Strict):
    """Why: required to accept a change of a pinned server, optional elsewhere."""

    reason: str | None = Field(default=None, max_length=2000)


class AcceptIn(ReasonIn):
    """What to accept: the whole changeset, or only the named tools in it."""

    tools: list[int] | None = Field(default=None, max_length=2000, description="Tool ids; None: all.")
