"""Shapes that several answers share."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final, Generic, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

T = TypeVar("T")

#: ids are Postgres bigints that every JSON reader can hold; Postgres text holds no NUL
LARGEST_ID: Final = 2**53 - 1
NO_NUL: Final = r"^[^\x00]*$"

EraName = Literal["legacy", "modern"]
Verdict = Literal["compatible", "breaking", "undecided", "invalid"]
Severity = Literal["critical", "warning", "notice"]
Announcement = Literal["announced", "silent", "unknown", "pending"]

#: of bodies: a number is no text, and no truth value either
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Seconds = Annotated[int, Field(strict=True, gt=0, le=86_400)]
Flag = Annotated[bool, Field(strict=True)]
Text = Annotated[str, StringConstraints(pattern=NO_NUL)]


def _written(given: object) -> object:
    """Pydantic takes numbers for times since 1970; nobody who writes one means that."""
    if isinstance(given, str) and not re.match(r"\d{4}-\d{2}-\d{2}[Tt ]", given):
        raise ValueError("write the date and the time as RFC 3339 does, for example 2026-11-30T14:02:00Z")
    if not isinstance(given, (str, datetime)):
        raise ValueError("a time is written as text")  # noqa: TRY004 - pydantic turns a ValueError into its own error
    return given


Moment = Annotated[AwareDatetime, BeforeValidator(_written)]
Tag = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:/-]+$")]
Name = Annotated[Text, Field(min_length=1, max_length=100, pattern=r"\S")]
Reason = Annotated[Text, Field(max_length=2000)] | None


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
