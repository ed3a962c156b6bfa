"""Witnesses of declared keys and safe numbers come first; others still prove a break."""

from __future__ import annotations

from typing import Any

import pytest
from builders.schemas import Schemas, universe

from driftwatch.classify.dialects import compile_schema
from driftwatch.classify.prove import contains
from driftwatch.classify.prove.evaluate import holds
from driftwatch.classify.prove.plain import Plain

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


@pytest.mark.parametrize("declared", [True, False])
def test_whether_a_value_is_plain_is_what_the_constraint_says(declared: bool) -> None:
    """``admits`` asks what ``of`` builds a node of."""
    stream, values = Schemas(5), [value for value in universe() if not isinstance(value, float)]
    asked = 0
    for _ in range(120):
        node = compile_schema(stream.document("2020-12"), "2020-12")
        plain = Plain(declared=declared)
        constraint = plain.of([node])
        for value in stream.rnd.sample(values, 30):
            assert plain.admits([node], value) == bool(holds(constraint, value)), (node, value)
            asked += 1
    assert asked == 3_600
