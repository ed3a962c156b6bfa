"""Servers: what is sent to register and edit them, and what is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from driftwatch.web.api.models.base import EraName, Failure, Flag, Seconds, Strict, Tag, Text
from driftwatch.web.api.models.credentials import CredentialIn, CredentialOut, Header

Eras = Annotated[list[EraName], Field(max_length=2)]


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
                {
                    "url": "https://mcp.example.com/mcp",
                    "credential": {
                        "kind": "client-secret",
                        "issuer": "https://auth.example.com",
                        "client_id": "driftwatch",
                        "client_secret": "…",
                        "scopes": ["tools:read"],
                    },
                },
            ]
        },
    )

    url: Text = Field(min_length=1, max_length=2048, description="The MCP endpoint, http or https.")
    name: str | None = Field(
        default=None, min_length=1, max_length=200, description="Unique; default: made from the URL's host."
    )
    headers: dict[Annotated[str, Field(min_length=1, max_length=200)], Header] = Field(
        default_factory=dict,
        max_length=50,
        description="Secret request headers; short for a `credential` of the kind `headers`.",
    )
    credential: CredentialIn | None = None
    interval_seconds: Seconds | None = Field(default=None, description="Poll interval; default 300.")
    eras: Literal["auto"] | Eras = Field(
        default="auto", description="Which protocol eras to watch; auto: every era the server speaks."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=50)
    owner: Text | None = Field(default=None, max_length=200)
    listen: Literal["auto", "off"] = Field(default="auto", description="Whether change streams may be held.")
    mode: Literal["follow", "pinned"] = Field(
        default="follow",
        description="follow: compatible changes are accepted by themselves; pinned: only people accept.",
    )
    transitive: Flag = Field(
        default=False, description="Severity also against the versions between the baseline and now, at most 20."
    )


class ServerPatch(Strict):
    """Fields to change; a field that is not sent stays. Another origin in ``url`` needs the credential again.

    ``credential: null`` (or empty ``headers``) removes it.
    """

    name: str | None = Field(default=None, min_length=1, max_length=200)
    url: Text | None = Field(default=None, min_length=1, max_length=2048)
    headers: dict[Annotated[str, Field(min_length=1, max_length=200)], Header] | None = Field(
        default=None, max_length=50
    )
    credential: CredentialIn | None = None
    interval_seconds: Seconds | None = None
    eras: Literal["auto"] | Eras | None = None
    tags: list[Tag] | None = Field(default=None, max_length=50)
    owner: Text | None = Field(default=None, max_length=200)
    listen: Literal["auto", "off"] | None = None
    mode: Literal["follow", "pinned"] | None = None
    transitive: Flag | None = None


class ProfileOut(BaseModel):
    """What one kind of client sees of a server."""

    id: int
    era: EraName
    state: str = Field(description="new, ok, or the code of the failure the last poll ended with.", examples=["ok"])
    protocol_version: str | None = Field(default=None, examples=["2026-07-28"])
    server_info: Any = None
    list_changed_declared: bool | None = None
    tool_count: int | None = None
    ttl_ms: int | None = Field(default=None, description="How long clients may keep the list, by the server's word.")
    cache_scope: str | None = Field(default=None, description="public: shared caches may keep it, too.")
    last_poll_at: datetime | None = None
    next_due_at: datetime | None = None
    failing_since: datetime | None = None
    last_error: Failure | None = None


class ServerOut(BaseModel):
    """A watched server. Secrets are write-only: only the names of their headers are shown."""

    id: int
    name: str
    url: str = Field(description="Empty for a pushed server.")
    pushed: bool = Field(description="Its snapshots are handed in by an agent; driftwatch polls nothing.")
    owner: str | None
    tags: list[str]
    interval_seconds: int
    eras: Literal["auto"] | list[EraName]
    listen: str
    mode: str
    transitive: bool
    state: str = Field(examples=["active"])
    headers_set: list[str]
    credential: CredentialOut | None
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
    interval_seconds: Seconds | None = None
    tags: list[Tag] = Field(default_factory=list, max_length=50)
    owner: Text | None = Field(default=None, max_length=200)
    force: Flag = False


class AskedOut(BaseModel):
    """Polls were asked for at this time; they begin within a second."""

    asked_at: datetime
