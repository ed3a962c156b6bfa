"""Filling the positions of an array: one value per cell, counted by ``contains``, all different when asked."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from driftwatch.classify.ir import Node
from driftwatch.classify.ir.keywords import enum
from driftwatch.classify.prove.answers import Found, Result, Unknown, better
from driftwatch.classify.values import frozen

if TYPE_CHECKING:
    from driftwatch.classify.prove.search import Search


class Cell(NamedTuple):
    """Positions that hold one and the same value, in all of ``holding`` and none of ``failing``."""

    positions: tuple[int, ...]
    holding: frozenset[Node]
    failing: frozenset[Node]

    def also(self, signs: tuple[bool, ...], counts: tuple[Count, ...]) -> Cell:
        """The cell with a decision for every counted node."""
        inside = {count.node for count, sign in zip(counts, signs, strict=True) if sign}
        outside = {count.node for count, sign in zip(counts, signs, strict=True) if not sign}
        return Cell(self.positions, self.holding | inside, self.failing | outside)


class Count(NamedTuple):
    """How many items must be in a node."""

    node: Node
    least: int
    most: int | None


def filled(cells: list[Cell], counts: tuple[Count, ...], unique: bool, search: Search) -> Result:
    """An array made of the cells, None when there is none."""
    return _Filling(cells, counts, unique, search).fill(0, (0,) * len(counts), ())


class _Filling:
    def __init__(self, cells: list[Cell], counts: tuple[Count, ...], unique: bool, search: Search) -> None:
        self.cells = cells
        self.counts = counts
        self.unique = unique
        self.search = search
        self.left = [0] * (len(cells) + 1)
        for index in range(len(cells) - 1, -1, -1):
            self.left[index] = self.left[index + 1] + len(cells[index].positions)
        #: dead ends: cell index and counts so far
        self.dead: set[tuple[int, tuple[int, ...]]] = set()

    def fill(self, index: int, sums: tuple[int, ...], chosen: tuple[Cell, ...]) -> Result:
        """Decide the cells from ``index`` on."""
        self.search.budget.spend()
        if not self._reachable(index, sums) or (index, sums) in self.dead:
            return None
        if index == len(self.cells):
            return self.values(chosen)
        cell = self.cells[index]
        unknown: Unknown | None = None
        for signs in product((False, True), repeat=len(self.counts)):
            decided = cell.also(signs, self.counts)
            if self.search.find(decided.holding, decided.failing) is None:
                continue
            more = tuple(held + len(cell.positions) * sign for held, sign in zip(sums, signs, strict=True))
            result = self.fill(index + 1, more, (*chosen, decided))
            if isinstance(result, Found):
                return result
            if result is not None:
                unknown = better(unknown, result)
        if unknown is None and not self.unique:
            self.dead.add((index, sums))
        return unknown

    def _reachable(self, index: int, sums: tuple[int, ...]) -> bool:
        left = self.left[index]
        return all(
            held + left >= count.least and (count.most is None or held <= count.most)
            for held, count in zip(sums, self.counts, strict=True)
        )

    def values(self, cells: tuple[Cell, ...]) -> Result:
        """A value for every decided cell."""
        results = [self.search.find(cell.holding, cell.failing) for cell in cells]
        if None in results:
            return None
        unknown = next((result for result in results if isinstance(result, Unknown)), None)
        if unknown is not None:
            candidates = [result.candidate if isinstance(result, Unknown) else result for result in results]
            whole = (
                None if None in candidates or self.unique else Found(_array(cells, [c.value for c in candidates if c]))
            )
            return Unknown(unknown.reason, unknown.pointer, whole).below("items")
        values = [result.value for result in results if isinstance(result, Found)]
        if not self.unique or len({frozen(value) for value in values}) == len(values):
            return Found(_array(cells, values))
        return self.different(cells)

    def different(self, cells: tuple[Cell, ...]) -> Result:
        """Different values for all cells: as many choices per cell as there are cells are enough for a matching."""
        lists: list[list[Any]] = []
        for cell in cells:
            choices = self.choices(cell, len(cells))
            if isinstance(choices, Unknown):
                return choices
            lists.append(choices)
        taken: dict[Any, int] = {}
        for index in range(len(cells)):
            if not _matched(index, lists, taken, set()):
                return None
        values: list[Any] = [None] * len(cells)
        for index, choices in enumerate(lists):
            values[index] = next(value for value in choices if taken.get(frozen(value)) == index)
        return Found(_array(cells, values))

    def choices(self, cell: Cell, wanted: int) -> list[Any] | Unknown:
        """Up to ``wanted`` different values of a cell: all of them when there are fewer."""
        values: list[Any] = []
        while len(values) < wanted:
            failing = cell.failing | {enum(values)} if values else cell.failing
            result = self.search.find(cell.holding, failing)
            if isinstance(result, Unknown):
                return result.below("items")
            if result is None:
                break
            values.append(result.value)
        return values


def _matched(index: int, lists: list[list[Any]], taken: dict[Any, int], tried: set[Any]) -> bool:
    for value in lists[index]:
        key = frozen(value)
        if key in tried:
            continue
        tried.add(key)
        if key not in taken or _matched(taken[key], lists, taken, tried):
            taken[key] = index
            return True
    return False


def _array(cells: tuple[Cell, ...], values: list[Any]) -> list[Any]:
    result: list[Any] = [None] * sum(len(cell.positions) for cell in cells)
    for cell, value in zip(cells, values, strict=True):
        for position in cell.positions:
            result[position] = value
    return result
