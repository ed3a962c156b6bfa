"""Tools and their versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import EraName, Verdict


class ToolOut(BaseModel):
    """A tool in one profile, with its newest version."""

    id: int
    profile_id: int
    era: EraName
    name: str
    current_version: int | None = Field(description="None: the tool is absent now.")
    baseline_version: int | None = None
    declares_output: bool
    last_change_id: int | None = None
    last_changed_at: datetime | None = None
    verdict: Verdict | None = Field(default=None, description="Verdict of the newest change.")
    invalid: dict[str, Any] | None = None


class IntervalOut(BaseModel):
    """When a version was current; the true start lies in (window_start, valid_from]."""

    window_start: datetime | None
    valid_from: datetime
    valid_to: datetime | None


class VersionOut(BaseModel):
    """One distinct definition of a tool."""

    tool_id: int
    number: int
    part_sha256: dict[str, str] = Field(description="sha256 of the canonical form of each part.")
    created_at: datetime
    intervals: list[IntervalOut]
    invalid: dict[str, Any] | None = None
    findings: list[dict[str, Any]] = Field(default_factory=list)


class VersionDetail(VersionOut):
    """A version with its definition: as parsed JSON, and the bytes as the server sent them."""

    definition: Any = Field(description="None: it cannot be read as JSON; `invalid` says why.")
    verbatim: str
