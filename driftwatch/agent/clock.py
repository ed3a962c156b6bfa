"""The agent's clock, which nobody can set back, and how far driftwatch's is from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from driftwatch.db.clock import DRIFT, steady_seconds

#: a measurement worse than this says less than the time of sending itself
WORST_ERROR: Final = 5.0


@dataclass(frozen=True, slots=True)
class Measured:
    """driftwatch's time is the agent's plus ``offset_seconds``, within ``error_seconds``."""

    offset_seconds: float
    error_seconds: float


class AgentClock:
    """The time of day as it was at the start, carried on by a clock that runs steadily."""

    def __init__(self) -> None:
        self._began, self._steady = datetime.now(UTC), steady_seconds()
        self._reading: tuple[float, float, float] | None = None  # offset, error, when

    def now(self) -> datetime:
        """The agent's time."""
        return self._began + timedelta(seconds=steady_seconds() - self._steady)

    def compare(self, before: datetime, theirs: datetime, after: datetime) -> None:
        """Driftwatch read ``theirs`` somewhen between ``before`` and ``after`` of ours."""
        error = (after - before).total_seconds() / 2
        known = self.measured()
        if known is None or error <= known.error_seconds:
            offset = (theirs - before).total_seconds() - error
            self._reading = (offset, error, steady_seconds())

    def measured(self) -> Measured | None:
        """What is known of the difference; it is known less well the longer ago it was measured."""
        if self._reading is None:
            return None
        offset, error, at = self._reading
        error += (steady_seconds() - at) * 2 * DRIFT
        return Measured(offset, error) if error < WORST_ERROR else None
