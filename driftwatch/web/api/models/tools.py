"""Tools and their versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import EraName, Strict, Verdict
from driftwatch.web.api.models.changes import PartOut


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
    transitive: bool | None = Field(
        default=None,
        description="Whether severity is also judged against the versions since the baseline; "
        "null: as the server is set.",
    )


class ToolPatch(Strict):
    """What is set for a tool of one name, in every profile of its server."""

    transitive: bool | None = Field(
        description="Whether each change is also compared with the versions between the baseline and now, at most 20; "
        "null: as the server is set."
    )


class ToolChoices(BaseModel):
    """What is set for a tool."""

    tool_id: int
    transitive: bool | None = Field(description="null: as the server is set.")


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


class BaselineOut(BaseModel):
    """What was last accepted for a tool. `version` None: its absence.

    `mode`: first (what the first poll saw), follow, settled or person.
    """

    version: int | None
    mode: str
    by: str | None
    at: datetime | None
    reason: str | None


class TwinOut(BaseModel):
    """The tool of that name as another kind of client sees it."""

    tool_id: int
    era: EraName


class ToolPageOut(BaseModel):
    """One tool in one profile. `current_version` None: it is absent now."""

    id: int
    name: str
    server_id: int
    server: str
    owner: str | None
    mode: str
    profile_id: int
    era: EraName
    current_version: int | None
    baseline: BaselineOut | None
    twins: list[TwinOut]


class DiffOut(BaseModel):
    """What going from one version to another means for clients that hold the first one."""

    tool_id: int
    from_version: int
    to_version: int
    verdict: Verdict
    via: str | None = None
    part: str | None = Field(default=None, description="The part that decides.")
    parts: list[PartOut]
