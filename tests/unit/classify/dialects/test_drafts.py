"""What each draft's keywords mean: the compiled node and a validator agree on every value."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from builders.schemas import DIALECTS, Schemas, universe, validator

from driftwatch.classify import classify
from driftwatch.classify.dialects import SchemaError, compile_schema
from driftwatch.classify.prove.evaluate import holds

UNTIL_07 = ("draft-04", "draft-06", "draft-07")
SINCE_2019 = ("2019-09", "2020-12")

#: schema, value, drafts in which the value is refused (in all others it is accepted)
FACTS: list[tuple[Any, Any, tuple[str, ...]]] = [
    ({"const": 1}, 2, DIALECTS[1:]),
    ({"contains": {"type": "string"}}, [1], DIALECTS[1:]),
    ({"propertyNames": {"maxLength": 1}}, {"aa": 1}, DIALECTS[1:]),
    ({"if": {}, "then": {"type": "null"}}, 1, DIALECTS[2:]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, SINCE_2019),
    ({"dependentSchemas": {"a": {"maxProperties": 1}}}, {"a": 1, "b": 1}, SINCE_2019),
    ({"dependencies": {"a": ["b"]}}, {"a": 1}, DIALECTS),
    ({"contains": {"const": 1}, "minContains": 2}, [1], SINCE_2019),
    ({"contains": {"type": "string"}, "maxContains": 1}, ["a", "b"], SINCE_2019),
    ({"contains": {"type": "string"}, "minContains": 0}, [], UNTIL_07[1:]),
    ({"prefixItems": [{"type": "null"}]}, [1], ("2020-12",)),
    ({"items": [{"type": "null"}]}, [1], DIALECTS[:4]),
    ({"items": [{}], "additionalItems": {"type": "null"}}, [1, 2], DIALECTS[:4]),
    ({"additionalItems": {"type": "null"}}, [1], ()),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, SINCE_2019),
    ({"unevaluatedItems": False}, [1], SINCE_2019),
    ({"type": "integer"}, 1.0, ("draft-04",)),
    ({"minimum": 3, "exclusiveMinimum": True}, 3, ("draft-04",)),
    ({"exclusiveMinimum": 3}, 3, DIALECTS[1:]),
    ({"$ref": "#/definitions/x", "type": "null", "definitions": {"x": {"type": "string"}}}, "a", SINCE_2019),
    ({"allOf": [{"$ref": "#/definitions/x"}], "definitions": {"x": {"not": {"type": "string"}}}}, "a", DIALECTS),
    ({"multipleOf": 0.01}, 0.07, ()),
    ({"multipleOf": 0.01}, 0.075, DIALECTS),
    ({"minimum": 2**70}, 2**70 - 1, DIALECTS),
    ({"enum": [1]}, True, DIALECTS),
    ({"enum": [[0]]}, [False], DIALECTS),
    ({"enum": [1]}, 1.0, ()),
    ({"maxLength": 1}, "😀", ()),
    ({"format": "date"}, "no date", ()),
    ({"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, {"b": None}, DIALECTS),
    ({"properties": {"$ref": {"type": "null"}}}, {"$ref": 1}, DIALECTS),
    ({"properties": {"default": {"type": "null"}}}, {"default": 1}, DIALECTS),
]


def readable(schema: Any, dialect: str) -> bool:
    """Is the schema one of this draft at all?"""
    if dialect == "2020-12" and isinstance(schema.get("items"), list):
        return False
    bound = schema.get("exclusiveMinimum")
    return bound is None or isinstance(bound, bool) == (dialect == "draft-04")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("schema", "value", "refused"), FACTS, ids=lambda part: json.dumps(part)[:60])
def test_fact(schema: Any, value: Any, refused: tuple[str, ...], dialect: str) -> None:
    if readable(schema, dialect):
        assert holds(compile_schema(schema, dialect), value) is (dialect not in refused)
        assert validator(schema, dialect).is_valid(value) is (dialect not in refused)


def test_random_schemas_mean_what_the_validator_says() -> None:
    values = universe()[::7]
    stream = Schemas(5)
    compared = 0
    for _ in range(400):
        one, two, first, second = stream.pair()
        for schema, dialect in ((one, first), (two, second)):
            try:
                judge = validator(schema, dialect)
                node = compile_schema(schema, dialect)
            except (ValueError, SchemaError):
                continue
            compared += 1
            for value in values:
                assert holds(node, value) is judge.is_valid(value), (dialect, schema, value)
    assert compared > 700


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("http://json-schema.org/draft-04/schema#", "draft-04"),
        ("http://json-schema.org/draft-07/schema", "draft-07"),
        ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
        ("https://json-schema.org/draft/2020-12/schema#", "2020-12"),
    ],
)
def test_the_document_names_its_dialect(uri: str, name: str) -> None:
    schema = {"$schema": uri, "items": {"type": "integer"}, "$ref": "#/x", "x": {}}
    assert compile_schema(schema) is compile_schema(schema, name)


def test_an_unknown_dialect_is_named() -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"$schema": "https://example.invalid/mine"})
    assert (caught.value.reason, caught.value.pointer) == ("unknown-dialect", "/$schema")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 5},
        {"type": "text"},
        {"type": [{}]},
        {"properties": []},
        {"required": "a"},
        {"allOf": {}},
        {"items": 3},
        {"minLength": "x"},
        {"minLength": -1},
        {"multipleOf": 0},
        {"minimum": float("nan")},
        {"enum": [float("inf")]},
        {"minimum": 10**5_000},
        {"minimum": Decimal("1e999999999")},
        {"enum": [Decimal("1e-999999999")]},
        {"enum": [Decimal("NaN")]},
        {"$ref": 5},
        {"dependentRequired": {"a": [1]}},
        {"$id": 3, "$ref": "#/a", "a": {"$id": "x"}},
        [],
    ],
)
def test_what_is_no_schema_is_refused_by_name(schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.reason == "invalid-schema"


def test_size_and_depth_end_as_budget() -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"items": deep}
    with pytest.raises(SchemaError, match="budget"):
        compile_schema(deep)
    doubling: dict[str, Any] = {f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 2} for index in range(40)}
    doubling["d40"] = {"properties": {"a": {}}}
    with pytest.raises(SchemaError, match="budget"):
        compile_schema({"$ref": "#/$defs/d0", "$defs": doubling, "unevaluatedProperties": False})


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """A result as the TypeScript SDK wraps it, the schema inside as its generator wrote it."""
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("dialect", "inner"),
    [
        (DRAFT_07, {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}),
        (DRAFT_07, {"type": "array", "items": {"if": {"const": 1}, "then": False}}),
        (DRAFT_04, {"type": "string", "minLength": 1}),
    ],
)
def test_a_dialect_inside_that_changes_nothing_is_heeded_by_nobody(dialect: str, inner: dict[str, Any]) -> None:
    assert compile_schema(wrapped({"$schema": dialect, **inner})) is compile_schema(wrapped(inner))


@pytest.mark.parametrize(
    ("dialect", "inner"),
    [
        (DRAFT_04, {"type": "integer"}),
        (DRAFT_04, {"const": 1}),
        (DRAFT_07, {"prefixItems": [False]}),
        (DRAFT_07, {"$ref": "#/properties/result/properties/a", "maxLength": 1, "properties": {"a": {}}}),
        (DRAFT_07, {"minContains": 2, "contains": {"type": "integer"}}),
        ("https://example.com/schema", {"type": "string"}),
    ],
)
def test_a_dialect_inside_that_changes_something_is_named(dialect: str, inner: dict[str, Any]) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(wrapped({"$schema": dialect, **inner}))
    assert (caught.value.reason, caught.value.pointer) == ("embedded-dialect", "/properties/result/$schema")


def test_verdicts_about_wrapped_schemas() -> None:
    old = {"$schema": DRAFT_07, "type": "object", "properties": {"a": {"type": "string"}}}
    new = {"$schema": DRAFT_07, "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    verdict = classify(wrapped(old), wrapped(new), direction="input")
    assert (verdict.outcome, verdict.via) == ("breaking", "undeclared-key")
    assert classify(wrapped(new), wrapped(old), direction="input").outcome == "compatible"
    moved = classify(
        wrapped(old), wrapped({**old, "$schema": "https://json-schema.org/draft/2020-12/schema"}), direction="output"
    )
    assert (moved.outcome, {finding.level for finding in moved.findings} <= {"info", "annotation"}) == (
        "compatible",
        True,
    )
