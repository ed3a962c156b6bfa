"""The search for a witness: candidates in order of likelihood, each asked of both validators, the best one kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.gate import Gate
from driftwatch.classify.keywords import positions
from driftwatch.classify.normal import Normal
from driftwatch.classify.witness import atoms
from driftwatch.classify.witness.candidates import Candidates
from driftwatch.classify.witness.turns import in_turn

#: after a proof this many candidates still try to refute it
REFUTING: Final = 80
#: and after a first witness this many look for a better one
_AFTER_FIRST: Final = 200
_CHEAP: Final = 150


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
    difference: Callable[[], Normal | None] = lambda: None,
) -> Found | None:
    """The best witness within ``effort``.

    ``rank``: 0 for the best kind of witness. ``difference``: makes a schema of exactly the values looked for, where it
    can; it is dear, so it is asked for only when the first candidates fail.
    """
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


def _candidates(inside: Normal, outside: Normal, difference: Callable[[], Normal | None]) -> Iterator[Any]:
    # Plain objects and rich ones in turn: a witness may need exactly the required members, or one beside them.
    own = in_turn([Candidates(inside, outside).whole(), Candidates(inside, outside, rich=True).whole()])
    dear = in_turn([own, _of_difference(difference, outside)])
    values = chain(islice(own, _CHEAP), dear, Candidates(outside, inside).whole())
    return _with_floats(values, inside) if "draft-04" in (inside.dialect, outside.dialect) else values


def _of_difference(difference: Callable[[], Normal | None], outside: Normal) -> Iterator[Any]:
    found = difference()
    if found is not None:
        yield from Candidates(found, outside).whole()


def _with_floats(values: Iterator[Any], inside: Normal) -> Iterator[Any]:
    """Whole numbers also as ``1.0``: draft-04 alone tells them apart. A schema that lists 1 means 1."""
    judges = [node for _, node in positions(inside.body, inside.dialect)]
    judges += [node for body in inside.definitions.values() for _, node in positions(body, inside.dialect)]
    meant = {exact.key(value) for value in atoms.listed(judges)}
    for value in values:
        yield value
        whole = isinstance(value, int) and not isinstance(value, bool) and not exact.unsafe(value)
        if whole and exact.key(value) not in meant:
            yield float(value)
