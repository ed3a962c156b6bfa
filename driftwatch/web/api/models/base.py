"""Shapes that several answers share."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

EraName = Literal["legacy", "modern"]
Verdict = Literal["compatible", "breaking", "undecided", "invalid"]
Announcement = Literal["announced", "silent", "unknown", "pending"]


class Strict(BaseModel):
    """A body in which an unknown field is an error: a typing mistake must not be ignored."""

    model_config = ConfigDict(extra="forbid")


class ChallengeOut(BaseModel):
    """What a server that answered 401 or 403 asks for (its ``WWW-Authenticate``). Texts are the server's."""

    scheme: str = Field(examples=["Bearer"])
    error: str | None = Field(default=None, examples=["invalid_token"])
    description: str | None = None
    scope: str | None = Field(default=None, examples=["tools:read"])
    resource_metadata: str | None = Field(
        default=None, description="Where the server names its authorization servers (RFC 9728)."
    )


class Failure(BaseModel):
    """Why a server could not be read. ``hint`` says what to do next."""

    code: str = Field(examples=["unauthorized"])
    message: str
    hint: str | None = None
    challenge: ChallengeOut | None = None


class WindowOut(BaseModel):
    """The change happened in (start, end]."""

    start: datetime
    end: datetime


class Page(BaseModel, Generic[T]):
    """A page of a list, newest first. Pass ``next`` as ``cursor`` to read on; None: this was the last page."""

    items: list[T]
    next: str | None = None
