"""How long to leave a failing server alone, and how regular polls are spread. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

#: the first wait after a failure; a quick second look narrows the window when a server only restarted
FIRST_WAIT: Final = 15.0
LONGEST_WAIT: Final = 3600.0
#: a server may ask for more than our own longest wait, but not to be forgotten
LONGEST_RETRY_AFTER: Final = 86_400.0

Random = Callable[[], float]
"""A source of numbers in [0, 1)."""


def failure_wait(failures: int, *, interval: float, retry_after: float | None, random: Random) -> float:
    """Seconds until a profile that failed ``failures`` times in a row (at least 1) is polled again.

    Doubles from the smaller of the interval and 15 s up to one hour (or the interval, when that is longer), with a
    quarter of jitter downwards so that a fleet does not return in step. Never earlier than the server's Retry-After.
    """
    cap = max(LONGEST_WAIT, interval)
    doublings = min(failures - 1, 30)
    wait = min(cap, min(interval, FIRST_WAIT) * 2.0**doublings) * (1 - random() / 4)
    return max(wait, min(retry_after or 0.0, LONGEST_RETRY_AFTER))


def regular_wait(interval: float, *, random: Random) -> float:
    """Seconds until the next regular poll: the interval, five per cent either way."""
    return interval * (0.95 + random() / 10)
