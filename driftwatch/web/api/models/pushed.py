"""Pushed snapshots: what a sender states about one walk of tools/list, and what it is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from driftwatch.web.api.models.base import EraName, Strict, Tag

Kebab = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9-]*$")]

MOST_EVIDENCE = 1000


class PushedServerIn(Strict):
    """A server whose snapshots will be pushed. An existing one of this name stays as it is."""

    name: str = Field(min_length=1, max_length=200)
    interval_seconds: int | None = Field(
        default=None, gt=0, le=86_400, description="How often a snapshot is expected; default 300."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=50)
    owner: str | None = Field(default=None, max_length=200)
    mode: Literal["follow", "pinned"] = "follow"


class PushedServerOut(BaseModel):
    """A pushed server, and driftwatch's time: a sender measures its clock by it."""

    server_id: int
    interval_seconds: int
    created: bool
    now: datetime


class SpanIn(BaseModel):
    """A stretch of time on the sender's clock."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    start: AwareDatetime = Field(alias="from", description="Just before the first request of the walk was sent.")
    end: AwareDatetime = Field(alias="to", description="When its last page had arrived.")


class ClockIn(Strict):
    """The sender's clock as it measured it: driftwatch's time is the sender's plus ``offset_seconds``."""

    offset_seconds: float = Field(ge=-4e9, le=4e9)
    error_seconds: float = Field(ge=0, le=60, description="The offset is right within this.")


class StatedServerIn(Strict):
    """What the server says of itself. What is left out stays as it was known; capabilities never stated are unknown."""

    protocol_version: str | None = Field(default=None, max_length=40, pattern=r"^[\x20-\x7e]+$")
    server_info: dict[str, Any] | None = None
    capabilities: dict[str, Any] | None = None
    instructions: str | None = None


class CoverageIn(BaseModel):
    """A stretch in which a list_changed would have been heard. State the whole of it again while it grows."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    start: AwareDatetime = Field(alias="from", description="When the server could first have announced something.")
    until: AwareDatetime = Field(description="The last moment at which the session was surely alive.")
    ended_by: Literal["open", "us", "server"] = "open"
    why: Kebab | None = None


class RestartIn(Strict):
    """Something that speaks for a restart of the server."""

    at: AwareDatetime
    kind: Kebab = Field(examples=["process-exited", "process-started", "refused", "session-lost"])
    detail: str | None = Field(default=None, max_length=500)


class ListeningIn(Strict):
    """Why nothing can be heard, where nothing can."""

    state: Literal["cannot-deliver", "off"]
    reason: Kebab | None = None


class SnapshotHead(Strict):
    """Everything about a walk but its pages."""

    id: str = Field(
        min_length=1,
        max_length=100,
        pattern=r"^[\x21-\x7e]+$",
        description="Yours, and the same over repetitions: a repeated snapshot counts once.",
    )
    era: EraName
    sent_at: AwareDatetime = Field(description="Your clock as you send this; every other time is by it.")
    clock: ClockIn | None = Field(default=None, description="Left out: the offset is taken from sent_at, within 5 s.")
    window: SpanIn
    fresh_connection: bool = Field(
        default=False,
        description="The walk reused no connection of the one before. A stdio command is one process: always true.",
    )
    server: StatedServerIn = StatedServerIn()
    coverage: list[CoverageIn] = Field(default_factory=list, max_length=MOST_EVIDENCE)
    notifications: list[AwareDatetime] = Field(
        default_factory=list, max_length=MOST_EVIDENCE, description="When a tools/list_changed arrived."
    )
    restarts: list[RestartIn] = Field(default_factory=list, max_length=MOST_EVIDENCE)
    listening: ListeningIn | None = None


class SnapshotIn(SnapshotHead):
    """One complete walk of tools/list."""

    pages: list[dict[str, Any]] = Field(
        min_length=1,
        description="The result object of every page, in order, byte for byte as the server sent it: digests are "
        "made from these bytes, so do not parse and write them again.",
    )


class TakenOut(BaseModel):
    """What became of a snapshot."""

    outcome: Literal["baseline", "changed", "unchanged", "doubted", "discarded"] = Field(
        description="doubted: a difference that another look must confirm; discarded: older than what is known."
    )
    profile_id: int
    changes: list[int] = Field(description="Changes that are believed now.")
    look_again_seconds: float | None = Field(
        description="Walk again after this long, on a new connection where there is one; null: at the usual time."
    )
    repeated: bool = Field(description="This id came before; the answer is the one given then.")
    interval_seconds: int
    now: datetime


def without_references(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its ``$defs`` put where they are referred to: it can then stand anywhere in another document."""
    defined = schema.get("$defs", {})

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            named = defined[node["$ref"].removeprefix("#/$defs/")]
            return put({**named, **{key: value for key, value in node.items() if key != "$ref"}})
        return {key: put(value) for key, value in node.items() if key != "$defs"}

    whole: dict[str, Any] = put(schema)
    return whole
