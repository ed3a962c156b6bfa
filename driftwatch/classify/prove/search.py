"""The tableau: a value in all of P and in none of N, or the proof that there is none.

Soundness of the answer "none" for recursive schemas is by induction on the size of a smallest value: while a goal is
open, meeting the same goal again at a smaller value counts as empty. What was concluded under such an assumption is
kept aside, and forgotten unless the assumption turns out true.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from driftwatch.classify.budget import Budget
from driftwatch.classify.ir import Node
from driftwatch.classify.ir.boolean import any_of
from driftwatch.classify.prove import arrays, numbers, objects, strings
from driftwatch.classify.prove.answers import Found, Result, Unknown, better
from driftwatch.classify.prove.evaluate import holds
from driftwatch.classify.prove.state import Alternative, Split, State
from driftwatch.classify.prove.structure import same
from driftwatch.classify.values import (
    ARRAY,
    BOOLEAN,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    WHOLE,
    kind,
)

_ORDER: Final = (NULL, BOOLEAN, INTEGER, STRING, FRACTION, ARRAY, OBJECT, WHOLE)
_CONSTANTS: Final[dict[int, tuple[Any, ...]]] = {NULL: (None,), BOOLEAN: (False, True)}
Goal = tuple[frozenset[Node], frozenset[Node]]
_FREE: Final = 1 << 30


class Search:
    """One proof attempt. ``universe``: the kinds of values there are (WHOLE only when draft 04 takes part)."""

    def __init__(self, budget: Budget, universe: int) -> None:
        self.budget = budget
        self.universe = universe
        self._memo: dict[Goal, Result] = {}
        #: goals being worked on, with their depth
        self._open: dict[Goal, int] = {}
        #: goals found empty under the assumption that an open goal is, with the least depth assumed
        self._assumed: dict[Goal, int] = {}
        self._order: list[Goal] = []
        self._lowest = _FREE
        self._hit: set[int] = set()

    def find(self, holding: Iterable[Node], failing: Iterable[Node], mask: int | None = None) -> Result:
        """A value in all of ``holding`` and none of ``failing``; ``mask`` limits its kind (then nothing is kept)."""
        goal = (frozenset(holding), frozenset(failing))
        kinds_left = self.universe if mask is None else self.universe & mask
        for node in goal[0]:
            kinds_left &= node.may
        for node in goal[1]:
            kinds_left &= ~node.must
        if not kinds_left or not goal[0].isdisjoint(goal[1]):
            return None
        if mask is not None:
            return self._of_kinds(kinds_left, goal)
        if goal in self._memo:
            return self._memo[goal]
        level = self._open.get(goal, self._assumed.get(goal))
        if level is not None:
            self._lowest = min(self._lowest, level)
            self._hit.add(level)
            return None
        return self._explore(kinds_left, goal)

    def _explore(self, kinds_left: int, goal: Goal) -> Result:
        level = len(self._open)
        self._open[goal] = level
        outer, self._lowest = self._lowest, _FREE
        mark = len(self._order)
        try:
            result = self._of_kinds(kinds_left, goal)
        finally:
            del self._open[goal]
        self._settle(goal, level, mark, result)
        self._lowest = min(outer, self._lowest)
        return result

    def _settle(self, goal: Goal, level: int, mark: int, result: Result) -> None:
        """Decide what of this goal, and of what was concluded below it, may be kept."""
        free = self._lowest >= level
        below = self._order[mark:]
        if result is not None and level in self._hit:
            for each in below:
                del self._assumed[each]
            del self._order[mark:]
        elif free:
            for each in below:
                del self._assumed[each]
                self._memo[each] = None
            del self._order[mark:]
        elif result is None:
            for each in below:
                self._assumed[each] = min(self._assumed[each], self._lowest)
        self._hit.discard(level)
        if free:
            self._lowest = _FREE
            self._memo[goal] = result
        elif isinstance(result, Found):
            self._memo[goal] = result
        elif result is None:
            self._assumed[goal] = self._lowest
            self._order.append(goal)

    def _of_kinds(self, kinds_left: int, goal: Goal) -> Result:
        self.budget.spend()
        unknown: Unknown | None = None
        for bit in _ORDER:
            if not kinds_left & bit:
                continue
            result = self._of_kind(bit, goal)
            if isinstance(result, Found):
                return result
            if result is not None:
                unknown = better(unknown, result)
        return unknown

    def _of_kind(self, bit: int, goal: Goal) -> Result:
        constants = _CONSTANTS.get(bit)
        if constants is not None:
            return _first(constants, goal[0], goal[1])
        state = State(bit)
        if not state.assume(_sorted(goal[0]), _sorted(goal[1])):
            return None
        return self._solve(state)

    def _solve(self, state: State) -> Result:
        self.budget.spend()
        open_splits = self._propagated(state)
        if open_splits is None:
            return None
        if state.listed:
            if not (self.universe & WHOLE and state.bit & (ARRAY | OBJECT)):
                return _first(self._members(state), state.positive, state.negative)
            listed, state.listed = state.listed, []
            said = [any_of([same(value) for value in each.values if kind(value) == state.bit]) for each in listed]
            return self._solve(state) if state.assume(said, ()) else None
        if not open_splits:
            return self._leaf(state)
        if len(open_splits) > 1:
            relaxed = self._leaf(state)
            if relaxed is None:
                return None
            if isinstance(relaxed, Found):
                open_splits = [each for each in open_splits if not _satisfied(each[0], relaxed.value)]
                if not open_splits:
                    return relaxed
        split, ways = min(open_splits, key=lambda each: len(each[1]))
        state.splits.remove(split)
        return self._branch(state, ways)

    def _members(self, state: State) -> list[Any]:
        """Enumerated values of the state's kind. Where 1.0 is told from 1 they are taken as written."""
        bits = INTEGER | WHOLE if state.bit == INTEGER and not self.universe & WHOLE else state.bit
        values = min((each.values for each in state.listed), key=len)
        return [value for value in values if kind(value) & bits]

    def _branch(self, state: State, ways: list[Alternative]) -> Result:
        unknown: Unknown | None = None
        for holding, failing in ways:
            branch = state.copy()
            if not branch.assume(holding, failing):
                continue
            result = self._solve(branch)
            if isinstance(result, Found):
                return result
            if result is not None:
                unknown = better(unknown, result)
        return unknown

    def _propagated(self, state: State) -> list[tuple[Split, list[Alternative]]] | None:
        """Splits that still need a choice, after taking all forced ones; None when the branch is closed."""
        while True:
            open_splits: list[tuple[Split, list[Alternative]]] = []
            forced: Alternative | None = None
            left: list[Split] = []
            for split in state.splits:
                ways = state.alternatives(split) if forced is None else []
                if forced is not None:
                    left.append(split)
                elif ways is None:
                    continue
                elif not ways:
                    return None
                elif len(ways) == 1:
                    forced = ways[0]
                else:
                    left.append(split)
                    open_splits.append((split, ways))
            state.splits = left
            if forced is None:
                return open_splits
            if not state.assume(*forced):
                return None

    def _leaf(self, state: State) -> Result:
        """Solve the keywords of one kind; splits that are still open are left out."""
        if state.bit & NUMBER:
            result = numbers.solve(state)
        elif state.bit == STRING:
            result = strings.solve(state, self.budget)
        elif state.bit == ARRAY:
            result = arrays.solve(state, self)
        else:
            result = objects.solve(state, self)
        if state.doubt is not None and isinstance(result, Found):
            return Unknown(state.doubt.reason, "", result)
        return result


def _sorted(nodes: Iterable[Node]) -> list[Node]:
    """A fixed order, so that the same question always gets the same witness."""
    return sorted(nodes, key=lambda node: node.digest)


def _satisfied(split: Split, value: Any) -> bool:
    node, asserted = split
    return holds(node, value) is asserted


def _first(values: Iterable[Any], holding: Iterable[Node], failing: Iterable[Node]) -> Result:
    """The first value in all of ``holding`` and none of ``failing``."""
    unknown: Unknown | None = None
    for value in values:
        verdicts = [holds(node, value) for node in holding]
        if False in verdicts:
            continue
        refused = [holds(node, value) for node in failing]
        if True in refused:
            continue
        if None in verdicts or None in refused:
            unknown = better(unknown, Unknown("unsupported-pattern", "", Found(value)))
        else:
            return Found(value)
    return unknown
