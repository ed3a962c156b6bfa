from __future__ import annotations

from typing import Any

import pytest

from driftwatch.capture.semantic import dialect_of, semantic_digest

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


SAME = [
    (
        "title, description, examples",
        obj(a={"type": "string", "title": "A", "description": "x", "examples": [1]}),
        obj(a={"type": "string"}),
    ),
    (
        "default is an annotation",
        obj(a={"type": "string", "default": "2026"}),
        obj(a={"type": "string", "default": "2027"}),
    ),
    ("format is an annotation", obj(a={"type": "string", "format": "uri"}), obj(a={"type": "string"})),
    ("$comment and deprecated", {"$comment": "x", "deprecated": True}, {}),
    ("required is a set", {"required": ["a", "b"]}, {"required": ["b", "a", "b"]}),
    ("enum is a set", {"enum": [1, "a", None]}, {"enum": [None, 1.0, "a"]}),
    ("type is a set", {"type": ["null", "string"]}, {"type": ["string", "null"]}),
    ("one type is a type", {"type": ["string"]}, {"type": "string"}),
    (
        "branches have no order",
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ),
    ("1 and 1.0", {"minimum": 1}, {"minimum": 1.0}),
    ("the dialect marker alone", {"$schema": DRAFT_07, "type": "object"}, {"$schema": DRAFT_2020, "type": "object"}),
    ("the dialect marker appears", {"type": "object"}, {"$schema": DRAFT_07, "type": "object"}),
    ("unknown keywords", {"x-order": 1}, {"x-order": 2}),
    (
        "dependentRequired lists are sets",
        {"dependentRequired": {"a": ["b", "c"]}},
        {"dependentRequired": {"a": ["c", "b"]}},
    ),
    (
        "annotations below a definition",
        {"$defs": {"A": {"title": "x"}}, "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"$defs": {"A": {}}, "properties": {"a": {"$ref": "#/$defs/A"}}},
    ),
]
DIFFERENT = [
    ("a property named title", obj(title={"type": "string"}), obj(title={"type": "integer"})),
    ("a property named default", obj(default={"type": "string"}), obj()),
    ("a property named enum", obj(enum={"type": "string"}), obj(enum={"type": "number"})),
    (
        "a pattern property named description",
        {"patternProperties": {"description": {"type": "string"}}},
        {"patternProperties": {}},
    ),
    ("const keeps everything", {"const": {"title": 1}}, {"const": {"title": 2}}),
    ("const keeps order of lists", {"const": [1, 2]}, {"const": [2, 1]}),
    ("enum keeps everything", {"enum": [{"description": 1}]}, {"enum": [{"description": 2}]}),
    ("true is not 1", {"const": True}, {"const": 1}),
    ("tuples have an order", {"prefixItems": [{"type": "null"}, True]}, {"prefixItems": [True, {"type": "null"}]}),
    ("oneOf counts its branches", {"oneOf": [{"type": "null"}]}, {"oneOf": [{"type": "null"}, {"type": "null"}]}),
    (
        "draft matters to array-form items",
        {"$schema": DRAFT_07, "items": [True]},
        {"$schema": DRAFT_2020, "items": [True]},
    ),
    (
        "draft matters to siblings of $ref",
        {"$schema": DRAFT_07, "$ref": "#", "type": "object"},
        {"$schema": DRAFT_2020, "$ref": "#", "type": "object"},
    ),
    (
        "draft-04 is another language",
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"},
        {"type": "integer"},
    ),
    (
        "a reference into a default",
        {"default": {"type": "string"}, "properties": {"a": {"$ref": "#/default"}}},
        {"default": {"type": "number"}, "properties": {"a": {"$ref": "#/default"}}},
    ),
    (
        "a reference into an unknown keyword",
        {"x": {"y": {"type": "string"}}, "not": {"$ref": "#/x/y"}},
        {"x": {"y": {"type": "number"}}, "not": {"$ref": "#/x/y"}},
    ),
    (
        "a reference by position",
        {"anyOf": [{"type": "string"}, {"type": "null"}], "not": {"$ref": "#/anyOf/0"}},
        {"anyOf": [{"type": "null"}, {"type": "string"}], "not": {"$ref": "#/anyOf/0"}},
    ),
    ("x-mcp-header", obj(a={"x-mcp-header": "A"}), obj(a={"x-mcp-header": "B"})),
    ("big integers", {"maximum": 2**64}, {"maximum": 2**64 + 1}),
    ("$id", {"$id": "urn:a"}, {"$id": "urn:b"}),
    ("booleans", True, False),
    ("additionalProperties", {"additionalProperties": False}, {"additionalProperties": True}),
    ("a malformed list of properties", {"properties": [1, 2]}, {"properties": [2, 1]}),
]


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_the_same_meaning(old: Any, new: Any) -> None:
    assert semantic_digest(old) == semantic_digest(new)


@pytest.mark.parametrize(("old", "new"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT])
def test_another_meaning(old: Any, new: Any) -> None:
    assert semantic_digest(old) != semantic_digest(new)


@pytest.mark.parametrize(
    "schema", [None, 5, "x", [], {"properties": None}, {"required": None}, {"items": [5]}, {"enum": 3}, {"$ref": 4}]
)
def test_malformed_schemas_have_a_digest_too(schema: Any) -> None:
    assert len(semantic_digest(schema)) == 64


def test_the_dialect_is_known_with_and_without_its_fragment() -> None:
    assert dialect_of({"$schema": DRAFT_07}) == dialect_of({"$schema": DRAFT_07.removesuffix("#")})
    assert dialect_of({"$schema": 7}) is None
    assert dialect_of(True) is None
