"""Tables of the scheduler room: the hot row per profile, and what polls came to."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Column, Date, DateTime, ForeignKey, Identity, Index, LargeBinary, Text, Uuid, func
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText, JsonText


class ProfileState(SQLModel, table=True):
    """The hot row of a profile: when it is due, who holds it, what the last poll saw.

    ``state`` is ``new`` before the first complete poll, ``ok`` after one, else the code of the WireError or
    CaptureError that the last poll ended with. ``claim_token`` is the right to poll: one poll of a profile in
    flight, ever.
    """

    __tablename__ = "profile_state"
    __table_args__ = (
        Index("ix_profile_state_due", "next_due_at"),
        {"postgresql_with": {"fillfactor": 70}},
    )

    profile_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("profile.id", ondelete="CASCADE"), primary_key=True)
    )
    host: str = Field(sa_column=Column(Text, nullable=False))  # host:port; a batch keeps a host together
    next_due_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True))
    )  # None: paused or pushed
    due_reason: str = Field(default="schedule")  # schedule | confirm | check-now | notification | first
    claim_token: UUID | None = Field(default=None, sa_column=Column(Uuid))
    claimed_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    session: bytes | None = Field(default=None, sa_column=Column(LargeBinary))  # encrypted legacy session
    last_complete_sent_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_poll_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    body_sha256: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    fingerprint: bytes | None = Field(default=None, sa_column=Column(LargeBinary))  # order-independent
    said_sha256: bytes | None = Field(default=None, sa_column=Column(LargeBinary))  # capture.said, as it is believed
    # the order of names at the last poll that was looked at, and how often it moved while the tools were the same:
    # within a day each, counted anew after a day of rest
    list_order: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    order_moves: int = Field(default=0)
    order_moved_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    protocol_version: str | None = Field(default=None, sa_column=Column(Text))
    server_info: Any = Field(default=None, sa_column=Column(JsonText))
    instructions: str | None = Field(default=None, sa_column=Column(EscapedText))  # a kept session never repeats them
    capabilities: Any = Field(default=None, sa_column=Column(JsonText))
    list_changed_declared: bool | None = Field(default=None)
    ttl_ms: int | None = Field(default=None, sa_column=Column(BigInteger))
    cache_scope: str | None = Field(default=None)
    tool_count: int | None = Field(default=None)
    polls_survived: int = Field(default=0)  # polls the kept session has survived (restart evidence needs >= 3)
    state: str = Field(default="new", sa_column=Column(Text, nullable=False, server_default="new"))
    failures: int = Field(default=0)
    failing_since: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_error: Any = Field(default=None, sa_column=Column(JsonText))  # {code, message, hint, status?, ...}
    duration_ms: float | None = Field(default=None)
    # the last list_changed that is followed up: looks are due 0, 2, 10 and 30 s after it
    follow_from: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    # until then the server notifies more often than it changes, and its announcements are weak evidence
    noisy_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class PushedSnapshot(SQLModel, table=True):
    """A snapshot that was pushed, and what was answered: a repetition gets the same answer and does nothing more."""

    __tablename__ = "pushed_snapshot"
    __table_args__ = (Index("ix_pushed_snapshot_received", "server_id", "received_at"),)

    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id", ondelete="CASCADE"), primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))  # the sender's own
    received_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    answer: Any = Field(sa_column=Column(JsonText, nullable=False))


class PollEvent(SQLModel, table=True):
    """A change of a profile's poll state (ok -> timeout -> ok). Polls that change nothing leave no row."""

    __tablename__ = "poll_event"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    profile_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("profile.id", ondelete="CASCADE"), nullable=False, index=True)
    )
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    outcome: str = Field(sa_column=Column(Text, nullable=False))
    detail: Any = Field(default=None, sa_column=Column(JsonText))


class PollRollup(SQLModel, table=True):
    """Polls of a profile on one day (UTC), counted."""

    __tablename__ = "poll_rollup"

    profile_id: int = Field(
        sa_column=Column(BigInteger, ForeignKey("profile.id", ondelete="CASCADE"), primary_key=True)
    )
    day: date = Field(sa_column=Column(Date, primary_key=True))
    polls: int = Field(default=0)
    unchanged: int = Field(default=0)
    errors: int = Field(default=0)
    ms_sum: float = Field(default=0.0)
    ms_max: float = Field(default=0.0)
