"""Arrays: how many items, and a value for each position.

A smallest witness needs no item beyond the prefixes except those that meet an obligation, reach the least length or are
counted by a ``contains``; so only finitely many lengths and positions have to be tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from driftwatch.classify.ir import TOP, Contains, Items, Node, Size, Unique
from driftwatch.classify.prove.answers import Found, Result, Unknown, better
from driftwatch.classify.prove.cells import Cell, Count, filled
from driftwatch.classify.prove.state import State
from driftwatch.classify.prove.strings import Window, meet, outside

if TYPE_CHECKING:
    from driftwatch.classify.prove.search import Search

MAX_ITEMS: Final = 5_000
MAX_COMPARED: Final = 200
MAX_COUNTS: Final = 6


class Plan(NamedTuple):
    """Choices made so far: what items must not be in, pairs of equal items, how often counted nodes occur."""

    outside: Mapping[int, tuple[Node, ...]]
    pairs: tuple[tuple[int, int], ...] = ()
    counts: tuple[Count, ...] = ()


def solve(state: State, search: Search) -> Result:
    """An array that satisfies the facts and denials of the state."""
    windows: list[Window] = [(0, None)]
    for fact in state.facts:
        if isinstance(fact, Size):
            windows = meet(windows, fact.least, fact.most)
    for denial in state.denials:
        if isinstance(denial, Size):
            windows = outside(windows, denial.least, denial.most)
    leaf = _Leaf(state, search)
    unknown: Unknown | None = None
    for window in windows:
        result = leaf.meet(leaf.denials, leaf.start, window)
        if isinstance(result, Found):
            return result
        if result is not None:
            unknown = better(unknown, result)
    return unknown


class _Leaf:
    def __init__(self, state: State, search: Search) -> None:
        self.search = search
        self.items = [fact for fact in state.facts if isinstance(fact, Items)]
        self.unique = any(isinstance(fact, Unique) for fact in state.facts)
        self.denials = [denial for denial in state.denials if isinstance(denial, Items | Unique | Contains)]
        self.denials.sort(key=lambda denial: (isinstance(denial, Unique), denial.digest))
        facts = (fact for fact in state.facts if isinstance(fact, Contains))
        self.start = Plan({}, counts=tuple(Count(fact.item, fact.least, fact.most) for fact in facts))
        everywhere = [*self.items, *(denial for denial in self.denials if isinstance(denial, Items))]
        self.width = max((len(each.prefix) for each in everywhere), default=0)
        self.tail = sum(isinstance(denial, Items) for denial in self.denials)

    def asked(self, position: int) -> list[Node]:
        """Nodes the item at a position must be in."""
        return [items.at(position) for items in self.items]

    def meet(self, denials: list[Items | Unique | Contains], plan: Plan, window: Window) -> Result:
        """Meet all obligations, then build the array."""
        self.search.budget.spend()
        if not denials:
            return self.build(plan, window)
        unknown: Unknown | None = None
        for next_plan in self._ways(denials[0], plan, window):
            result = self.meet(denials[1:], next_plan, window)
            if isinstance(result, Found):
                return result
            if result is not None:
                unknown = better(unknown, result)
        return unknown

    def _ways(self, denial: Items | Unique | Contains, plan: Plan, window: Window) -> Iterable[Plan]:
        if isinstance(denial, Contains):
            if denial.least:
                yield plan._replace(counts=(*plan.counts, Count(denial.item, 0, denial.least - 1)))
            if denial.most is not None:
                yield plan._replace(counts=(*plan.counts, Count(denial.item, denial.most + 1, None)))
        elif isinstance(denial, Unique):
            if not self.unique:
                last = self.width + self.tail + 2
                last = last if window[1] is None else min(last, window[1])
                for pair in combinations(range(last), 2):
                    yield plan._replace(pairs=(*plan.pairs, pair))
        else:
            used = max((position for position in plan.outside if position >= self.width), default=self.width - 1)
            last = used + 2 if denial.rest is not TOP else self.width
            for position in range(last if window[1] is None else min(last, window[1])):
                yield from self._violated(denial.at(position), position, plan)

    def _violated(self, judge: Node, position: int, plan: Plan) -> Iterable[Plan]:
        asked = self.asked(position)
        if judge is TOP or judge in asked:
            return
        denied = plan.outside.get(position, ())
        if judge not in denied:
            denied = (*denied, judge)
            if self.search.find(asked, denied) is None:
                return
        yield plan._replace(outside={**plan.outside, position: denied})

    def build(self, plan: Plan, window: Window) -> Result:
        """An array with the planned items, as short as possible."""
        least, most = window
        last = max([-1, *plan.outside, *(later for _, later in plan.pairs)])
        shortest = max(least, last + 1)
        counts = tuple(count for count in plan.counts if count.least or count.most is not None)
        if len(counts) > MAX_COUNTS:
            return Unknown("many-contains")
        # An item that must be counted may only fit beyond the prefixes.
        longest = max(shortest, self.width) + sum(count.least for count in counts) if counts else shortest
        if most is not None:
            longest = min(longest, most)
        if longest > (MAX_COMPARED if counts or self.unique else MAX_ITEMS):
            return Unknown("size")
        unknown: Unknown | None = None
        for length in range(shortest, longest + 1):
            result = filled(self._cells(plan, length), counts, self.unique, self.search)
            if isinstance(result, Found):
                return result
            if result is not None:
                unknown = better(unknown, result)
        return unknown

    def _cells(self, plan: Plan, length: int) -> list[Cell]:
        """One cell per position, or per group of positions that must hold equal items."""
        owner = list(range(length))
        for one, two in plan.pairs:
            low, high = sorted((owner[one], owner[two]))
            owner = [low if each == high else each for each in owner]
        cells: list[Cell] = []
        for first in dict.fromkeys(owner):
            positions = tuple(position for position in range(length) if owner[position] == first)
            holding = frozenset(node for position in positions for node in self.asked(position))
            failing = frozenset(node for position in positions for node in plan.outside.get(position, ()))
            cells.append(Cell(positions, holding, failing))
        return cells
