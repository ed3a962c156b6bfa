"""Keyset cursors: opaque to callers, the place in a list to us. The patterns are all that is accepted."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Final, Protocol

from driftwatch.errors import InputError

#: an id; one more than fifteen digits would not fit every JSON reader
PATTERN: Final = r"^v1\.[1-9][0-9]{0,14}$"
#: a rank and a name in base64
PLACE: Final = r"^v2\.[0-9]\.(?:[A-Za-z0-9_-]{4}){0,300}(?:[A-Za-z0-9_-]{2,3})?$"


class BadCursorError(InputError):
    """A cursor that we did not make."""

    code = "bad-cursor"


def encode(last_id: int | None) -> str | None:
    """The cursor that continues after an id; None stays None."""
    return None if last_id is None else f"v1.{last_id}"


def decode(cursor: str | None) -> int | None:
    """The id a cursor stands for. Raises BadCursorError."""
    return None if cursor is None else int(_checked(cursor, PATTERN).removeprefix("v1."))


class Identified(Protocol):
    """Something with an id."""

    @property
    def id(self) -> int:
        """Its key."""
        ...


def after(found: Sequence[Identified], limit: int) -> str | None:
    """The cursor behind the first ``limit`` of the rows found; None when there are no more than that."""
    return encode(found[limit - 1].id) if len(found) > limit else None


def encode_place(rank: int, name: str) -> str:
    """The cursor that continues after (rank, name) of a list in that order."""
    coded = base64.urlsafe_b64encode(name.encode("utf-8", "surrogatepass")).decode().rstrip("=")
    return f"v2.{rank}.{coded}"


def decode_place(cursor: str | None) -> tuple[int, str] | None:
    """The (rank, name) a cursor stands for. Raises BadCursorError."""
    if cursor is None:
        return None
    _, rank, coded = _checked(cursor, PLACE).split(".")
    name = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    return int(rank), name.decode("utf-8", "replace")


def _checked(cursor: str, pattern: str) -> str:
    if re.fullmatch(pattern, cursor, re.ASCII) is None:
        raise BadCursorError("this cursor was not made by this API", hint="pass `next` of an earlier page as it is")
    return cursor
