"""References lead within their own document, in every spelling, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify.dialects import SchemaError, compile_schema
from driftwatch.classify.prove.evaluate import holds

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, "2020-12"),
        ({"$ref": "#/definitions/a%25b", "definitions": {"a%b": TEXT}}, "draft-07"),
        ({"$ref": "#/definitions/a~1b", "definitions": {"a/b": TEXT}}, "draft-04"),
        ({"$ref": "#/default", "default": TEXT}, "2020-12"),
        ({"$ref": "#/allOf/0", "x-own": [], "allOf": [TEXT]}, "draft-06"),
        ({"$ref": "#mine", "$defs": {"a": {"$anchor": "mine", **TEXT}}}, "2020-12"),
        ({"$ref": "#mine", "definitions": {"a": {"$id": "#mine", **TEXT}}}, "draft-07"),
        ({"$ref": "#mine", "definitions": {"a": {"id": "#mine", **TEXT}}}, "draft-04"),
        (
            {"$id": "https://example.invalid/r", "$ref": "https://example.invalid/r#/$defs/a", "$defs": {"a": TEXT}},
            "2020-12",
        ),
        ({"$id": "https://example.invalid/r", "$ref": "other", "$defs": {"a": {"$id": "other", **TEXT}}}, "2020-12"),
        ({"$ref": "other#/$defs/b", "$defs": {"a": {"$id": "other", "$defs": {"b": TEXT}}}}, "2019-09"),
        ({"$ref": "x/one", "$defs": {"a": {"$id": "x/one", "$ref": "two"}, "b": {"$id": "x/two", **TEXT}}}, "2020-12"),
        ({"$dynamicRef": "#mine", "$defs": {"a": {"$dynamicAnchor": "mine", **TEXT}}}, "2020-12"),
        ({"$dynamicRef": "#mine", "$defs": {"a": {"$anchor": "mine", **TEXT}}}, "2020-12"),
    ],
    ids=str,
)
def test_a_reference_means_its_target(schema: dict[str, Any], dialect: str) -> None:
    assert compile_schema(schema, dialect) is compile_schema(TEXT, dialect)


@pytest.mark.parametrize(
    "reference",
    ["#/nowhere", "#nowhere", "http://127.0.0.1:9/x", "file:///etc/hostname", "other.json", "http://[::1", "#/enum/9"],
)
def test_what_is_not_in_the_document_is_never_fetched(reference: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"properties": {"a": {"$ref": reference}}, "enum": []})
    assert (caught.value.reason, caught.value.pointer) == ("unresolved-reference", "/properties/a")


def test_a_dynamic_reference_depends_on_the_way() -> None:
    """The tree that is extended: the outermost dynamic anchor wins, from the root and not from the inner tree."""
    inner = {
        "$id": "https://example.invalid/tree",
        "$dynamicAnchor": "node",
        "properties": {"kids": {"items": {"$dynamicRef": "#node"}}},
    }
    strict = {
        "$id": "https://example.invalid/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": inner},
    }
    node = compile_schema(strict, "2020-12")
    assert holds(node, {"kids": [{"kids": []}]}) is True
    assert holds(node, {"kids": [{"kid": 1}]}) is False
    assert holds(compile_schema(inner, "2020-12"), {"kids": [{"kid": 1}]}) is True


def test_only_the_resource_a_pointer_ends_in_is_entered() -> None:
    schema = {
        "$id": "https://example.invalid/main",
        "type": "object",
        "properties": {"bar": {"$ref": "bar#/$defs/item"}},
        "$defs": {
            "bar": {
                "$id": "bar",
                "type": "array",
                "items": {"$ref": "item"},
                "$defs": {
                    "item": {
                        "$id": "item",
                        "type": "object",
                        "properties": {"content": {"$dynamicRef": "#content"}},
                        "$defs": {"default": {"$dynamicAnchor": "content", "type": "integer"}},
                    },
                    "content": {"$dynamicAnchor": "content", "type": "string"},
                },
            }
        },
    }
    node = compile_schema(schema, "2020-12")
    assert holds(node, {"bar": {"content": 42}}) is True
    assert holds(node, {"bar": {"content": "text"}}) is False


def test_another_dialect_inside_a_document_is_refused_by_name_where_it_matters() -> None:
    here, there = "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"
    inner = {"$schema": here, "type": "string"}
    assert compile_schema({"$schema": here, "items": inner}) is compile_schema({"items": TEXT})
    with pytest.raises(SchemaError) as caught:
        compile_schema({"$schema": here, "items": {"$schema": there, "prefixItems": [False]}})
    assert (caught.value.reason, caught.value.pointer) == ("embedded-dialect", "/items/$schema")


def test_a_recursive_reference_depends_on_the_way() -> None:
    inner = {
        "$id": "https://example.invalid/tree",
        "$recursiveAnchor": True,
        "properties": {"kids": {"items": {"$recursiveRef": "#"}}},
    }
    strict = {
        "$id": "https://example.invalid/strict",
        "$recursiveAnchor": True,
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": inner},
    }
    node = compile_schema(strict, "2019-09")
    assert holds(node, {"kids": [{"kids": []}]}) is True
    assert holds(node, {"kids": [{"kid": 1}]}) is False


def test_an_ignored_sibling_does_not_move_the_base_up_to_draft_07() -> None:
    schema = {
        "definitions": {"a": {"$id": "https://example.invalid/elsewhere/", "$ref": "#/definitions/b"}, "b": TEXT},
        "properties": {"x": {"$ref": "#/definitions/a"}},
    }
    node = compile_schema(schema, "draft-07")
    assert holds(node, {"x": 1}) is False


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, TEXT]}}, "propertyNames": {"$ref": "#/$defs/a"}},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"if": {"$ref": "#/$defs/a"}, "then": TEXT}}, "items": {"$ref": "#/$defs/a"}},
        {"unevaluatedProperties": False, "anyOf": [{"$ref": "#"}]},
    ],
    ids=str,
)
def test_recursion_in_place_has_no_meaning(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="unguarded-recursion"):
        compile_schema(schema)
