from __future__ import annotations

import time
from typing import Any

import pytest

from driftwatch.web.pages import contract, schema_words


def words(schema: Any) -> str:
    return schema_words.words(schema, schema)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, "anything"),
        ({}, "anything"),
        (False, "nothing"),
        ("text", "not a schema"),
        ({"type": "string"}, "string"),
        ({"type": ["null", "string"]}, "string or null"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "string or null"),
        ({"type": "string", "format": "uri"}, "string, uri"),
        ({"type": "string", "minLength": 3, "maxLength": 32}, "string, 3 to 32 characters"),
        ({"type": "string", "minLength": 4, "maxLength": 4}, "string, exactly 4 characters"),
        ({"type": "string", "minLength": 1}, "string, 1 or more characters"),
        ({"type": "string", "minLength": 0}, "string"),
        ({"type": "string", "pattern": "^[A-Z]-[0-9]+$"}, "string, like ^[A-Z]-[0-9]+$"),
        ({"type": "integer", "minimum": 1}, "integer ≥ 1"),
        ({"type": "number", "minimum": 0, "maximum": 100}, "number 0 to 100"),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 5}, "number > 0, multiple of 5"),
        ({"enum": ["open", "packed", "sent"]}, "one of open, packed, sent"),
        ({"enum": ["a", None]}, "exactly a or null"),
        ({"enum": ["true", True, "x y"]}, 'one of "true", true, "x y"'),
        ({"enum": list(range(20))}, "one of 0, 1, 2, 3, 4, 5, 6, 7, 12 more"),
        ({"enum": []}, "nothing"),
        ({"const": None}, "exactly null"),
        ({"type": "array", "items": {"type": "object"}, "minItems": 1}, "list of object, 1 or more"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}, "list of one of a, b, no repeats"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}]}, "list: string, then integer, then more"),
        (
            {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
            "list: string",
        ),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object, each key number"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "string and anything"),
        ({"if": {}, "type": "string"}, "string, with conditions"),
        ({"$ref": "https://elsewhere.example/schema"}, 'see "https://elsewhere.example/schema"'),
        ({"$ref": "#"}, 'see "#"'),
    ],
)
def test_a_schema_in_words(schema: Any, expected: str) -> None:
    assert words(schema) == expected


def test_a_field_list_with_needs_defaults_and_descriptions() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The order's id."},
            "locale": {"type": "string", "default": "en", "deprecated": True},
        },
        "required": ["id", "undeclared"],
        "additionalProperties": False,
    }
    rows = contract.read(schema).rows
    assert [(row.name, row.words, row.required) for row in rows] == [
        ("id", "string", True),
        ("locale", "string", False),
        ("undeclared", "anything", True),
        ("any other key", "refused", None),
    ]
    assert rows[0].description == "The order's id."
    assert (rows[1].default, rows[1].deprecated) == ('"en"', True)


def test_references_are_expanded_where_they_stand_and_known_by_both_pointers() -> None:
    schema = {
        "$defs": {"Item": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
    }
    rows = {row.name: row for row in contract.read(schema).rows}
    assert rows["items"].words == "list of Item"
    assert rows["sku"].depth == 1
    assert rows["sku"].path == ("items", contract.ITEMS, "sku")
    assert set(rows["sku"].pointers) == {"/properties/items/items/properties/sku", "/$defs/Item/properties/sku"}


def test_a_recursive_schema_is_expanded_once() -> None:
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}}},
    }
    assert [row.name for row in contract.read(schema).rows if not row.implied] == ["child"]


def test_kinds_of_a_union_are_told_by_their_constant() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "card"}, "number": {"type": "string"}}},
            {"type": "object", "properties": {"kind": {"const": "bank"}}},
        ]
    }
    names = [row.name for row in contract.read(schema).rows if not row.implied]
    assert names == ["if kind is card", "kind", "number", "if kind is bank", "kind"]


def test_a_property_may_have_any_name() -> None:
    schema = {"type": "object", "properties": {"*": {}, "[]": {}, "$ref": {"type": "string"}, "a/b~c": {}}}
    rows = contract.read(schema).rows
    assert [row.name for row in rows] == ["*", "[]", "$ref", "a/b~c", "any other key"]
    assert rows[3].pointers == ("/properties/a~1b~0c",)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
        ("http://json-schema.org/draft-07/schema#", "draft-07"),
        (None, None),
        (7, None),
    ],
)
def test_the_dialect_is_named_short(text: Any, short: str | None) -> None:
    assert contract.dialect({"$schema": text} if text is not None else {}) == short


def _chain(keyword: str, length: int) -> dict[str, Any]:
    """Definitions that each refer to the next one twice: 2^length ways down."""
    wrap = {"anyOf": lambda ref: {"anyOf": [ref, ref]}, "allOf": lambda ref: {"allOf": [ref, ref]}}
    wrap["items"] = lambda ref: {"items": ref}
    definitions = {f"A{i}": wrap[keyword]({"$ref": f"#/$defs/A{i + 1}"}) for i in range(length)}
    definitions[f"A{length}"] = {"properties": {"x": {}}}
    return {"$defs": definitions, "type": "object", "properties": {"a": {"$ref": "#/$defs/A0"}}}


@pytest.mark.parametrize(("keyword", "length"), [("anyOf", 60), ("allOf", 60), ("items", 20_000)])
def test_definitions_that_multiply_are_cut_short(keyword: str, length: int) -> None:
    started = time.monotonic()
    found = contract.read(_chain(keyword, length))
    assert time.monotonic() - started < 5
    assert 0 < len(found.rows) <= contract.MAX_ROWS
    assert all(len(row.words) <= schema_words.MAX_WORDS for row in found.rows)


def test_ten_thousand_fields_are_capped_and_counted() -> None:
    schema = {"type": "object", "properties": {f"f{i}": {"description": "x" * 5000} for i in range(10_000)}}
    found = contract.read(schema)
    assert len(found.rows) == contract.MAX_ROWS
    assert found.left_out == 10_000 - contract.MAX_ROWS
    assert max(len(row.description or "") for row in found.rows) <= contract.MAX_DESCRIPTION


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"properties": []},
        {"properties": {"a": None}, "required": "a"},
        {"required": [None, 1, {}]},
        {"anyOf": {}},
        {"anyOf": [None, 3]},
        {"allOf": "x"},
        {"items": [[]]},
        {"patternProperties": {"(": None}},
        {"type": [None, 3]},
        {"type": 3},
        {"enum": "abc"},
        {"minimum": "x", "type": "number"},
        {"$ref": 5},
        {"$ref": "#/properties/a/b"},
        {"$ref": "#/items/99999999999999999999"},
        {"additionalProperties": []},
    ],
)
def test_what_is_no_schema_is_shown_as_far_as_it_goes(schema: Any) -> None:
    found = contract.read(schema)
    assert isinstance(found.root, str)
    assert all(isinstance(row.words, str) for row in found.rows)
