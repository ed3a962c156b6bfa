"""Shapes of the API, with examples. Server-supplied text is passed through as it is: JSON escapes it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

EraName = Literal["legacy", "modern"]
Verdict = Literal["compatible", "breaking", "undecided", "invalid"]
Announcement = Literal["announced", "silent", "unknown", "pending"]
Kind = Literal["added", "removed", "changed", "restored"]

Header = Annotated[str, Field(max_length=8192)]
Tag = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:/-]+$")]


class Strict(BaseModel):
    """A body in which an unknown field is an error: a typing mistake must not be ignored."""

    model_config = ConfigDict(extra="forbid")


class ServerIn(Strict):
    """A server to watch."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"url": "https://mcp.example.com/mcp"},
                {
                    "url": "https://mcp.example.com/mcp",
                    "name": "orders",
                    "headers": {"Authorization": "Bearer …"},
                    "interval_seconds": 60,
                    "eras": ["modern"],
                    "tags": ["prod", "vendor"],
                    "owner": "payments",
                },
            ]
        },
    )

    url: str = Field(min_length=1, max_length=2048, description="The MCP endpoint, http or https.")
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="Unique; default: made from the URL's host."
    )
    headers: dict[Annotated[str, Field(min_length=1, max_length=200)], Header] = Field(
        default_factory=dict, max_length=50, description="Secret request headers; write-only, shown only as set."
    )
    interval_seconds: int | None = Field(default=None, gt=0, le=86_400, description="Poll interval; default 300.")
    eras: Literal["auto"] | list[EraName] = Field(
        default="auto", description="Which protocol eras to watch; auto: every era the server speaks."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=50)
    owner: str | None = Field(default=None, max_length=200)
    listen: Literal["auto", "off"] = Field(default="auto", description="Whether change streams may be held.")
    mode: Literal["follow", "pinned"] = Field(
        default="follow",
        description="follow: compatible changes are accepted by themselves; pinned: only people accept.",
    )


class ServerPatch(Strict):
    """Fields to change; a field that is not sent stays. Another origin in ``url`` needs ``headers`` again."""

    name: str | None = Field(default=None, min_length=1, max_length=200)
    url: str | None = Field(default=None, min_length=1, max_length=2048)
    headers: dict[Annotated[str, Field(min_length=1, max_length=200)], Header] | None = Field(
        default=None, max_length=50
    )
    interval_seconds: int | None = Field(default=None, gt=0, le=86_400)
    eras: Literal["auto"] | list[EraName] | None = None
    tags: list[Tag] | None = Field(default=None, max_length=50)
    owner: str | None = Field(default=None, max_length=200)
    listen: Literal["auto", "off"] | None = None
    mode: Literal["follow", "pinned"] | None = None


class Failure(BaseModel):
    """Why a server could not be read."""

    code: str = Field(examples=["unauthorized"])
    message: str
    hint: str | None = None


class ProfileOut(BaseModel):
    """What one kind of client sees of a server."""

    id: int
    era: EraName
    state: str = Field(description="new, ok, or the code of the failure the last poll ended with.", examples=["ok"])
    protocol_version: str | None = Field(default=None, examples=["2026-07-28"])
    server_info: Any = None
    list_changed_declared: bool | None = None
    tool_count: int | None = None
    last_poll_at: datetime | None = None
    next_due_at: datetime | None = None
    failing_since: datetime | None = None
    last_error: Failure | None = None


class ServerOut(BaseModel):
    """A watched server. Headers are write-only: only their names are shown."""

    id: int
    name: str
    url: str
    owner: str | None
    tags: list[str]
    interval_seconds: int
    eras: Literal["auto"] | list[EraName]
    listen: str
    mode: str
    state: str = Field(examples=["active"])
    headers_set: list[str]
    profiles: list[ProfileOut]
    created_at: datetime


class FoundEra(BaseModel):
    """What detection found in one era."""

    era: EraName
    protocol_version: str
    server_info: Any = None
    list_changed_declared: bool
    tools: list[str]
    outputs_declared: int = Field(description="How many tools declare an outputSchema.")
    findings: list[dict[str, Any]] = Field(default_factory=list, description="Conformance findings.")


class PreviewOut(BaseModel):
    """What a server looks like before anything is stored."""

    url: str
    eras: list[FoundEra]
    problems: dict[str, Failure] = Field(default_factory=dict, description="Why an era was not found, by era.")


class RegisteredOut(BaseModel):
    """A newly watched server, and what the first poll found. ``problems`` is only filled with ``force=true``."""

    server: ServerOut
    found: list[FoundEra]
    problems: dict[str, Failure] = Field(default_factory=dict)


class BatchOutcome(BaseModel):
    """What became of one entry of a batch."""

    url: str | None
    name: str | None = None
    status: Literal["registered", "exists", "refused", "skipped"]
    server_id: int | None = None
    problem: Failure | None = None


class ImportIn(Strict):
    """A client configuration, a registry ``server.json``, or a list of URLs, as text."""

    content: str = Field(min_length=1, max_length=2_000_000)
    interval_seconds: int | None = Field(default=None, gt=0, le=86_400)
    tags: list[Tag] = Field(default_factory=list, max_length=50)
    owner: str | None = Field(default=None, max_length=200)
    force: bool = False


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

    definition: Any
    verbatim: str


class FindingOut(BaseModel):
    """A rule id at a JSON pointer, in words."""

    rule: str = Field(examples=["output-null-added"])
    pointer: str = Field(examples=["/properties/status"])
    level: str
    effect: str
    message: str = Field(examples=["`status` may now be null"])
    witness: Any = None


class PartOut(BaseModel):
    """One part of a change."""

    part: str = Field(examples=["output"])
    verdict: Verdict
    via: str | None = None
    reason: str | None = None
    witness: dict[str, Any] | None = Field(default=None, examples=[{"value": {"id": "A-1041", "status": None}}])
    findings: list[FindingOut] = Field(default_factory=list)
    paths: list[dict[str, Any]] = Field(default_factory=list)


class EvidenceOut(BaseModel):
    """The newest judgement of the announcement with what it was made from."""

    announcement: Announcement
    reason: str | None
    fact: str | None
    rule: int
    at: datetime
    evidence: dict[str, Any]


class WindowOut(BaseModel):
    """The change happened in (start, end]."""

    start: datetime
    end: datetime


class ChangeOut(BaseModel):
    """One tool's transition. ``witness`` is that of the worst part."""

    id: int
    changeset_id: int
    server_id: int
    server: str
    profile_id: int
    era: EraName
    tool_id: int
    tool: str
    kind: Kind
    from_version: int | None
    to_version: int | None
    verdict: Verdict | None
    via: str | None
    part: str | None
    witness: dict[str, Any] | None
    parts: list[PartOut]
    announcement: Announcement | None
    announcement_reason: str | None
    window: WindowOut
    recorded_at: datetime
    state: str
    facts: dict[str, Any]


class ChangeDetail(ChangeOut):
    """A change with the evidence about its announcement and the decision whether to alert."""

    evidence: EvidenceOut | None = None
    alert_id: int | None = None
    decision: dict[str, Any] | None = None


class ChangesetOut(BaseModel):
    """What one deploy did: all changes of one server whose windows overlap."""

    id: int
    server_id: int
    server: str
    window: WindowOut
    changes: list[ChangeOut]
    alert_id: int | None = None


class Page(BaseModel, Generic[T]):
    """A page of a list, newest first. Pass ``next`` as ``cursor`` to read on; None: this was the last page."""

    items: list[T]
    next: str | None = None


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
