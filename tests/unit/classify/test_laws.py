"""The laws of containment, asked of the public function, and rewrites that mean nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from driftwatch.classify import classify

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([None, True, 0, 1, 1.5, "", "a", "b"])
LEAVES = st.one_of(
    st.lists(st.sampled_from(["string", "integer", "null", "boolean"]), min_size=1, max_size=3, unique=True).map(
        lambda names: {"type": names}
    ),
    st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda values: {"enum": values}),
    st.integers(0, 3).map(lambda size: {"type": "string", "minLength": size}),
    st.integers(0, 3).map(lambda most: {"type": "integer", "maximum": most}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required, rest: {
                "type": "object",
                "properties": properties,
                "required": sorted(required),
                "additionalProperties": rest,
            },
            st.dictionaries(NAMES, inner, min_size=1, max_size=3),
            st.sets(NAMES, max_size=2),
            st.booleans(),
        ),
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=2, max_size=2).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=2, max_size=2).map(lambda parts: {"allOf": parts}),
    ),
    max_leaves=6,
)
DIRECTIONS = st.sampled_from(["input", "output"])


def everywhere(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """``change`` applied to every subschema, innermost first."""
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    for word, value in schema.items():
        if word == "properties":
            out[word] = {name: everywhere(child, change) for name, child in value.items()}
        elif word in ("anyOf", "allOf"):
            out[word] = [everywhere(child, change) for child in value]
        elif word == "items":
            out[word] = everywhere(value, change)
    return change(out)


def reversed_keys(schema: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(schema.items()))


def reversed_sets(schema: dict[str, Any]) -> dict[str, Any]:
    sets = ("enum", "type", "required", "anyOf", "allOf")
    return {word: value[::-1] if word in sets and isinstance(value, list) else value for word, value in schema.items()}


def types_as_union(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.keys() == {"type"} and isinstance(schema["type"], list):
        return {"anyOf": [{"type": name} for name in schema["type"]]}
    return schema


def one_value_as_const(schema: dict[str, Any]) -> dict[str, Any]:
    if len(schema.get("enum", ())) == 1:
        return {"const": schema["enum"][0]}
    return schema


def wrapped_in_all_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"allOf": [schema]}


def limits_apart(schema: dict[str, Any]) -> dict[str, Any]:
    apart = [{word: schema[word]} for word in ("minLength", "maximum", "required") if word in schema]
    kept = {word: value for word, value in schema.items() if word not in ("minLength", "maximum", "required")}
    return {**kept, "allOf": [*schema.get("allOf", ()), *apart]} if apart else schema


def same(schema: dict[str, Any]) -> dict[str, Any]:
    return schema


def as_definition(name: str) -> Callable[[Any], Any]:
    """The document with all its content in a definition of this name."""
    return lambda schema: {"$ref": f"#/$defs/{quote(name)}", "$defs": {name: schema}}


IN_PLACE = (reversed_keys, reversed_sets, types_as_union, one_value_as_const, wrapped_in_all_of, limits_apart, same)
REWRITES = st.sampled_from(
    [
        *((lambda schema, change=change: everywhere(schema, change)) for change in IN_PLACE),
        as_definition("x"),
        as_definition("another name"),
    ]
)


@given(SCHEMAS, REWRITES, REWRITES, DIRECTIONS)
@settings(max_examples=250, deadline=None)
def test_a_rewrite_is_at_most_an_annotation(schema: Any, one: Any, two: Any, direction: Any) -> None:
    verdict = classify(one(schema), two(copy.deepcopy(schema)), direction=direction)
    assert verdict.outcome == "compatible"
    assert {finding.level for finding in verdict.findings} <= {"annotation"}


@given(SCHEMAS, SCHEMAS, REWRITES, REWRITES, DIRECTIONS)
@settings(max_examples=150, deadline=None)
def test_a_rewrite_never_changes_a_verdict(old: Any, new: Any, one: Any, two: Any, direction: Any) -> None:
    plain, rewritten = (classify(*pair, direction=direction) for pair in ((old, new), (one(old), two(new))))
    assert rewritten.outcome == plain.outcome
    assert rewritten.has_witness == plain.has_witness


@given(SCHEMAS, SCHEMAS, SCHEMAS)
@settings(max_examples=150, deadline=None)
def test_containment_is_transitive(one: Any, two: Any, three: Any) -> None:
    inner, outer = {"allOf": [one, two, three]}, {"allOf": [one, two]}
    assert classify(outer, inner, direction="output").outcome == "compatible"
    assert classify(one, outer, direction="output").outcome == "compatible"
    assert classify(one, inner, direction="output").outcome == "compatible"


@given(LEAVES, LEAVES, LEAVES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_two_safe_steps_are_one_safe_step(one: Any, two: Any, three: Any) -> None:
    assume(classify(one, two, direction="input").outcome == "compatible")
    assume(classify(two, three, direction="input").outcome == "compatible")
    assert classify(one, three, direction="input").outcome == "compatible"
