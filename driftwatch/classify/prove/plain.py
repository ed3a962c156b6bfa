"""Constraints for witnesses people take seriously: declared keys only, and numbers every client can hold.

They are only ever added to what a witness must satisfy, so they cannot make an answer wrong; they choose among
witnesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from driftwatch.classify.ir import (
    BOTTOM,
    TOP,
    And,
    If,
    Items,
    Node,
    Not,
    OneOf,
    Or,
    Props,
    Rec,
    Required,
    digest_of,
    recursive,
)
from driftwatch.classify.ir.boolean import all_of
from driftwatch.classify.ir.keywords import bounds, items, props
from driftwatch.classify.prove.evaluate import found_in
from driftwatch.classify.values import exact

#: beyond this many clients cannot hold an integer
SAFE: Final = 2**53 - 1


class _Keys(NamedTuple):
    """Who judges which keys at a place; ``closed``: there are no other keys than named and patterned ones."""

    named: dict[str, list[Node]]
    patterned: dict[str, list[Node]]
    rest: list[Node]
    closed: bool


class Plain:
    """What a plain value at a place looks like, for every place reachable from a node.

    ``declared``: objects have only keys that some schema at that place names, unless it names none. Numbers are safe
    integers or fractions in any case.
    """

    def __init__(self, *, declared: bool) -> None:
        self.declared = declared
        self._memo: dict[frozenset[Node], Node] = {}

    def of(self, nodes: Iterable[Node]) -> Node:
        """The constraint on a value that all of ``nodes`` speak about."""
        place = frozenset(nodes)
        found = self._memo.get(place)
        if found is None:
            digest = digest_of(b"~", b"%d" % self.declared, *sorted(node.digest for node in place))
            found = self._memo[place] = recursive(digest, lambda: self._made(place))
        return found

    def admits(self, nodes: Iterable[Node], value: Any) -> bool:
        """Whether ``value`` meets the constraint; False also where a pattern cannot be read. Builds nothing."""
        if isinstance(value, dict):
            return self._admits_keys(_in_place(nodes), value)
        if isinstance(value, list):
            here = [node for node in _in_place(nodes) if isinstance(node, Items)]
            return all(self.admits([node.at(index) for node in here], item) for index, item in enumerate(value))
        return isinstance(value, bool | str) or value is None or -SAFE <= exact(value) <= SAFE

    def _admits_keys(self, here: list[Node], value: Mapping[str, Any]) -> bool:
        keys = self._spoken(here)
        for key, item in value.items():
            judges = list(keys.named.get(key, ()))
            known = key in keys.named
            for source, those in keys.patterned.items():
                found = found_in(source, key)
                if found is None:
                    return False
                if found:
                    judges += those
                    known = True
            if (keys.closed and not known) or not self.admits(judges if known else keys.rest, item):
                return False
        return True

    def _made(self, place: frozenset[Node]) -> Node:
        here = _in_place(place)
        safe = bounds(-SAFE, False, SAFE, False)
        return all_of([safe, self._keys(here), self._positions(here)])

    def _spoken(self, here: list[Node]) -> _Keys:
        """What the nodes of a place say about keys."""
        keys = _Keys({}, {}, [], False)
        for node in here:
            if isinstance(node, Props):
                for name, judge in node.names.items():
                    keys.named.setdefault(name, []).append(judge)
                for source, judge in node.patterns:
                    keys.patterned.setdefault(source, []).append(judge)
                if node.rest is not TOP and node.rest is not BOTTOM:
                    keys.rest.append(node.rest)
        if not (self.declared and keys.named and not keys.rest):
            return keys
        for node in here:
            if isinstance(node, Required):
                for name in node.names:
                    keys.named.setdefault(name, [])
        return keys._replace(closed=True)

    def _keys(self, here: list[Node]) -> Node:
        keys = self._spoken(here)
        names = {name: self.of(judges) for name, judges in keys.named.items()}
        patterns = {source: self.of(judges) for source, judges in keys.patterned.items()}
        return props(names, patterns, BOTTOM if keys.closed else self.of(keys.rest))

    def _positions(self, here: list[Node]) -> Node:
        speaking = [node for node in here if isinstance(node, Items)]
        width = max((len(node.prefix) for node in speaking), default=0)
        prefix = [self.of([node.at(index) for node in speaking]) for index in range(width)]
        return items(prefix, self.of([node.rest for node in speaking]))


def _in_place(place: Iterable[Node]) -> list[Node]:
    """All nodes that speak about the same value, through every boolean node."""
    found: dict[Node, None] = {}
    todo = list(place)
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found[node] = None
        if isinstance(node, And | Or | OneOf):
            todo.extend(node.children)
        elif isinstance(node, Not):
            todo.append(node.child)
        elif isinstance(node, If):
            todo.extend((node.test, node.then, node.other))
        elif isinstance(node, Rec):
            todo.append(node.body)
    return list(found)
