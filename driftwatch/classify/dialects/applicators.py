"""Keywords that combine schemas about the same value, and references."""

from __future__ import annotations

from typing import Any

from driftwatch.classify.dialects.compiler import Compiler, Spot
from driftwatch.classify.dialects.scalars import Raw, invalid
from driftwatch.classify.ir import Node, boolean


def branches(compiler: Compiler, raw: Raw, spot: Spot, keyword: str) -> list[Node]:
    """The nodes of a list of subschemas."""
    listed = raw[keyword]
    if not isinstance(listed, list):
        raise invalid(spot, keyword)
    return [compiler.node(each, spot.down(keyword, index)) for index, each in enumerate(listed)]


def all_of(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``allOf``."""
    return boolean.all_of(branches(compiler, raw, spot, "allOf"))


def any_of(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``anyOf``."""
    return boolean.any_of(branches(compiler, raw, spot, "anyOf"))


def one_of(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``oneOf``."""
    return boolean.one_of(branches(compiler, raw, spot, "oneOf"))


def not_(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``not``."""
    return boolean.not_(compiler.node(raw["not"], spot.down("not")))


def if_(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``if`` with ``then`` and ``else``."""
    test, then, other = (compiler.node(raw.get(each, True), spot.down(each)) for each in ("if", "then", "else"))
    return boolean.if_(test, then, other)


def target(compiler: Compiler, raw: Raw, spot: Spot, keyword: str) -> tuple[Any, Spot]:
    """The subschema a reference keyword means, and where it stands."""
    reference = raw[keyword]
    if not isinstance(reference, str):
        raise invalid(spot, keyword)
    document = compiler.document
    if keyword == "$ref":
        contents, place = document.lookup(reference, spot.place, spot.pointer)
    elif keyword == "$dynamicRef":
        contents, place = document.dynamic(reference, spot.place, spot.pointer)
    else:
        contents, place = document.recursive(spot.place, spot.pointer)
    return contents, spot.at(place)


def ref(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``$ref``."""
    return compiler.node(*target(compiler, raw, spot, "$ref"))


def dynamic_ref(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``$dynamicRef`` (2020-12)."""
    return compiler.node(*target(compiler, raw, spot, "$dynamicRef"))


def recursive_ref(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``$recursiveRef`` (2019-09)."""
    return compiler.node(*target(compiler, raw, spot, "$recursiveRef"))
