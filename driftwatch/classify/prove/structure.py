"""Bridges between values, nodes and languages."""

from __future__ import annotations

from typing import Any

from driftwatch.classify.ir import BOTTOM, TOP, And, Enum, If, Node, Not, OneOf, Opaque, Or, Pattern, Rec, Size, type_
from driftwatch.classify.ir.boolean import all_of
from driftwatch.classify.ir.keywords import enum, items, props, required, size
from driftwatch.classify.regex.charset import single
from driftwatch.classify.regex.meaning import language
from driftwatch.classify.regex.syntax import RegexError
from driftwatch.classify.regex.terms import (
    ANY_CHAR,
    EMPTY,
    EVERYTHING,
    NONE,
    Term,
    cat,
    chars,
    intersection,
    negation,
    repeat,
    union,
)
from driftwatch.classify.values import ARRAY, OBJECT, STRING


def same(value: Any) -> Node:
    """The values equal to an array or object, said by its parts; other values as a one-value enum."""
    if isinstance(value, list):
        parts = [enum([item]) for item in value]
        return all_of([type_(ARRAY), size(ARRAY, len(value), len(value)), items(parts, TOP)])
    if isinstance(value, dict):
        named = {name: enum([item]) for name, item in value.items()}
        return all_of([type_(OBJECT), required(value), props(named, {}, BOTTOM)])
    return enum([value])


def literal(text: str) -> Term:
    """The language of one string."""
    term = EMPTY
    for char in reversed(text):
        term = cat(chars(single(ord(char))), term)
    return term


def lengths(least: int, most: int | None) -> Term:
    """All strings of least..most code points."""
    return repeat(ANY_CHAR, least, most)


def strings_of(node: Node) -> Term:
    """The strings in a node. Raises RegexError where a pattern or an opaque part is outside the fragment."""
    if node.must & STRING:
        return EVERYTHING
    if not node.may & STRING:
        return NONE
    if isinstance(node, And):
        return intersection([strings_of(child) for child in node.children])
    if isinstance(node, Or):
        return union([strings_of(child) for child in node.children])
    if isinstance(node, Not):
        return negation(strings_of(node.child))
    if isinstance(node, Rec):
        return strings_of(node.body)
    if isinstance(node, OneOf):
        each = [strings_of(child) for child in node.children]
        return union(
            [
                intersection([term, *(negation(other) for place, other in enumerate(each) if place != index)])
                for index, term in enumerate(each)
            ]
        )
    if isinstance(node, If):
        test = strings_of(node.test)
        other = intersection([negation(test), strings_of(node.other)])
        return union([intersection([test, strings_of(node.then)]), other])
    if isinstance(node, Enum):
        return union([literal(value) for value in node.values if isinstance(value, str)])
    if isinstance(node, Pattern):
        return language(node.source)
    if isinstance(node, Size):
        return lengths(node.least, node.most)
    if isinstance(node, Opaque):
        raise RegexError(node.reason, node.detail)
    raise AssertionError(f"{type(node).__name__} says nothing about strings")
