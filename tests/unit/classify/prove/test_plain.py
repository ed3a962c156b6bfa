"""Witnesses of declared keys and safe numbers come first; others still prove a break."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify.prove import contains

TEXT = {"type": "string"}


def witness(sub: Any, sup: Any) -> Any:
    proof = contains(sub, sup, root="object")
    assert proof.answer == "no"
    return proof.witness


def test_a_declared_key_is_preferred() -> None:
    old = {"properties": {"z": TEXT}}
    new = {"properties": {"z": {"type": "null"}, "a": {"type": "null"}}}
    assert witness(old, new).keys() == {"z"}


def test_an_undeclared_key_proves_a_break_where_nothing_else_does() -> None:
    assert witness({"properties": {"z": TEXT}}, {"properties": {"z": TEXT, "a": TEXT}}).keys() == {"a"}


@pytest.mark.parametrize(
    "old",
    [
        {"type": "object"},
        {"properties": {"z": TEXT}, "additionalProperties": {"type": ["string", "null"]}},
        {"properties": {"z": TEXT}, "patternProperties": {"^a$": {"type": "null"}}},
        {"anyOf": [{"properties": {"z": TEXT}}, {"properties": {"a": {"type": "null"}}}]},
    ],
    ids=str,
)
def test_known_keys_are_declared(old: Any) -> None:
    new = {**old, "propertyNames": {"not": {"const": "a"}}}
    assert "a" in witness(old, new)


@pytest.mark.parametrize(
    "place", [lambda node: node, lambda node: {"type": "array", "items": node}], ids=["here", "below"]
)
def test_a_safe_number_is_preferred(place: Any) -> None:
    old = {"properties": {"n": place({"type": "integer"})}}
    new = {"properties": {"n": place({"type": "integer", "minimum": -(2**60), "maximum": 7})}}
    found = witness(old, new)["n"]
    assert (found[0] if isinstance(found, list) else found) == 8


def test_an_unsafe_number_proves_a_break_where_nothing_else_does() -> None:
    limit = 2**53 - 1
    old = {"properties": {"n": {"type": "integer"}}}
    new = {"properties": {"n": {"type": "integer", "minimum": -limit, "maximum": limit}}}
    assert abs(witness(old, new)["n"]) == limit + 1


def test_recursive_places_too() -> None:
    tree = {"properties": {"kid": {"$ref": "#"}, "n": {"type": "integer"}}}
    less = {"properties": {"kid": {"$ref": "#"}, "n": {"type": "integer", "maximum": 3}, "a": TEXT}}
    assert witness(tree, less) == {"n": 4}
