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
    digest_of,
    number,
    recursive,
    text,
)
from driftwatch.classify.ir.boolean import all_of, any_of, if_, not_, one_of
from driftwatch.classify.ir.keywords import contains, items, keys, props


def tie(node: Node, bodies: Mapping[Hole, Node]) -> Node:
    """The node with every hole filled. Raises SchemaError for a definition that means itself in place."""
    _refuse_unguarded({hole: _holes(body, in_place=True) for hole, body in bodies.items()})
    recs: dict[Hole, Rec] = {}
    filler = _Filler(recs)
    colours = _Colours(bodies)
    for hole, body in bodies.items():
        recs[hole] = recursive(colours.digest(hole), _later(filler, body))
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


class _Colours:
    """Digests of the infinite trees that definitions stand for.

    The definitions a hole reaches are coloured by the shape of their bodies, then by the colours these mention, until
    no class of colours splits any more. The classes with their bodies are then a system of equations in normal form:
    equal systems have equal solutions, whatever the definitions were called.
    """

    def __init__(self, bodies: Mapping[Hole, Node]) -> None:
        self.bodies = bodies
        self.mentioned = {hole: _holes(body) for hole, body in bodies.items()}
        self._systems: dict[frozenset[Hole], tuple[Mapping[Hole, bytes], bytes]] = {}

    def digest(self, start: Hole) -> bytes:
        """The digest of one definition."""
        group = self._reached(start)
        if group not in self._systems:
            self._systems[group] = self._solved(group)
        colours, equations = self._systems[group]
        return digest_of(b"@", colours[start], equations)

    def _reached(self, start: Hole) -> frozenset[Hole]:
        group = {start}
        todo = [start]
        while todo:
            below = self.mentioned[todo.pop()] - group
            group |= below
            todo.extend(below)
        return frozenset(group)

    def _solved(self, group: frozenset[Hole]) -> tuple[Mapping[Hole, bytes], bytes]:
        colours, classes = dict.fromkeys(group, b""), 0
        while len(set(colours.values())) > classes:
            classes = len(set(colours.values()))
            colours = self._repainted(colours)
        bodies = self._repainted(colours)
        equations = sorted({colours[hole] + bodies[hole] for hole in group})
        return colours, b"".join(equations)

    def _repainted(self, colours: Mapping[Hole, bytes]) -> dict[Hole, bytes]:
        memo: dict[Node, bytes] = {}
        return {hole: _painted(self.bodies[hole], colours, memo) for hole in colours}


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
