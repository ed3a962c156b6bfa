"""Tables of the alerts room."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText, JsonText


class Alert(SQLModel, table=True):
    """What people handle: one per changeset (kind drift), or per not-watching episode of a server.

    States: open -> acknowledged -> accepted | settled | reverted (drift), resolved (not-watching).
    """

    __table_args__ = (
        UniqueConstraint("changeset_id"),
        Index(
            "ux_alert_not_watching",
            "server_id",
            unique=True,
            postgresql_where=text("kind = 'not-watching' AND closed_at IS NULL"),
        ),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    kind: str = Field()  # drift | not-watching | contract
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False, index=True))
    changeset_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("changeset.id")))
    state: str = Field(default="open", sa_column=Column(Text, nullable=False, server_default="open", index=True))
    severity: str = Field()  # critical | warning | notice
    title: str = Field(sa_column=Column(EscapedText, nullable=False))
    opened_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    settles_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    closed_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    handled_by: str | None = Field(default=None, sa_column=Column(Text))
    held: str | None = Field(default=None, sa_column=Column(Text))  # why nobody was told yet: maintenance | rate
    held_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class AlertEvent(SQLModel, table=True):
    """Something that happened to an alert.

    opened, updated, reopened, seen-again, amended, reminded, held, told,
    acknowledged, accepted, muted, settled, reverted, resolved.
    """

    __tablename__ = "alert_event"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    alert_id: int = Field(sa_column=Column(BigInteger, ForeignKey("alert.id"), nullable=False, index=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    kind: str = Field()
    actor: str = Field(default="driftwatch", sa_column=Column(Text, nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))
    detail: Any = Field(default=None, sa_column=Column(JsonText))


class Decision(SQLModel, table=True):
    """Why a change did or did not alert: the policy line that matched, and the path to it. The newest row speaks.

    ``alert_id`` is the alert that the change belongs to: also set on the quiet changes of an alerting changeset.
    """

    __tablename__ = "alert_decision"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    change_id: int = Field(sa_column=Column(BigInteger, ForeignKey("change.id"), nullable=False, index=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    outcome: str = Field()  # alert | summary | history
    line: str = Field(sa_column=Column(Text, nullable=False))  # id of the policy line
    severity: str | None = Field(default=None)
    path: Any = Field(sa_column=Column(JsonText, nullable=False))  # [{"line", "matched", "words"}]
    alert_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("alert.id"), index=True))


class Acceptance(SQLModel, table=True):
    """What people (or the follow policy) accepted for a tool. The newest row is the baseline."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    tool_id: int = Field(sa_column=Column(BigInteger, ForeignKey("tool.id"), nullable=False, index=True))
    version_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("tool_version.id"), index=True)
    )
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    by: str = Field(sa_column=Column(Text, nullable=False))
    mode: str = Field()  # first | follow | settled | person
    reason: str | None = Field(default=None, sa_column=Column(Text))


class Channel(SQLModel, table=True):
    """Where deliveries go. ``config`` is encrypted: a Slack webhook URL is a secret."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    name: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    kind: str = Field()  # slack-webhook | slack-app | webhook
    config: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    state: str = Field(default="enabled")  # enabled | disabled | deleted
    disabled_reason: str | None = Field(default=None, sa_column=Column(Text))
    paused_until: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True))
    )  # it said Retry-After
    accepts: Any = Field(default=None, sa_column=Column(JsonText))  # alerts.routes.Match; None: everything
    refusals: int = Field(default=0)  # messages refused for good since the last one that was taken
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )


class Outbox(SQLModel, table=True):
    """One delivery to be made, written in the transaction that wrote the alert event.

    States: queued -> leased -> delivered | dead. ``ordering_key`` (channel:alert) is delivered head first.
    """

    __table_args__ = (
        Index("ix_outbox_next", "next_try_at", postgresql_where=text("state IN ('queued', 'leased')")),
        Index("ix_outbox_ordering", "ordering_key", "id"),
        Index("ix_outbox_server", "server_id", "created_at"),
        Index("ix_outbox_channel", "channel_id", "id"),
    )

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    dedupe_key: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    ordering_key: str = Field(sa_column=Column(Text, nullable=False))
    channel_id: int = Field(sa_column=Column(BigInteger, ForeignKey("channel.id"), nullable=False))
    alert_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("alert.id"), index=True))
    event: str = Field(sa_column=Column(Text, nullable=False))
    payload: Any = Field(sa_column=Column(JsonText, nullable=False))  # alerts.message.Message, not yet rendered
    data: Any = Field(default=None, sa_column=Column(JsonText))  # the typed event, for channels that take data
    action: str = Field(default="post")  # post | reply | update: what a channel with threads does with it
    route: str | None = Field(default=None, sa_column=Column(Text))  # why it goes to this channel
    server_id: int | None = Field(default=None, sa_column=Column(BigInteger))
    form: str = Field(default="full")  # full | minimal (after the channel refused the full one)
    state: str = Field(default="queued", sa_column=Column(Text, nullable=False, server_default="queued"))
    attempts: int = Field(default=0)
    next_try_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    lease_token: UUID | None = Field(default=None, sa_column=Column(Uuid))
    leased_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    delivered_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class DeliveryAttempt(SQLModel, table=True):
    """What a channel answered to one attempt."""

    __tablename__ = "delivery_attempt"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    outbox_id: int = Field(sa_column=Column(BigInteger, ForeignKey("outbox.id"), nullable=False, index=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    outcome: str = Field()  # delivered | transient | message-permanent | channel-permanent
    status: int | None = Field(default=None)
    body: str | None = Field(default=None, sa_column=Column(EscapedText))  # first 2048 characters
    error: str | None = Field(default=None, sa_column=Column(EscapedText))
    duration_ms: float | None = Field(default=None)


class DailySummary(SQLModel, table=True):
    """A day (UTC) whose summary has been put into the outbox."""

    __tablename__ = "daily_summary"

    day: date = Field(sa_column=Column(Date, primary_key=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    changes: int = Field(default=0)
