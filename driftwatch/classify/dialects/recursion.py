"""Filling holes: recursive definitions get digests by content and become ``Rec`` nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b

from driftwatch.classify.dialects.errors import SchemaError
from driftwatch.classify.ir import (
    And,
    Contains,
    Hole,
    If,
    Items,
    Keys,
    Node,
    Not,
    OneOf,
    Or,
    Props,
    Rec,
    number,
    recursive,
    text,
)
from driftwatch.classify.ir.boolean import all_of, any_of, if_, not_, one_of
from driftwatch.classify.ir.keywords import contains, items, keys, props


def tie(node: Node, bodies: Mapping[Hole, Node]) -> Node:
    """The node with every hole filled. Raises SchemaError for a definition that means itself in place."""
    reached = {hole: _holes(body) for hole, body in bodies.items()}
    _refuse_unguarded({hole: _holes(body, in_place=True) for hole, body in bodies.items()})
    recs: dict[Hole, Rec] = {}
    filler = _Filler(recs)
    for hole, body in bodies.items():
        digest = _colour(hole, bodies, reached)
        recs[hole] = recursive(digest, _later(filler, body))
    filled = filler.fill(node)
    for rec in recs.values():
        rec.build()
    return filled


def _later(filler: _Filler, body: Node) -> Callable[[], Node]:
    return lambda: filler.fill(body)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in a fixed order."""
    if isinstance(node, And | Or | OneOf):
        return node.children
    if isinstance(node, Not):
        return (node.child,)
    if isinstance(node, If):
        return (node.test, node.then, node.other)
    if isinstance(node, Items):
        return (*node.prefix, node.rest)
    if isinstance(node, Props):
        return (*node.names.values(), *(each for _, each in node.patterns), node.rest)
    if isinstance(node, Contains):
        return (node.item,)
    if isinstance(node, Keys):
        return (node.key,)
    return ()


def _holes(body: Node, *, in_place: bool = False) -> frozenset[Hole]:
    """Holes below; ``in_place``: only those that judge the same value."""
    found: set[Hole] = set()
    seen = {body}
    todo = [body]
    while todo:
        node = todo.pop()
        if isinstance(node, Hole):
            found.add(node)
        if not node.holes or (in_place and isinstance(node, Items | Props | Contains | Keys)):
            continue
        below = [child for child in children(node) if child not in seen]
        seen.update(below)
        todo.extend(below)
    return frozenset(found)


def _refuse_unguarded(edges: Mapping[Hole, frozenset[Hole]]) -> None:
    left = dict(edges)
    while left:
        free = [hole for hole, targets in left.items() if not targets & left.keys()]
        if not free:
            raise SchemaError("unguarded-recursion", "", "a definition refers to itself in place")
        for hole in free:
            del left[hole]


def _colour(start: Hole, bodies: Mapping[Hole, Node], reached: Mapping[Hole, frozenset[Hole]]) -> bytes:
    """A digest of the infinite tree ``start`` stands for: 2n + 1 rounds separate any two trees of n definitions."""
    group = {start}
    todo = [start]
    while todo:
        below = reached[todo.pop()] - group
        group |= below
        todo.extend(below)
    colours = dict.fromkeys(group, b"")
    for _ in range(2 * len(group) + 1):
        memo: dict[Node, bytes] = {}
        colours = {hole: _painted(bodies[hole], colours, memo) for hole in group}
    return blake2b(b"@%d:" % len(group) + colours[start], digest_size=16).digest()


def _painted(node: Node, colours: Mapping[Hole, bytes], memo: dict[Node, bytes]) -> bytes:
    if isinstance(node, Hole):
        return colours[node]
    if not node.holes:
        return node.digest
    found = memo.get(node)
    if found is None:
        below = [_painted(child, colours, memo) for child in children(node)]
        if isinstance(node, And | Or | OneOf):
            below.sort()
        shape = b""
        if isinstance(node, Props):
            shape = b"".join(map(text, (*node.names, "\0", *(source for source, _ in node.patterns))))
        elif isinstance(node, Contains):
            shape = number(node.least) + number(node.most)
        raw = node.tag + shape + b"".join(b"%d:" % len(each) + each for each in below)
        found = memo[node] = blake2b(raw, digest_size=16).digest()
    return found


class _Filler:
    """Rebuilds nodes with ``Rec`` nodes in the place of holes."""

    def __init__(self, recs: Mapping[Hole, Rec]) -> None:
        self.recs = recs
        self.memo: dict[Node, Node] = {}

    def fill(self, node: Node) -> Node:
        if isinstance(node, Hole):
            return self.recs[node]
        if not node.holes:
            return node
        found = self.memo.get(node)
        if found is None:
            found = self.memo[node] = self._rebuilt(node)
        return found

    def _rebuilt(self, node: Node) -> Node:
        below = [self.fill(child) for child in children(node)]
        if isinstance(node, And):
            return all_of(below)
        if isinstance(node, Or):
            return any_of(below)
        if isinstance(node, OneOf):
            return one_of(below)
        if isinstance(node, Not):
            return not_(below[0])
        if isinstance(node, If):
            return if_(*below)
        if isinstance(node, Items):
            return items(below[:-1], below[-1])
        if isinstance(node, Props):
            names = dict(zip(node.names, below, strict=False))
            sources = [source for source, _ in node.patterns]
            return props(names, dict(zip(sources, below[len(names) :], strict=False)), below[-1])
        if isinstance(node, Contains):
            return contains(below[0], node.least, node.most)
        return keys(below[0])
