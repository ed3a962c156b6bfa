"""Constructors of keyword nodes. Each one simplifies what can be seen at a glance, and never changes the meaning.

Simplifying here is what makes the semantic digest blind to spelling: a type list and an ``anyOf`` of types, a ``const``
and a one-value ``enum``, a keyword that cannot apply to the admitted types, all end as the same node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from driftwatch.classify.ir import (
    BESIDE,
    BOTTOM,
    TOP,
    Contains,
    Enum,
    Items,
    Keys,
    MultipleOf,
    Node,
    Number,
    Opaque,
    Pattern,
    Props,
    Range,
    Required,
    Size,
    Unique,
    intern,
    number,
    text,
    type_,
)
from driftwatch.classify.values import (
    ALL,
    ARRAY,
    BOOLEAN,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    WHOLE,
    frozen,
    kind,
    written,
)


def enum(values: Iterable[Any]) -> Node:
    """Exactly these values."""
    unique = {frozen(value): value for value in values}
    if not unique:
        return BOTTOM
    ordered = sorted(unique.values(), key=written)
    may = must = 0
    for value in ordered:
        may |= kinds(value)
    if ("literal", None) in unique:
        must |= NULL
    if ("literal", True) in unique and ("literal", False) in unique:
        must |= BOOLEAN
    if may == must:
        return type_(may)
    parts = [text(written(value)) for value in ordered]
    return intern(Enum, parts, may, must, False, values=tuple(ordered), frozen=frozenset(unique))


def kinds(value: Any) -> int:
    """The kinds a value equal to this one may have: ``1`` and ``1.0`` are equal."""
    bit = kind(value)
    return INTEGER | WHOLE if bit & (INTEGER | WHOLE) else bit


def bounds(low: Number | None, low_open: bool, high: Number | None, high_open: bool) -> Node:
    """Numbers between two bounds."""
    if low is None and high is None:
        return TOP
    may = ALL
    if low is not None and high is not None and (low > high or (low == high and (low_open or high_open))):
        return type_(BESIDE[NUMBER])
    parts = [f"{low}{low_open}{high}{high_open}".encode()]
    fields = {"low": low, "low_open": low_open and low is not None, "high": high, "high_open": high_open}
    return intern(Range, parts, may, BESIDE[NUMBER], False, **fields)


def multiple_of(step: Number) -> Node:
    """Multiples of a positive step."""
    if step == 1:
        return type_(ALL & ~FRACTION)
    must = BESIDE[NUMBER] | (INTEGER | WHOLE if (1 / Fraction(step)).denominator == 1 else 0)
    may = ALL & ~FRACTION if Fraction(step).denominator == 1 else ALL
    return intern(MultipleOf, [str(step).encode()], may, must, False, step=step)


def size(of: int, least: int, most: int | None) -> Node:
    """Strings, arrays or objects (``of``) of least..most code points, items or keys."""
    if least <= 0 and most is None:
        return TOP
    if most is not None and most < max(least, 0):
        return type_(BESIDE[of])
    parts = [number(of), number(least), number(most)]
    return intern(Size, parts, ALL, BESIDE[of], False, of=of, least=max(least, 0), most=most)


def pattern(source: str) -> Node:
    """Strings in which the pattern is found."""
    return intern(Pattern, [text(source)], ALL, BESIDE[STRING], False, source=source)


def items(prefix: Iterable[Node], rest: Node) -> Node:
    """Arrays judged item by item."""
    kept = list(prefix)
    while kept and kept[-1] is rest:
        kept.pop()
    if not kept and rest is TOP:
        return TOP
    holes = rest.holes or any(node.holes for node in kept)
    parts = [node.digest for node in (*kept, rest)]
    return intern(Items, parts, ALL, BESIDE[ARRAY], holes, prefix=tuple(kept), rest=rest)


def contains(item: Node, least: int, most: int | None) -> Node:
    """Arrays with least..most items in ``item``."""
    if most is not None and most < least:
        return type_(BESIDE[ARRAY])
    if item is TOP:
        return size(ARRAY, least, most)
    if item is BOTTOM:
        return TOP if least <= 0 else type_(BESIDE[ARRAY])
    if least <= 0 and most is None:
        return TOP
    parts = [item.digest, number(max(least, 0)), number(most)]
    return intern(Contains, parts, ALL, BESIDE[ARRAY], item.holes, item=item, least=max(least, 0), most=most)


def unique() -> Node:
    """Arrays without equal items."""
    return intern(Unique, (), ALL, BESIDE[ARRAY], False)


def props(names: Mapping[str, Node], patterns: Mapping[str, Node], rest: Node) -> Node:
    """Objects judged key by key."""
    if rest is TOP:
        patterns = {source: node for source, node in patterns.items() if node is not TOP}
        names = {name: node for name, node in names.items() if node is not TOP}
        if not names and not patterns:
            return TOP
    kept = {name: names[name] for name in sorted(names)}
    by_pattern = tuple((source, patterns[source]) for source in sorted(patterns))
    holes = rest.holes
    parts = [b"%d;" % len(kept)]
    for key, node in (*kept.items(), *by_pattern):
        holes = holes or node.holes
        parts.append(text(key) + node.digest)
    parts.append(rest.digest)
    return intern(Props, parts, ALL, BESIDE[OBJECT], holes, names=kept, patterns=by_pattern, rest=rest)


def required(names: Iterable[str]) -> Node:
    """Objects that have all these keys."""
    kept = frozenset(names)
    if not kept:
        return TOP
    return intern(Required, map(text, sorted(kept)), ALL, BESIDE[OBJECT], False, names=kept)


def keys(key: Node) -> Node:
    """Objects whose keys are all in ``key``."""
    if key.must & STRING:
        return TOP
    if not key.may & STRING:
        return size(OBJECT, 0, 0)
    return intern(Keys, [key.digest], ALL, BESIDE[OBJECT], key.holes, key=key)


def opaque(reason: str, detail: str, must: int = 0) -> Node:
    """A set we cannot reason about, except that all of ``must`` is inside."""
    parts = [text(reason), text(detail), number(must)]
    return intern(Opaque, parts, ALL, must, False, reason=reason, detail=detail)


def common_step(one: Number, two: Number) -> Number:
    """The least common multiple of two rational steps."""
    a, b = Fraction(one), Fraction(two)
    step = Fraction(lcm(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)
    return step.numerator if step.denominator == 1 else step


def tightest(one: Range, two: Range) -> tuple[Number | None, bool, Number | None, bool]:
    """The bounds of two ranges together."""
    low, low_open = one.low, one.low_open
    if two.low is not None and (low is None or two.low > low or (two.low == low and two.low_open)):
        low, low_open = two.low, two.low_open
    high, high_open = one.high, one.high_open
    if two.high is not None and (high is None or two.high < high or (two.high == high and two.high_open)):
        high, high_open = two.high, two.high_open
    return low, low_open, high, high_open
