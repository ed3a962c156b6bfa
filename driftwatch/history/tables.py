"""Tables of tool history. Blobs are content-addressed; nothing here is ever overwritten or deleted by a poll."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText, JsonText


class Blob(SQLModel, table=True):
    """Bytes by their sha256. ``enc``: raw | zlib; ``canon_algo``: 0 verbatim, 1 canonical, 2 with kept digits."""

    sha256: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    canon_algo: int = Field(default=1)
    enc: str = Field(default="raw")
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class SnapshotRow(SQLModel, table=True):
    """The whole list of a profile as one poll saw it; a row only when it differs from the last one."""

    __tablename__ = "snapshot"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False, index=True))
    fingerprint: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    first_seen_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    protocol_version: str | None = Field(default=None, sa_column=Column(Text))
    server_info: Any = Field(default=None, sa_column=Column(JsonText))
    instructions: str | None = Field(default=None, sa_column=Column(EscapedText))
    capabilities: Any = Field(default=None, sa_column=Column(JsonText))
    tool_count: int = Field()
    findings: Any = Field(default=None, sa_column=Column(JsonText))  # conformance findings of the list itself


class Tool(SQLModel, table=True):
    """A tool name in one profile. Names are exact strings."""

    __table_args__ = (UniqueConstraint("profile_id", "name"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False))
    name: str = Field(sa_column=Column(EscapedText, nullable=False))


class ToolVersion(SQLModel, table=True):
    """One distinct definition of a tool, numbered from 1. A definition that returns keeps its number."""

    __tablename__ = "tool_version"
    __table_args__ = (UniqueConstraint("tool_id", "definition_sha"), UniqueConstraint("tool_id", "number"))

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    tool_id: int = Field(sa_column=Column(BigInteger, ForeignKey("tool.id"), nullable=False))
    number: int = Field()
    definition_sha: bytes = Field(sa_column=Column(LargeBinary, ForeignKey("blob.sha256"), nullable=False, index=True))
    verbatim_sha: bytes | None = Field(
        default=None, sa_column=Column(LargeBinary, ForeignKey("blob.sha256"), index=True)
    )
    part_shas: Any = Field(sa_column=Column(JsonText, nullable=False))  # {part: hex sha256 of its canonical form}
    semantic_shas: Any = Field(sa_column=Column(JsonText, nullable=False))  # {"input": hex, "output": hex | null}
    invalid: Any = Field(default=None, sa_column=Column(JsonText))  # {code, message, scope} when SDKs refuse it
    findings: Any = Field(default=None, sa_column=Column(JsonText))  # conformance findings
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )


class ToolInterval(SQLModel, table=True):
    """When a version was current. ``version_id`` NULL: the tool was absent. At most one open interval a tool.

    The true start lies in (``window_start``, ``valid_from``].
    """

    __tablename__ = "tool_interval"
    __table_args__ = (
        Index("ux_tool_interval_open", "tool_id", unique=True, postgresql_where=text("valid_to IS NULL")),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    tool_id: int = Field(sa_column=Column(BigInteger, ForeignKey("tool.id"), nullable=False, index=True))
    version_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("tool_version.id"), index=True)
    )
    window_start: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    valid_from: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    valid_to: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class Candidate(SQLModel, table=True):
    """A difference seen but not yet believed: it becomes a change when a new connection confirms it."""

    profile_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("profile.id", ondelete="CASCADE"), primary_key=True)
    )
    tool: str = Field(sa_column=Column(EscapedText, primary_key=True))
    old_sha: bytes | None = Field(default=None, sa_column=Column(LargeBinary))  # None: was absent
    new_sha: bytes | None = Field(default=None, sa_column=Column(LargeBinary))  # None: is absent
    prior_sent_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    first_arrived_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    last_seen_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    sightings: int = Field(default=1)
    returns: int = Field(default=0)  # how often OLD came back since the first sighting
    facts: Any = Field(default=None, sa_column=Column(JsonText))


class Changeset(SQLModel, table=True):
    """All changes of one server, over its profiles, whose windows overlap: what one deploy did."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False, index=True))
    first_window_start: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    last_window_end: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    decided_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))  # alert policy ran


