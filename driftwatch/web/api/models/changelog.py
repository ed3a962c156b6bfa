"""The changelog to take along, and the rules its findings follow."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Announcement, EraName, Verdict
from driftwatch.web.api.models.changes import Kind


class ExportedFinding(BaseModel):
    """A finding of an exported change."""

    part: str
    rule: str
    pointer: str
    level: str
    message: str


class ExportedChange(BaseModel):
    """One change as scripts want it. `window`: it happened in (start, end]."""

    id: int
    changeset: int
    server: str
    tool: str
    era: EraName
    kind: Kind
    from_version: int | None
    to_version: int | None
    verdict: Verdict | None
    announcement: Announcement | None
    announcement_reason: str | None
    window: list[datetime] = Field(min_length=2, max_length=2)
    findings: list[ExportedFinding]


class RuleExample(BaseModel):
    """A smallest case of a rule: two schemas, two tools (None: absent), or a fact about a server."""

    before: Any
    after: Any


class RuleOut(BaseModel):
    """A rule: how bad it is at worst, and to whom it matters."""

    id: str
    level: str
    direction: str
    effect: str
    subject: str
    words: str
    why: str
    example: RuleExample
