"""Tables of what people asked not to hear, and of the policy lines they changed."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity, Index, Text, func
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText


class Mute(SQLModel, table=True):
    """No reminder and no repetition of known drift until ``until``. The scope is the narrowest of alert, tool, server.

    A new change ends it early: a mute hides what people know, never what they do not know yet.
    """

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False, index=True))
    alert_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("alert.id", ondelete="CASCADE"), index=True)
    )
    tool: str | None = Field(default=None, sa_column=Column(EscapedText))
    until: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    ended_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    ended_by: str | None = Field(default=None, sa_column=Column(Text))  # a person, or "a new change"


class IgnoreRule(SQLModel, table=True):
    """Findings nobody wants to hear of. Every field that is None is open; at least one is set."""

    __tablename__ = "ignore_rule"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("server.id"), index=True))
    tool: str | None = Field(default=None, sa_column=Column(EscapedText))
    rule: str | None = Field(default=None, sa_column=Column(Text))
    pointer: str | None = Field(default=None, sa_column=Column(EscapedText))
    reason: str = Field(sa_column=Column(Text, nullable=False))
    expires_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    ended_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    ended_by: str | None = Field(default=None, sa_column=Column(Text))


class MaintenanceWindow(SQLModel, table=True):
    """Planned work: alerts open, messages wait until it is over. For a server, a tag, or everything (both None)."""

    __tablename__ = "maintenance_window"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("server.id"), index=True))
    tag: str | None = Field(default=None, sa_column=Column(Text))
    starts_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    ends_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )


class PolicyChange(SQLModel, table=True):
    """A line of the policy with another outcome or severity: for a server, a tag, or everything (both None)."""

    __tablename__ = "policy_change"
    __table_args__ = (
        Index("ux_policy_change", "server_id", "tag", "line", unique=True, postgresql_nulls_not_distinct=True),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("server.id"), index=True))
    tag: str | None = Field(default=None, sa_column=Column(Text))
    line: str = Field(sa_column=Column(Text, nullable=False))
    outcome: str = Field(sa_column=Column(Text, nullable=False))  # alert | summary | history
    severity: str | None = Field(default=None, sa_column=Column(Text))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
