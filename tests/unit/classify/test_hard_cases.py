"""Questions on which schema tools go wrong. ``undecided`` is allowed where the table says so, a wrong answer never."""

# ruff: noqa: E501 - a table reads best with one case per line

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from driftwatch.classify import classify

D4, D6, D7 = "draft-04", "draft-06", "draft-07"
D19, D20 = "2019-09", "2020-12"


class Case(NamedTuple):
    """Is ``new`` within ``old`` (an output question)? ``maybe``: undecided is an answer too."""

    name: str
    old: Any
    new: Any
    expected: str
    old_dialect: str = D20
    new_dialect: str = D20
    maybe: bool = False
    root: Any = "any"


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**obj(**properties), "additionalProperties": False}


TREE = {
    "$defs": {"node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
    "$ref": "#/$defs/node",
}
RENAMED = {
    "$defs": {"knot": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/knot"}}}}},
    "$ref": "#/$defs/knot",
}
UNROLLED = {
    "$defs": TREE["$defs"],
    "type": "object",
    "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
}
JSON_VALUE = {
    "$defs": {
        "JsonValue": {
            "anyOf": [
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/JsonValue"}},
                {"type": "array", "items": {"$ref": "#/$defs/JsonValue"}},
                {"type": ["string", "number", "boolean", "null"]},
            ]
        }
    },
    "$ref": "#/$defs/JsonValue",
}
ENDLESS = {
    "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
    "$ref": "#/$defs/n",
}


def tagged(count: int, **last: Any) -> dict[str, Any]:
    branches = [
        {"type": "object", "properties": {"kind": {"const": f"k{i}"}, "v": {"type": "string"}}, "required": ["kind"]}
        for i in range(count)
    ]
    branches[-1]["properties"].update(last)
    return {"oneOf": branches}


CASES = [
    # numbers and equality
    Case("true is not 1", {"const": 1}, {"const": True}, "breaking"),
    Case("false is not 0", {"enum": [0]}, {"enum": [False]}, "breaking"),
    Case("true is not 1, nested", {"const": [{"a": 1}]}, {"const": [{"a": True}]}, "breaking"),
    Case("1 is 1.0", {"const": 1}, {"const": 1.0}, "compatible"),
    Case("1.0 is an integer", {"type": "integer"}, {"const": 1.0}, "compatible"),
    Case("1.0 is no integer in draft-04", {"type": "integer"}, {"type": "number", "multipleOf": 1}, "breaking", D4, D4),
    Case("a draft-04 schema that lists 1 means 1", {"type": "integer"}, {"enum": [1]}, "compatible", D4, D4, maybe=True),
    Case("beyond 2^53", {"maximum": 2**53}, {"maximum": 2**53 + 1, "type": "integer"}, "breaking"),
    Case("beyond 2^64", {"const": 2**64}, {"const": 2**64 + 1}, "breaking"),
    Case("beyond 2^64, equal", {"const": 2**64 + 1}, {"enum": [2**64 + 1]}, "compatible"),
    Case("multipleOf 0.1 and 0.01", {"multipleOf": 0.01}, {"multipleOf": 0.1}, "compatible"),
    Case("multipleOf 0.01 and 0.1", {"multipleOf": 0.1}, {"multipleOf": 0.01}, "breaking"),
    Case("multipleOf 6 within 2", {"multipleOf": 2}, {"type": "integer", "multipleOf": 6}, "compatible"),
    Case("multipleOf 3 and 2", {"multipleOf": 2}, {"type": "integer", "multipleOf": 3}, "breaking"),
    Case("integer bounds are whole", {"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 0.5}, "compatible"),
    Case("number bounds are not", {"type": "number", "minimum": 1}, {"type": "number", "minimum": 0.5}, "breaking"),
    Case("exclusive integer bound", {"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}, "compatible"),
    Case("boolean exclusiveMaximum", {"maximum": 5}, {"maximum": 5, "exclusiveMaximum": True}, "compatible", D4, D4),
    Case("integer within number", {"type": "number"}, {"type": "integer"}, "compatible"),
    Case("number is not within integer", {"type": "integer"}, {"type": "number"}, "breaking"),
    Case("integer range as enum", {"enum": [1, 2, 3]}, {"type": "integer", "minimum": 1, "maximum": 3}, "compatible"),
    Case("enum values the type forbids", {"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a", 1]}, "compatible"),
    Case("enum order", {"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "compatible"),
    Case("const and one-value enum", {"const": "a"}, {"enum": ["a"]}, "compatible"),
    Case("boolean is an enum of two", {"enum": [True, False]}, {"type": "boolean"}, "compatible"),
    Case("null is an enum of one", {"const": None}, {"type": "null"}, "compatible"),
    # strings
    Case("dollar does not match before a newline", {"pattern": "^a$"}, {"enum": ["a", "a\n"]}, "breaking"),
    Case("digits are ASCII", {"type": "string", "pattern": "^\\d$"}, {"enum": ["5", "٣"]}, "breaking"),
    Case("space is Unicode", {"pattern": "^[ \\t\\n\\r\\f\\v]$"}, {"type": "string", "pattern": "^\\s$"}, "breaking"),
    Case("dot stops at line separators", {"pattern": "^.$"}, {"const": "\u2028"}, "breaking"),
    Case("patterns search", {"pattern": "^a"}, {"type": "string", "pattern": "a"}, "breaking"),
    Case("an anchored pattern within a search", {"pattern": "a"}, {"type": "string", "pattern": "^a$"}, "compatible", maybe=True),
    Case("length counts code points", {"maxLength": 1}, {"const": "😀"}, "compatible"),
    Case("minLength raised", {"type": "string", "minLength": 1}, {"type": "string", "minLength": 2}, "compatible"),
    Case("minLength dropped", {"type": "string", "minLength": 1}, {"type": "string"}, "breaking"),
    Case("a pattern that means a length", {"minLength": 1}, {"type": "string", "pattern": "^.+$"}, "compatible", maybe=True),
    Case("regex written otherwise", {"pattern": "^[ab]$"}, {"type": "string", "pattern": "^(a|b)$"}, "compatible", maybe=True),
    Case("back-references", {"pattern": "^(a|b)\\1$"}, {"const": "aa"}, "compatible", maybe=True),
    Case("look-ahead", {"pattern": "^(?!x)[a-z]$"}, {"const": "x"}, "breaking"),
    Case("word boundary", {"pattern": "\\bfoo\\b"}, {"const": "a foo b"}, "compatible", maybe=True),
    Case("format is no assertion", {"type": "string", "format": "uuid"}, {"type": "string"}, "compatible"),
    Case("format with a pattern", {"type": "string", "pattern": "^a"}, {"type": "string", "format": "uuid"}, "breaking"),
    # objects
    Case("additionalProperties is blind to allOf", {"allOf": [obj(a={})], **closed()}, {"const": {"a": 1}}, "breaking"),
    Case("unevaluatedProperties is not", {"allOf": [obj(a={})], "unevaluatedProperties": False}, {"const": {"a": 1}}, "compatible"),
    Case(
        "unevaluatedProperties over anyOf",
        {"anyOf": [obj(a={"type": "string"}), {"required": ["b"], "properties": {"b": {}}}], "unevaluatedProperties": False},
        {"const": {"b": 1}},
        "compatible",
    ),
    Case("closing again by propertyNames", closed(a={}, b={}), {"type": "object", "propertyNames": {"enum": ["a", "b"]}}, "compatible"),
    Case("a property added to an open object", obj(a={"type": "string"}), obj(a={"type": "string"}, b={}), "compatible"),
    Case("a property added to a closed object", closed(a={}), closed(a={}, b={}), "breaking"),
    Case("a typed property dropped from an open object", obj(a={"type": "string"}), obj(), "breaking"),
    Case("opened", closed(a={}), obj(a={}), "breaking"),
    Case("closed", obj(a={}), closed(a={}), "compatible"),
    Case("required dropped", {**obj(a={}), "required": ["a"]}, obj(a={}), "breaking"),
    Case("required added", obj(a={}), {**obj(a={}), "required": ["a"]}, "compatible"),
    Case("a required key with a default", {**obj(a={}), "required": ["a"]}, obj(a={"default": 1}), "breaking"),
    Case("no type admits non-objects", {"type": "object"}, {"properties": {"a": {}}}, "breaking"),
    Case("no type, only objects count", {"type": "object"}, {"properties": {"a": {}}}, "compatible", root="object"),
    Case("a property named title", obj(title={"type": "string"}), obj(title={"type": ["string", "null"]}), "breaking"),
    Case("a property named default", obj(default={"type": "string"}), obj(default={}), "breaking"),
    Case("a property named $ref", obj(**{"$ref": {"type": "string"}}), obj(**{"$ref": {"type": "integer"}}), "breaking"),
    Case("a property named enum", obj(enum={"type": "string"}), obj(enum={"type": "string", "title": "t"}), "compatible"),
    Case("overlapping patternProperties", {"patternProperties": {"^x": {"type": "string"}, "y$": {"type": "integer"}}}, {"const": {"xy": "a"}}, "breaking"),
    Case("overlapping patternProperties meet nowhere", {"type": "object", "patternProperties": {"^x": {"type": "string"}}}, {"type": "object", "patternProperties": {"^x": {"type": "string"}, "y$": {"type": "integer"}}}, "compatible"),
    Case("dependentRequired chain", {"dependentRequired": {"a": ["c"]}}, {"type": "object", "dependentRequired": {"a": ["b"], "b": ["c"]}}, "compatible"),
    Case("dependentRequired chain broken", {"dependentRequired": {"a": ["c"]}}, {"type": "object", "dependentRequired": {"a": ["b"]}}, "breaking"),
    Case("dependencies and dependentRequired", {"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}, "compatible", D7, D20),
    Case("a counted closed object", {**closed(a={}, b={}), "maxProperties": 2}, closed(a={}, b={}), "compatible"),
    Case("a forbidden property", obj(a=False), obj(a={"not": {}}), "compatible"),
    # arrays
    Case("uniqueItems on a finite domain", {"type": "array", "maxItems": 2}, {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True}, "compatible"),
    Case("uniqueItems of one item", {"type": "array", "uniqueItems": True, "maxItems": 1}, {"type": "array", "maxItems": 1}, "compatible"),
    Case("uniqueItems dropped", {"type": "array", "uniqueItems": True}, {"type": "array"}, "breaking"),
    Case("prefixItems without minItems", {"type": "array", "minItems": 1}, {"type": "array", "prefixItems": [{"type": "string"}]}, "breaking"),
    Case("tuple grows behind a closed tail", {"type": "array", "prefixItems": [{}], "items": False}, {"type": "array", "prefixItems": [{}, {}], "items": False}, "breaking"),
    Case("array-form items mean nothing in 2020-12", {"type": "array", "additionalItems": False}, {"type": "array"}, "compatible"),
    Case("additionalItems in draft-07", {"items": [{}], "additionalItems": False}, {"type": "array"}, "breaking", D7, D7),
    Case("array-form items and prefixItems", {"items": [{"type": "string"}], "additionalItems": False}, {"prefixItems": [{"type": "string"}], "items": False}, "compatible", D7, D20),
    Case("maxContains relaxed", {"type": "array", "contains": {"const": 1}, "maxContains": 1}, {"type": "array", "contains": {"const": 1}, "maxContains": 2}, "breaking"),
    Case("maxContains 0", {"items": {"not": {"type": "integer"}}}, {"type": "array", "contains": {"type": "integer"}, "minContains": 0, "maxContains": 0}, "compatible", maybe=True),
    Case("contains means nothing in draft-04", {"type": "array", "contains": {"type": "integer"}}, {"type": "array"}, "compatible", D4, D4),
    # combinations
    Case("oneOf overlap", {"oneOf": [{"minimum": 0, "type": "integer"}, {"maximum": 5, "type": "integer"}]}, {"const": 3}, "breaking"),
    Case("oneOf of disjoint types is anyOf", {"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "compatible"),
    Case("type list and anyOf", {"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "compatible"),
    Case("allOf merged", {"type": "string", "minLength": 1}, {"allOf": [{"type": "string"}, {"minLength": 1}]}, "compatible"),
    Case("union over a property", {**obj(a={"enum": [1, 2]}), "required": ["a"]}, {"anyOf": [{**obj(a={"const": v}), "required": ["a"]} for v in (1, 2)]}, "compatible"),
    Case("union over a property, other way", {"anyOf": [{**obj(a={"const": v}), "required": ["a"]} for v in (1, 2)]}, {**obj(a={"enum": [1, 2]}), "required": ["a"]}, "compatible", maybe=True),
    Case("tagged union of 20", tagged(20), tagged(20), "compatible"),
    Case("tagged union of 60, one branch wider", tagged(60), tagged(60, v={"type": ["string", "null"]}), "breaking"),
    Case("tagged union gains a branch", tagged(20), tagged(21), "breaking"),
    Case("if then else", {"if": {"properties": {"k": {"const": "a"}}}, "then": {"required": ["x"]}}, {"const": {"k": "a"}}, "breaking"),
    Case("if without then", {"if": {"type": "string"}}, True, "compatible"),
    Case("if means nothing in draft-06", {"if": True, "then": False}, True, "compatible", D6, D6),
    Case("not of not", {"type": "string"}, {"not": {"not": {"type": "string"}}}, "compatible"),
    Case("an unsatisfiable NEW", {"type": "string"}, {"type": "integer", "minimum": 2, "maximum": 1}, "compatible"),
    Case("an unsatisfiable OLD", {"allOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "string"}, "breaking"),
    Case("true and the empty schema", {}, True, "compatible"),
    Case("false accepts nothing", {"type": "string"}, False, "compatible"),
    # references and dialects
    Case("siblings of $ref in 2020-12", {"$defs": {"s": {}}, "$ref": "#/$defs/s", "type": "string"}, {"const": 1}, "breaking"),
    Case("siblings of $ref in draft-07", {"definitions": {"s": {}}, "properties": {"a": {"$ref": "#/definitions/s", "type": "string"}}}, {"const": {"a": 1}}, "compatible", D7, D7),
    Case("$ref # below a subschema", {**obj(kid={"$ref": "#"}), "required": ["id"]}, {"const": {"id": 1, "kid": {}}}, "breaking"),
    Case("recursion renamed", TREE, RENAMED, "compatible"),
    Case("recursion unrolled", TREE, UNROLLED, "compatible", maybe=True),
    Case("recursion without an end is empty", {"type": "string"}, ENDLESS, "compatible", maybe=True),
    Case("JsonValue is everything", JSON_VALUE, True, "compatible", maybe=True),
    Case("everything is no less than JsonValue", True, JSON_VALUE, "compatible"),
    Case("$ref into default", {**obj(a={"$ref": "#/default"}), "default": {"type": "string"}}, {**obj(a={"$ref": "#/default"}), "default": {"type": "integer"}}, "breaking"),
    Case(
        "swapped anchors",
        {"$defs": {"a": {"$anchor": "x", "type": "string"}, "b": {"$anchor": "y", "type": "null"}}, "$ref": "#x"},
        {"$defs": {"a": {"$anchor": "y", "type": "string"}, "b": {"$anchor": "x", "type": "null"}}, "$ref": "#x"},
        "breaking",
    ),
    Case(
        "swapped ids",
        {"$id": "http://x/", "$defs": {"a": {"$id": "a", "type": "string"}, "b": {"$id": "b", "type": "null"}}, "$ref": "a"},
        {"$id": "http://x/", "$defs": {"a": {"$id": "b", "type": "string"}, "b": {"$id": "a", "type": "null"}}, "$ref": "a"},
        "breaking",
    ),
    Case("definitions inlined", {"$defs": {"s": {"type": "string"}}, **obj(a={"$ref": "#/$defs/s"})}, obj(a={"type": "string"}), "compatible"),
    Case("unused definitions", {"$defs": {"s": {"type": "string"}}}, {"$defs": {"s": {"type": "null"}}}, "compatible"),
    Case("const means nothing in draft-04", {"const": 1}, {"const": 2}, "compatible", D4, D4),
    Case("remote references are never fetched", {"$ref": "http://127.0.0.1:9/x"}, {"type": "string"}, "undecided"),
    Case("file references are never read", {"$ref": "file:///etc/hostname"}, {"type": "string"}, "undecided"),
    Case("several dynamic candidates", {"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x"}}}, {"type": "string"}, "compatible", maybe=True),
    Case("contentEncoding refuses nothing", {"type": "string", "contentEncoding": "base64"}, {"type": "string"}, "compatible", D7, D7),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hard_case(case: Case) -> None:
    verdict = classify(
        case.old,
        case.new,
        direction="output",
        root=case.root,
        old_dialect=case.old_dialect,
        new_dialect=case.new_dialect,
    )
    assert verdict.outcome in ({case.expected, "undecided"} if case.maybe else {case.expected}), verdict


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_input_question_is_the_output_question_turned_round(case: Case) -> None:
    verdict = classify(
        case.new,
        case.old,
        direction="input",
        root=case.root,
        old_dialect=case.new_dialect,
        new_dialect=case.old_dialect,
    )
    assert verdict.outcome in ({case.expected, "undecided"} if case.maybe else {case.expected}), verdict


def test_the_table_is_large_enough() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 80