class Change(SQLModel, table=True):
    """One tool's transition. ``state``: recorded -> assessed -> judged.

    Verdict and announcement columns repeat the newest assessment and judgement so that lists can filter on them.
    ``judge_at`` is when the announcement is (re)judged next; NULL when it is final.
    """

    __table_args__ = (
        Index("ix_change_server", "server_id", "id"),
        Index("ix_change_server_recorded", "server_id", "recorded_at"),
        Index("ix_change_tool", "tool_id", "id"),
        Index("ix_change_verdict", "verdict", "id"),
        Index("ix_change_announcement", "announcement", "id"),
        Index("ix_change_verdict_changeset", "verdict", "changeset_id"),
        Index("ix_change_announcement_changeset", "announcement", "changeset_id"),
        Index("ix_change_pending", "id", postgresql_where=text("state <> 'judged'")),
        Index("ix_change_judge", "judge_at", postgresql_where=text("judge_at IS NOT NULL")),
        Index("ix_change_undecided", "changeset_id", postgresql_where=text("decided_at IS NULL")),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    changeset_id: int = Field(sa_column=Column(BigInteger, ForeignKey("changeset.id"), nullable=False, index=True))
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False, index=True))
    tool_id: int = Field(sa_column=Column(BigInteger, ForeignKey("tool.id"), nullable=False))
    kind: str = Field()  # added | removed | changed | restored
    from_version_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("tool_version.id"), index=True)
    )
    to_version_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("tool_version.id"), index=True)
    )
    window_start: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    window_end: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    facts: Any = Field(default_factory=dict, sa_column=Column(JsonText, nullable=False))
    state: str = Field(default="recorded", sa_column=Column(Text, nullable=False, server_default="recorded"))
    recorded_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    verdict: str | None = Field(default=None, sa_column=Column(Text))
    via: str | None = Field(default=None, sa_column=Column(Text))
    part: str | None = Field(default=None, sa_column=Column(Text))  # the worst part
    announcement: str | None = Field(default=None, sa_column=Column(Text))
    announcement_reason: str | None = Field(default=None, sa_column=Column(Text))
    judge_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    decided_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))  # alert policy ran


class Assessment(SQLModel, table=True):
    """One run of the classifier over a change. Append only; the newest one speaks."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    change_id: int = Field(sa_column=Column(BigInteger, ForeignKey("change.id"), nullable=False, index=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    classifier_version: str = Field(sa_column=Column(Text, nullable=False))
    duration_ms: float = Field(default=0.0)


class ChangePart(SQLModel, table=True):
    """One part (input, output, annotations, text, meta, presence) of an assessment, with its verdict and witness."""

    __tablename__ = "change_part"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    assessment_id: int = Field(sa_column=Column(BigInteger, ForeignKey("assessment.id"), nullable=False, index=True))
    part: str = Field()
    verdict: str = Field()
    via: str | None = Field(default=None)
    reason: str | None = Field(default=None, sa_column=Column(EscapedText))
    # {"value": …} | {"absent": true}: the wrapping keeps a witness of JSON null apart from no witness
    witness: Any = Field(default=None, sa_column=Column(JsonText))
    paths: Any = Field(default=None, sa_column=Column(JsonText))  # deepdiff's changed paths, for people
    clients: Any = Field(default=None, sa_column=Column(JsonText))  # which client validators refuse the witness


class Finding(SQLModel, table=True):
    """A rule id at a JSON pointer that explains a part."""

    __table_args__ = (Index("ix_finding_rule_part", "rule", "change_part_id"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    change_part_id: int = Field(sa_column=Column(BigInteger, ForeignKey("change_part.id"), nullable=False, index=True))
    rule: str = Field(sa_column=Column(Text, nullable=False, index=True))
    pointer: str = Field(sa_column=Column(EscapedText, nullable=False))
    level: str = Field()  # breaking | warning | info | annotation
    effect: str = Field()  # widens | narrows | both | none
    message: str = Field(sa_column=Column(EscapedText, nullable=False))  # words for people
    witness: Any = Field(default=None, sa_column=Column(JsonText))
