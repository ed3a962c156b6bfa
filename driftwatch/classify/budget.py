"""The bound on work: every expansion is counted and the clock is looked at, so that nothing hangs."""

from __future__ import annotations

from time import perf_counter
from typing import Final

_CLOCK_EVERY: Final = 64


class BudgetExceeded(Exception):  # noqa: N818 - not an error: the answer is then "undecided, budget"
    """The work allowed is used up."""


class Budget:
    """Steps and seconds that may still be spent. ``steps`` counts what was spent."""

    __slots__ = ("_deadline", "_next_look", "max_steps", "steps")

    def __init__(self, max_steps: int, max_seconds: float) -> None:
        self.steps = 0
        self.max_steps = max_steps
        self._deadline = perf_counter() + max_seconds
        self._next_look = _CLOCK_EVERY

    def spend(self, steps: int = 1) -> None:
        """Count work done. Raises :class:`BudgetExceeded`."""
        self.steps += steps
        if self.steps > self.max_steps:
            raise BudgetExceeded
        if self.steps >= self._next_look:
            self._next_look = self.steps + _CLOCK_EVERY
            if perf_counter() > self._deadline:
                raise BudgetExceeded
