"""Keyset cursors: opaque to callers, an id to us."""

from __future__ import annotations

import base64
import binascii

from driftwatch.errors import InputError

MAX_DIGITS = 18  # a bigint has at most 19; ids never get there


class BadCursorError(InputError):
    """A cursor that we did not make."""

    code = "bad-cursor"


def encode(last_id: int | None) -> str | None:
    """The cursor that continues after an id; None stays None."""
    return None if last_id is None else base64.urlsafe_b64encode(f"v1:{last_id}".encode()).decode().rstrip("=")


def decode(cursor: str | None) -> int | None:
    """The id a cursor stands for. Raises BadCursorError."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeError):
        text = ""
    version, _, number = text.partition(":")
    if version != "v1" or not number.isdecimal() or len(number) > MAX_DIGITS:
        raise BadCursorError("this cursor was not made by this API", hint="pass `next` of an earlier page as it is")
    return int(number)
