# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.classify import Policy, classify
from driftwatch.classify.gate import Gate, GateError
from driftwatch.classify.normal import normalise
from driftwatch.classify.verdict import DEFAULT_POLICY
from driftwatch.classify.via import declared, via
from driftwatch.classify.witness.shrink import reductions, shrink


def test_a_witness_is_small_and_says_where_it_is_refused() -> None:
    old = {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}, "required": ["id"]}
    new = {**old, "properties": {"id": {"type": "string"}, "status": {"type": ["string", "null"]}}}
    verdict = classify(old, new, direction="output")
    assert verdict.witness == {"id": "a", "status": None}
    assert (verdict.refused_at, verdict.refusal) == ("/status", 'null is not of type "string"')


def test_a_witness_may_be_null() -> None:
    verdict = classify({"type": "string"}, {"type": ["string", "null"]}, direction="output")
    assert (verdict.outcome, verdict.witness, verdict.has_witness) == ("breaking", None, True)


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"properties": {"b": {"type": "null"}}}}}},
         {"type": "object", "properties": {"a": {"type": "array", "items": {"properties": {"b": {"type": "string"}}}}}}),
        ({"type": "string", "minLength": 40, "pattern": "^[a-f]+$"}, {"type": "string", "maxLength": 60}),
        ({"type": "integer", "multipleOf": 7, "minimum": 100}, {"type": "integer", "multipleOf": 14}),
        ({"patternProperties": {"^x-[a-z]+$": {"type": "integer"}}, "additionalProperties": False, "type": "object"},
         {"patternProperties": {"^x-[a-y]+$": {}}, "additionalProperties": False}),
        ({"type": "array", "contains": {"const": 1}, "maxContains": 3}, {"contains": {"const": 1}, "maxContains": 2}),
        ({"type": "object", "minProperties": 3}, {"maxProperties": 2}),
        ({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}, "required": ["a"]},
         {"dependentRequired": {"b": ["c"]}}),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, {"uniqueItems": True}),
    ],
)  # fmt: skip
def test_the_search_goes_where_the_schemas_differ(inside: Any, outside: Any) -> None:
    verdict = classify(outside, inside, direction="output")
    assert verdict.outcome == "breaking"
    # An independent validator agrees on both sides.
    assert jsonschema.Draft202012Validator(inside).is_valid(verdict.witness)
    assert not jsonschema.Draft202012Validator(outside).is_valid(verdict.witness)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"properties": {"a": {}}}, {"properties": {"a": {}, "b": {"type": "string"}}}, "undeclared-key"),
        ({"properties": {"a": {}}}, {"properties": {"a": {}}, "required": ["a"]}, "declared"),
        ({}, {"properties": {"b": {"type": "string"}}}, "declared"),
        ({"properties": {"n": {"type": "integer"}}}, {"properties": {"n": {"type": "integer", "maximum": 2**53 - 1}}}, "unsafe-number"),
        ({"properties": {"n": {"type": "number"}}}, {"properties": {"n": {"type": "integer", "maximum": 2**53 - 1}}}, "declared"),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, {"properties": {"a": {}}, "additionalProperties": {"type": "null"}}, "declared"),
        ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"properties": {"b": {"type": "null"}}}, "declared"),
    ],
)  # fmt: skip
def test_via_says_what_kind_of_value_proves_it(old: Any, new: Any, expected: str) -> None:
    verdict = classify(old, new, direction="input", root="object")
    assert (verdict.outcome, verdict.via) == ("breaking", expected), verdict


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"properties": {"a": {}}}, {"a": 1}, True),
        ({"properties": {"a": {}}}, {"b": 1}, False),
        ({"properties": {}}, {"b": 1}, False),
        ({"type": "object"}, {"b": 1}, True),
        ({"properties": {"a": {"properties": {"b": {}}}}}, {"a": {"c": 1}}, False),
        ({"items": {"properties": {"b": {}}}}, [{"b": 1}, {"c": 1}], False),
        ({"properties": {}, "patternProperties": {"^x": {}}}, {"xa": 1}, True),
        ({"properties": {}, "required": ["a"]}, {"a": 1}, True),
        ({"properties": {}, "anyOf": [{"properties": {"a": {}}}, {}]}, {"a": 1}, True),
        ({"properties": {}, "dependentSchemas": {"x": {"properties": {"a": {}}}}}, {"a": 1}, True),
    ],
)
def test_declared_keys(schema: Any, value: Any, expected: bool) -> None:
    assert declared(normalise(schema, "2020-12"), value) is expected
    assert via(normalise(schema, "2020-12"), value) == ("declared" if expected else "undeclared-key")


def test_shrinking_keeps_the_proof() -> None:
    value = {"a": [1, 2, {"b": "long text", "c": None}], "d": {"e": 12345}, "f": 1.25}
    small = shrink(value, lambda v: isinstance(v, dict) and "d" in v and v["d"].get("e", 0) > 100)
    assert small.keys() == {"d"}
    assert 100 < small["d"]["e"] <= 1234


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)
    )
)
def test_shrinking_ends(value: Any) -> None:
    shrink(value, lambda _: True)
    assert all(smaller != value or isinstance(smaller, bool) for smaller in reductions(value))


def test_the_gate_reads_nothing_from_elsewhere() -> None:
    with pytest.raises(GateError):
        Gate({"$ref": "file:///etc/hostname"}, "2020-12", "any", DEFAULT_POLICY)
    with pytest.raises(GateError):
        Gate({"$ref": "http://127.0.0.1:9/"}, "2020-12", "any", DEFAULT_POLICY)


def test_the_gate_asserts_no_content_and_formats_only_if_asked() -> None:
    encoded = {"properties": {"a": {"contentEncoding": "base64"}, "contentEncoding": {"type": "null"}}}
    gate = Gate(encoded, "draft-07", "any", DEFAULT_POLICY)
    assert gate.accepts({"a": "é"})
    assert gate.refuses({"contentEncoding": 1})
    assert Gate({"format": "date"}, "2020-12", "any", DEFAULT_POLICY).accepts("x")
    assert Gate({"format": "date"}, "2020-12", "any", Policy(formats=True)).refuses("x")


def test_only_objects_are_instances_when_the_root_is_an_object() -> None:
    gate = Gate(False, "2020-12", "object", DEFAULT_POLICY)
    assert gate.refuses({})
    assert not gate.refuses([])
    assert not gate.accepts([])


def test_formats_count_when_the_policy_asserts_them() -> None:
    old, new = {"type": "string", "format": "date"}, {"type": "string"}
    assert classify(old, new, direction="output").outcome == "compatible"
    assert classify(old, new, direction="output", policy=Policy(formats=True)).outcome == "breaking"
