"""Tables of the servers room."""

# No ``from __future__ import annotations`` here: SQLModel reads the annotations at class creation.
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, DateTime, ForeignKey, Identity, Index, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, SQLModel

from driftwatch.db.types import JsonText


class Server(SQLModel, table=True):
    """A registered MCP endpoint. ``state`` is active, paused or deleted (a tombstone until purged).

    ``pushed``: nobody polls it, because driftwatch cannot reach it; an agent hands in what it sees. Its URL is empty.
    """

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    name: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    url: str = Field(sa_column=Column(Text, nullable=False))
    owner: str | None = Field(default=None, sa_column=Column(Text))
    tags: list[str] = Field(
        default_factory=list, sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'"))
    )
    interval_seconds: int = Field(default=300)
    eras: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Text)))  # None: every era found
    listen: str = Field(default="auto")  # auto | off
    mode: str = Field(default="follow")  # follow | pinned
    transitive: bool = Field(  # severity also against the versions between the baseline and now
        default=False, sa_column=Column(Boolean, nullable=False, server_default=text("false"))
    )
    pushed: bool = Field(default=False, sa_column=Column(Boolean, nullable=False, server_default=text("false")))
    state: str = Field(default="active")  # active | paused | deleted
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    updated_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    deleted_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    detected_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    detection: Any = Field(default=None, sa_column=Column(JsonText))  # what the last era detection found


class Credential(SQLModel, table=True):
    """What lets us into a server: encrypted, but for what is no secret (kind, header names, client id, issuer …).

    ``token`` is the sealed access token of the OAuth kinds; ``failed_at``: since when no new one can be had.
    """

    __table_args__ = (Index("ux_credential_server_name", "server_id", "name", unique=True),)

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False, index=True))
    name: str = Field(default="default", sa_column=Column(Text, nullable=False))
    kind: str = Field(default="headers")
    header_names: list[str] = Field(
        default_factory=list, sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'"))
    )
    settings: Any = Field(default=None, sa_column=Column(JsonText))
    ciphertext: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    key_id: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    token: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    token_expires_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    renewed_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    granted_scopes: list[str] = Field(
        default_factory=list, sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'"))
    )
    failed_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    failure: Any = Field(default=None, sa_column=Column(JsonText))  # {code, message, hint}


class Profile(SQLModel, table=True):
    """What one kind of client sees of a server. History is per profile; a closed one keeps its history."""

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    server_id: int = Field(sa_column=Column(BigInteger, ForeignKey("server.id"), nullable=False, index=True))
    era: str = Field()  # legacy | modern
    credential_id: int | None = Field(
        default=None, sa_column=Column(BigInteger, ForeignKey("credential.id", ondelete="SET NULL"))
    )
    scopes: list[str] = Field(
        default_factory=list, sa_column=Column(ARRAY(Text), nullable=False, server_default=text("'{}'"))
    )
    client_capabilities: Any = Field(default_factory=dict, sa_column=Column(JsonText, nullable=False))
    succeeds_profile_id: int | None = Field(default=None, sa_column=Column(BigInteger, ForeignKey("profile.id")))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
    closed_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
