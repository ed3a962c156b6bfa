"""A limit on failed logins, per client address. In memory: it slows guessing, it is no account of it."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from driftwatch.errors import InputError


class TooManyAttemptsError(InputError):
    """Too many failed logins from one address."""

    code = "too-many-attempts"
    status = 429


class Throttle:
    """At most ``limit`` failures in ``seconds`` from one address; remembers at most ``capacity`` addresses."""

    def __init__(
        self,
        limit: int = 10,
        seconds: float = 60,
        capacity: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit, self._seconds, self._capacity, self._clock = limit, seconds, capacity, clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise TooManyAttemptsError while the address is over the limit."""
        failures = self._failures.get(address)
        if failures is None:
            return
        while failures and self._clock() - failures[0] > self._seconds:
            failures.popleft()
        if len(failures) >= self._limit:
            raise TooManyAttemptsError(
                "too many failed logins from this address", hint=f"wait {int(self._seconds)} s and try again"
            )

    def failed(self, address: str) -> None:
        """Count a failure."""
        failures = self._failures.setdefault(address, deque(maxlen=self._limit))
        failures.append(self._clock())
        self._failures.move_to_end(address)
        while len(self._failures) > self._capacity:
            self._failures.popitem(last=False)
