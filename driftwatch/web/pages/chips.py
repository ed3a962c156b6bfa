"""Filters as chips: the values offered, and those behind "more". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: values shown at once of one filter, and behind "more"
SHOWN: Final = 8
MORE: Final = 200


@dataclass(frozen=True, slots=True)
class Filter:
    """One row of chips of the query parameter ``key``."""

    key: str
    values: tuple[str, ...]
    more: tuple[str, ...]


def offer(key: str, values: Sequence[str], chosen: str, *, cap: int = SHOWN) -> Filter:
    """The first values; a chosen one is always among them, so that it can be taken back."""
    first = list(values[:cap])
    if chosen and chosen not in first:
        first = [chosen, *first[: cap - 1]]
    return Filter(key, tuple(first), tuple(value for value in values if value not in first)[:MORE])


def folded(key: str, values: Sequence[str], chosen: str) -> Filter:
    """All values behind the filter's name, but for a chosen one."""
    return offer(key, values, chosen, cap=1 if chosen else 0)


def label(text: str) -> str:
    """A tag or an owner from a URL as it can be stored: Postgres keeps no NUL."""
    return text.replace("\x00", "")[:200]
