"""Tables of what was observed around changes: notifications, streams, restarts, and the judgements made from them."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity, Index, Text, func, text
from sqlmodel import Field, SQLModel

from driftwatch.db.types import JsonText


class Notification(SQLModel, table=True):
    """A notifications/tools/list_changed that reached us.

    ``spent_by``: the changeset it explained. ``spent_at`` without it: every look that followed saw the old list.
    """

    __table_args__ = (
        Index("ix_notification_profile_at", "profile_id", "at"),
        Index("ix_notification_spent_by", "spent_by", postgresql_where=text("spent_by IS NOT NULL")),
        Index("ix_notification_unspent", "profile_id", "at", postgresql_where=text("spent_at IS NULL")),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False))
    at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    source: str = Field(sa_column=Column(Text, nullable=False))  # stream | reply | start-up
    spent_by: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("changeset.id")))
    spent_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class StreamInterval(SQLModel, table=True):
    """A held change stream, from its acknowledgement to the last byte received.

    ``ended_why``: finished, closed or broken by the server; recycled, silent, draining, … where we let it go.
    """

    __tablename__ = "stream_interval"
    __table_args__ = (Index("ix_stream_interval_profile", "profile_id", "acked"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False))
    acked: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    verified_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    ended_by: str = Field(default="open")  # open | us | server
    ended_why: str | None = Field(default=None, sa_column=Column(Text))


class Listening(SQLModel, table=True):
    """From when on we could, or could not, listen to a profile; a row only when that changes.

    ``state``: ok | cannot-deliver | limit | off; ``reason``: why the server cannot deliver, or why we do not listen.
    """

    __table_args__ = (Index("ix_listening_profile", "profile_id", "at"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False))
    at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    state: str = Field(sa_column=Column(Text, nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))


class RestartEvidence(SQLModel, table=True):
    """Something that speaks for a restart: refused, http-502, http-503, session-lost, server-info-changed."""

    __tablename__ = "restart_evidence"
    __table_args__ = (Index("ix_restart_profile_at", "profile_id", "at"),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(sa_column=Column(BigInteger, ForeignKey("profile.id"), nullable=False))
    at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    kind: str = Field(sa_column=Column(Text, nullable=False))
    detail: Any = Field(default=None, sa_column=Column(JsonText))


class JudgementRow(SQLModel, table=True):
    """One answer of announcement.judge about a change, with the evidence it was made from. Append only."""

    __tablename__ = "judgement"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    change_id: int = Field(sa_column=Column(BigInteger, ForeignKey("change.id"), nullable=False, index=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    announcement: str = Field(sa_column=Column(Text, nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))
    fact: str | None = Field(default=None, sa_column=Column(Text))
    rule: int = Field()  # which of the seven rows of announcement.md decided
    evidence: Any = Field(sa_column=Column(JsonText, nullable=False))
