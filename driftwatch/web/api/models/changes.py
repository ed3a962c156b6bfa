"""Changes and changesets, with proof and evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Announcement, EraName, Verdict, WindowOut

Kind = Literal["added", "removed", "changed", "restored"]


class FindingOut(BaseModel):
    """A rule id at a JSON pointer, in words."""

    rule: str = Field(examples=["output-null-added"])
    pointer: str = Field(examples=["/properties/status"])
    level: str
    effect: str
    message: str = Field(examples=["`status` may now be null"])
    witness: Any = None


class ClientOut(BaseModel):
    """What one client that holds the old output schema does with the witness."""

    client: Literal["spec", "ts1", "ts2", "py"] = Field(
        description="The specification to the letter, the TypeScript SDK 1.x and 2.x, the Python SDK."
    )
    refuses: bool | Literal["tool-lost", "list-lost", "unknown"] = Field(
        description="`tool-lost`: it cannot use the schema, so every call fails; `list-lost`: nor any other tool."
    )
    message: str = Field(examples=["data/status must be string"], description="The validator's words.")
    pointer: str = Field(examples=["/status"], description="Into the witness; into the schema where it is lost.")


class PartOut(BaseModel):
    """One part of a change."""

    part: str = Field(examples=["output"])
    verdict: Verdict
    via: str | None = None
    reason: str | None = None
    witness: dict[str, Any] | None = Field(default=None, examples=[{"value": {"id": "A-1041", "status": None}}])
    findings: list[FindingOut] = Field(default_factory=list)
    paths: list[dict[str, Any]] = Field(default_factory=list)
    refusal: str | None = Field(default=None, description="Why the witness is refused, in a validator's words.")
    refused_at: str | None = Field(default=None, description="JSON pointer into the witness.")
    clients: list[ClientOut] = Field(default_factory=list, description="Of breaking outputs.")


class EvidenceOut(BaseModel):
    """The newest judgement of the announcement with what it was made from."""

    announcement: Announcement
    reason: str | None
    fact: str | None
    rule: int
    at: datetime
    evidence: dict[str, Any]


class ChangeOut(BaseModel):
    """One tool's transition. ``witness`` is that of the worst part."""

    id: int
    headline: str = Field(examples=["`status` may now be null"], description="In words; names in backticks.")
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
    announcement_help: str | None = Field(
        description="Path of the page that says what the server's author can do.", examples=["/announce#not-declared"]
    )
    window: WindowOut
    recorded_at: datetime
    state: str
    facts: dict[str, Any] = Field(
        description="Only those that say something. `within_ttl`: the old list was still fresh by its own ttlMs, and a "
        "client that honours it stays stale until `stale_until` (`cache_scope` public: shared caches too). "
        "`version_not_bumped`: serverInfo names the same version as before, which is weak evidence.",
        examples=[{"sightings": 2, "within_ttl": True, "ttl_ms": 600000, "stale_until": "2026-11-30T14:12:00+00:00"}],
    )


class RenameOut(BaseModel):
    """A hint that a tool went under another name: never a fact."""

    sentence: str
    change_id: int | None = Field(description="The other change, where it is known.")


class DecisionOut(BaseModel):
    """Why a change did or did not alert: the policy's lines in order, up to the one that matched."""

    outcome: str
    line: str
    severity: str | None
    at: datetime
    path: list[dict[str, Any]]


class ChangeDetail(ChangeOut):
    """A change with the evidence about its announcement and the decision whether to alert."""

    url: str = Field(description="Its page.")
    summary: str = Field(description="Which parts changed and which did not.")
    proof: str = Field(description="Does it break a client that holds the old contract, in words.")
    todo: str | None = Field(description="What to do, where somebody was alerted.")
    rename: RenameOut | None = None
    evidence: EvidenceOut | None = None
    alert_id: int | None = None
    decision: DecisionOut | None = None


class ChangesetOut(BaseModel):
    """What one deploy did: all changes of one server whose windows overlap."""

    id: int
    server_id: int
    server: str
    window: WindowOut
    changes: list[ChangeOut]
    alert_id: int | None = None
