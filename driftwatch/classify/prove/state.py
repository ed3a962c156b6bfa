"""One branch of the tableau: what is assumed about a value of one kind."""

from __future__ import annotations

from collections.abc import Iterable

from driftwatch.classify.ir import And, Enum, If, Node, Not, OneOf, Opaque, Or, Rec
from driftwatch.classify.ir.boolean import any_of, clash
from driftwatch.classify.prove.answers import Unknown
from driftwatch.classify.prove.structure import same
from driftwatch.classify.values import ARRAY, OBJECT, kind

#: nodes that hold and nodes that do not: one way to satisfy a disjunction
Alternative = tuple[tuple[Node, ...], tuple[Node, ...]]
#: a node that is a disjunction when asserted (True) or denied (False)
Split = tuple[Node, bool]


class State:
    """Assumptions about a value of the kind ``bit``, closed under everything that needs no choice.

    ``facts`` and ``denials`` are keyword nodes that hold and do not hold; ``splits`` still need a choice; ``listed``
    holds the enumerations the value is in; ``doubt`` is set when an opaque node was left out (over-approximation).
    """

    __slots__ = ("anchors", "bit", "denials", "doubt", "facts", "listed", "negative", "positive", "splits")

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.positive: dict[Node, None] = {}
        self.negative: dict[Node, None] = {}
        self.facts: list[Node] = []
        self.denials: list[Node] = []
        self.splits: list[Split] = []
        self.anchors: list[Node] = []
        self.listed: list[Enum] = []
        self.doubt: Unknown | None = None

    def copy(self) -> State:
        """An independent branch with the same assumptions."""
        twin = State(self.bit)
        twin.positive, twin.negative = self.positive.copy(), self.negative.copy()
        twin.facts, twin.denials = self.facts.copy(), self.denials.copy()
        twin.splits, twin.anchors = self.splits.copy(), self.anchors.copy()
        twin.listed, twin.doubt = self.listed.copy(), self.doubt
        return twin

    def assume(self, holding: Iterable[Node], failing: Iterable[Node]) -> bool:
        """Add assumptions. False when they contradict the branch, which is then closed."""
        todo, refuted = list(holding), list(failing)
        while todo or refuted:
            if todo:
                if not self._hold(todo.pop(), todo, refuted):
                    return False
            elif not self._fail(refuted.pop(), todo, refuted):
                return False
        return True

    def _hold(self, node: Node, todo: list[Node], refuted: list[Node]) -> bool:
        bit = self.bit
        if not node.may & bit or node in self.negative:
            return False
        if node.must & bit or node in self.positive:
            return True
        self.positive[node] = None
        if isinstance(node, And):
            todo.extend(node.children)
            if bit == OBJECT:
                self.anchors.append(node)
        elif isinstance(node, Or | OneOf | If):
            self.splits.append((node, True))
        elif isinstance(node, Not):
            refuted.append(node.child)
        elif isinstance(node, Rec):
            todo.append(node.body)
        elif isinstance(node, Enum):
            self.listed.append(node)
        elif isinstance(node, Opaque):
            self.doubt = self.doubt or Unknown(node.reason)
        else:
            self.facts.append(node)
        return True

    def _fail(self, node: Node, todo: list[Node], refuted: list[Node]) -> bool:
        bit = self.bit
        if node.must & bit or node in self.positive:
            return False
        if not node.may & bit or node in self.negative:
            return True
        self.negative[node] = None
        if isinstance(node, Or):
            refuted.extend(node.children)
        elif isinstance(node, And | OneOf | If):
            self.splits.append((node, False))
        elif isinstance(node, Not):
            todo.append(node.child)
        elif isinstance(node, Rec):
            refuted.append(node.body)
        elif isinstance(node, Enum) and bit & (ARRAY | OBJECT):
            refuted.extend(same(value) for value in node.values if kind(value) == bit)
        elif isinstance(node, Opaque):
            self.doubt = self.doubt or Unknown(node.reason)
        else:
            self.denials.append(node)
        return True

    def alternatives(self, split: Split) -> list[Alternative] | None:
        """The ways left to satisfy a disjunction; None when it is satisfied already."""
        node, asserted = split
        if isinstance(node, Or):
            return self._some_child(node.children)
        if isinstance(node, And):
            return self._failing_child(node)
        if isinstance(node, OneOf):
            return self._exactly_one(node.children) if asserted else self._not_exactly_one(node.children)
        if not isinstance(node, If):
            raise TypeError(f"{type(node).__name__} is no disjunction")
        if asserted:
            return [((node.test, node.then), ()), ((node.other,), (node.test,))]
        return [((node.test,), (node.then,)), ((), (node.test, node.other))]

    def _some_child(self, children: tuple[Node, ...]) -> list[Alternative] | None:
        ways: list[Alternative] = []
        for child in children:
            if child.must & self.bit or child in self.positive:
                return None
            if self._possible(child):
                ways.append(((child,), ()))
        return ways

    def _failing_child(self, node: And) -> list[Alternative] | None:
        if self._clashes(node):
            return None
        ways: list[Alternative] = []
        for child in node.children:
            if child.must & self.bit or child in self.positive:
                continue
            if not child.may & self.bit or child in self.negative:
                return None
            ways.append(((), (child,)))
        return ways

    def _exactly_one(self, children: tuple[Node, ...]) -> list[Alternative]:
        return [
            ((child,), children[:index] + children[index + 1 :])
            for index, child in enumerate(children)
            if self._possible(child)
        ]

    def _not_exactly_one(self, children: tuple[Node, ...]) -> list[Alternative]:
        possible = [child for child in children if self._possible(child)]
        ways: list[Alternative] = [((), children)]
        ways.extend(((child, any_of(possible[index + 1 :])), ()) for index, child in enumerate(possible[:-1]))
        return ways

    def _possible(self, node: Node) -> bool:
        return bool(node.may & self.bit) and node not in self.negative and not self._clashes(node)

    def _clashes(self, node: Node) -> bool:
        if self.bit != OBJECT:
            return False
        if isinstance(node, Rec):
            node = node.body
        return any(clash(node, anchor) for anchor in self.anchors)
