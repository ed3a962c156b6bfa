"""Tables of where messages go: routes, the threads of an app; and of how a change stands against what was accepted."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, DateTime, ForeignKey, Identity, Integer, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText, JsonText


class Route(SQLModel, table=True):
    """Which alerts go to which channels. The lowest position that matches decides, unless it ``goes_on``."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    position: int = Field(sa_column=Column(Integer, nullable=False))
    name: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    match: Any = Field(default=None, sa_column=Column(JsonText, nullable=False))  # alerts.routes.Match
    channels: list[int] = Field(
        default_factory=list, sa_column=Column(ARRAY(BigInteger), nullable=False, server_default=text("'{}'"))
    )
    goes_on: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=text("false")))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )


class AlertThread(SQLModel, table=True):
    """The message of an alert in a channel that can edit it: where replies and updates belong."""

    __tablename__ = "alert_thread"

    channel_id: int = Field(sa_column=Column(BigInteger, ForeignKey("channel.id"), primary_key=True))
    alert_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("alert.id", ondelete="CASCADE"), primary_key=True, index=True)
    )
    conversation: str = Field(sa_column=Column(Text, nullable=False))
    ts: str = Field(sa_column=Column(Text, nullable=False))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )


class TransitiveChoice(SQLModel, table=True):
    """Whether a tool is in transitive mode where people chose it for the tool itself, in every profile of its server.

    Without a row the tool does as its server does.
    """

    __tablename__ = "transitive_choice"

    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id", ondelete="CASCADE"), primary_key=True))
    tool: str = Field(sa_column=Column(EscapedText, primary_key=True))
    transitive: bool = Field(sa_column=Column(Boolean, nullable=False))


class BaselineVerdict(SQLModel, table=True):
    """The verdict of baseline -> current, where the baseline is not the version before the change."""

    __tablename__ = "baseline_verdict"

    change_id: int = Field(sa_column=Column(BigInteger, ForeignKey("change.id", ondelete="CASCADE"), primary_key=True))
    from_version_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("tool_version.id", ondelete="CASCADE"), index=True)
    )
    verdict: str = Field(sa_column=Column(Text, nullable=False))
    via: str | None = Field(default=None, sa_column=Column(Text))
    words: str | None = Field(default=None, sa_column=Column(Text))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
