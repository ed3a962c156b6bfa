"""The search for a witness: candidates in order of likelihood, each asked of both validators, the best one kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.gate import Gate
from driftwatch.classify.normal import Normal
from driftwatch.classify.witness.candidates import Candidates

#: after a proof this many candidates still try to refute it
REFUTING: Final = 150
_AFTER_FIRST: Final = 400


@dataclass(frozen=True, slots=True)
class Found:
    """A value that ``inside`` accepts and ``outside`` refuses. ``rank`` 0: nothing better can be found."""

    value: Any
    rank: int


@dataclass(slots=True)
class Effort:
    """What a search may cost, in candidates and seconds of wall time."""

    steps: int
    seconds: float

    def clock(self) -> Callable[[], bool]:
        """A function that says whether there is effort left; each call is one step."""
        deadline = time.monotonic() + self.seconds
        left = self.steps

        def more() -> bool:
            nonlocal left
            left -= 1
            return left >= 0 and (left % 32 != 0 or time.monotonic() < deadline)

        return more


def search(
    inside: Normal,
    outside: Normal,
    gates: tuple[Gate, Gate],
    effort: Effort,
    *,
    rank: Callable[[Any], int],
    difference: Normal | None = None,
) -> Found | None:
    """The best witness within ``effort``; ``difference``: a schema of exactly the values looked for, where known."""
    more = effort.clock()
    best: Found | None = None
    accepting, refusing = gates
    for value in _candidates(inside, outside, difference):
        if not more():
            break
        if not refusing.refuses(value) or not accepting.accepts(value):
            continue
        found = Found(value, rank(value))
        if best is None:
            more = Effort(min(effort.steps, _AFTER_FIRST), effort.seconds).clock()
        if best is None or found.rank < best.rank:
            best = found
        if best.rank == 0:
            break
    return best


def _candidates(inside: Normal, outside: Normal, difference: Normal | None) -> Iterator[Any]:
    # Plain objects and rich ones in turn: a witness may need exactly the required members, or one beside them.
    plain = Candidates(inside, outside).whole()
    rich = Candidates(inside, outside, rich=True).whole()
    sources = [plain, rich]
    if difference is not None:
        sources.append(Candidates(difference, outside).whole())
    return _fresh(chain(_in_turn(sources), Candidates(outside, inside).whole()))


def _in_turn(sources: list[Iterator[Any]]) -> Iterator[Any]:
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)


def _fresh(values: Iterator[Any]) -> Iterator[Any]:
    seen: set[str] = set()
    for value in values:
        key = exact.key(value)
        if key not in seen:
            seen.add(key)
            yield value
