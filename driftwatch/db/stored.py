"""What a stored row certainly has; the tables type it as optional because a new row has none yet."""

from __future__ import annotations

from datetime import datetime


def row_id(value: int | None) -> int:
    """The id the database gave. Raises TypeError for a row that was not stored."""
    if value is None:
        raise TypeError("a stored row has an id")
    return value


def when(value: datetime | None) -> datetime:
    """A time the database filled in. Raises TypeError for a row that was not stored."""
    if value is None:
        raise TypeError("a stored row has a time")
    return value
