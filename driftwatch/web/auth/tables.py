"""Tables of authentication and of the audit log."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, Identity, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, SQLModel

from driftwatch.db.types import JsonText


class ApiToken(SQLModel, table=True):
    """A bearer token ``dw_…``; only its sha256 is stored."""

    __tablename__ = "api_token"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    name: str = Field(sa_column=Column(Text, nullable=False))
    prefix: str = Field(sa_column=Column(Text, nullable=False))
    sha256: bytes = Field(sa_column=Column(LargeBinary, nullable=False, unique=True))
    scopes: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'")))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    expires_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class LoginLink(SQLModel, table=True):
    """A login link that works once."""

    __tablename__ = "login_link"

    sha256: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    expires_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class AuditEntry(SQLModel, table=True):
    """A write and who made it. Append only: a trigger refuses update, delete and truncate."""

    __tablename__ = "audit_log"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    actor: str = Field(sa_column=Column(Text, nullable=False))
    action: str = Field(sa_column=Column(Text, nullable=False))
    object: str = Field(sa_column=Column(Text, nullable=False))
    before: Any = Field(default=None, sa_column=Column(JsonText))
    after: Any = Field(default=None, sa_column=Column(JsonText))
    request_id: str | None = Field(default=None, sa_column=Column(Text))
