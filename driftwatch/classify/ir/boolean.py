"""Constructors of boolean nodes, simplified where it can be seen at a glance; they never change the meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from driftwatch.classify.ir import (
    BOTTOM,
    TOP,
    And,
    Enum,
    If,
    MultipleOf,
    Node,
    Not,
    OneOf,
    Or,
    Props,
    Range,
    Required,
    Size,
    Type,
    intern,
    type_,
)
from driftwatch.classify.ir.keywords import bounds, common_step, enum, kinds, multiple_of, required, size, tightest
from driftwatch.classify.values import ALL, OBJECT, frozen


def not_(child: Node) -> Node:
    """Values outside ``child``."""
    if isinstance(child, Not):
        return child.child
    if isinstance(child, Type):
        return type_(ALL & ~child.mask)
    return intern(Not, [child.digest], ALL & ~child.must, ALL & ~child.may, child.holes, child=child)


def if_(test: Node, then: Node, other: Node) -> Node:
    """``then`` where ``test`` holds, ``other`` elsewhere."""
    if then is other:
        return then
    if test is TOP or test is BOTTOM:
        return then if test is TOP else other
    if other is TOP:
        return any_of([not_(test), then])
    if then is TOP:
        return any_of([test, other])
    if isinstance(test, Type):
        return any_of([all_of([test, then]), all_of([not_(test), other])])
    may = (test.may & then.may) | (ALL & ~test.must & other.may)
    holes = test.holes or then.holes or other.holes
    parts = [test.digest, then.digest, other.digest]
    return intern(If, parts, may, then.must & other.must, holes, test=test, then=then, other=other)


def all_of(children: Iterable[Node]) -> Node:
    """Values in all children."""
    flat: dict[Node, None] = {}
    todo = list(children)[::-1]
    mask = ALL
    while todo:
        child = todo.pop()
        mask &= child.may
        if isinstance(child, And):
            todo.extend(reversed(child.children))
        elif not isinstance(child, Type):
            flat[child] = None
    if not mask:
        return BOTTOM
    merged = _merged(child for child in flat if child.must & mask != mask)
    if any(isinstance(child, Type) for child in merged):
        return all_of([type_(mask), *merged])
    rest: list[Node] = []
    others = ALL
    for child in merged:
        if isinstance(child, Enum):
            allowed = enum(value for value in child.values if kinds(value) & mask)
            if allowed is not child:
                return all_of([type_(mask), allowed, *(each for each in merged if each is not child)])
        rest.append(child)
        others &= child.may
    if others & ~mask:
        rest.append(type_(mask))
    elif others != mask:
        return all_of([type_(others & mask), *rest])
    if len(rest) == 1:
        return rest[0]
    if not rest:
        return type_(mask)
    rest.sort(key=_digest)
    must = ALL
    for child in rest:
        must &= child.must
    holes = any(child.holes for child in rest)
    return intern(And, [child.digest for child in rest], mask, must, holes, children=tuple(rest), cached_tags=None)


def _digest(node: Node) -> bytes:
    return node.digest


def _merged(children: Iterable[Node]) -> list[Node]:
    """Children of the same family folded into one: sizes, bounds, steps, required keys."""
    rest: list[Node] = []
    families: dict[Any, Node] = {}
    for child in children:
        family = (type(child), child.of) if isinstance(child, Size) else type(child)
        held = families.get(family)
        if held is None:
            families[family] = child
        elif isinstance(child, Required) and isinstance(held, Required):
            families[family] = required(child.names | held.names)
        elif isinstance(child, Size) and isinstance(held, Size):
            most = held.most if child.most is None or held.most is None else min(child.most, held.most)
            most = child.most if held.most is None else most
            families[family] = size(child.of, max(child.least, held.least), most)
        elif isinstance(child, MultipleOf) and isinstance(held, MultipleOf):
            families[family] = multiple_of(common_step(child.step, held.step))
        elif isinstance(child, Range) and isinstance(held, Range):
            families[family] = bounds(*tightest(child, held))
        elif isinstance(child, Enum) and isinstance(held, Enum):
            families[family] = enum(value for value in held.values if frozen(value) in child.frozen)
        else:
            rest.append(child)
    return [*families.values(), *rest]


def any_of(children: Iterable[Node]) -> Node:
    """Values in at least one child."""
    flat: dict[Node, None] = {}
    todo = list(children)[::-1]
    mask = must = 0
    while todo:
        child = todo.pop()
        must |= child.must
        if isinstance(child, Or):
            todo.extend(reversed(child.children))
        elif isinstance(child, Type):
            mask |= child.mask
        else:
            flat[child] = None
    if must == ALL:
        return TOP
    rest = [child for child in flat if child.may & ~mask and not isinstance(child, Enum)]
    listed = [value for child in flat if isinstance(child, Enum) for value in child.values if kinds(value) & ~mask]
    if listed:
        rest.append(enum(listed))
    if mask:
        rest.append(type_(mask))
    if not rest:
        return BOTTOM
    if len(rest) == 1:
        return rest[0]
    rest.sort(key=_digest)
    may = 0
    for child in rest:
        may |= child.may
    holes = any(child.holes for child in rest)
    return intern(Or, [child.digest for child in rest], may, must, holes, children=tuple(rest))


def one_of(children: Iterable[Node]) -> Node:
    """Values in exactly one child."""
    kept = sorted((child for child in children if child is not BOTTOM), key=_digest)
    if len(kept) < 2:
        return kept[0] if kept else BOTTOM
    if disjoint(kept):
        return any_of(kept)
    may = once = twice = 0
    for child in kept:
        may |= child.may
        twice |= once & child.must
        once |= child.must
    may &= ~twice
    holes = any(child.holes for child in kept)
    return intern(OneOf, [child.digest for child in kept], may, 0, holes, children=tuple(kept))


def disjoint(nodes: list[Node]) -> bool:
    """No value is in two of the nodes: seen by kinds, or by a required key with different values (a tag)."""
    seen = 0
    for node in nodes:
        if node.may & seen:
            break
        seen |= node.may
    else:
        return True
    if len(nodes) > 100:
        return False
    return all(clash(one, two) for index, one in enumerate(nodes) for two in nodes[:index])


def clash(one: Node, two: Node, depth: int = 3) -> bool:
    """Certainly no value is in both. Quick and incomplete; looks through no recursive definition."""
    if not one.may & two.may:
        return True
    if isinstance(one, Enum) and isinstance(two, Enum):
        return not one.frozen & two.frozen
    if not depth or not isinstance(one, And) or not isinstance(two, And) or one.may & two.may != OBJECT:
        return False
    mine, theirs = demands(one), demands(two)
    return any(clash(mine[key], theirs[key], depth - 1) for key in mine if key in theirs)


def demands(node: And) -> Mapping[str, Node]:
    """Required keys of an object node with a node their value must be in; enumerated ones first."""
    if node.cached_tags is None:
        needed = next((child.names for child in node.children if isinstance(child, Required)), frozenset())
        found: dict[str, Node] = {}
        for child in node.children:
            if isinstance(child, Props) and needed:
                found.update((name, child.names[name]) for name in sorted(needed) if name in child.names)
        ordered = sorted(found.items(), key=lambda item: (not isinstance(item[1], Enum), item[0]))
        node.cached_tags = dict(ordered)
    return node.cached_tags
