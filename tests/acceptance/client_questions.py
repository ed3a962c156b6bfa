"""Schemas and results to ask the real clients about: what servers declare, and what is meant to trip validators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

D04 = "http://json-schema.org/draft-04/schema#"
D06 = "http://json-schema.org/draft-06/schema#"
D07 = "http://json-schema.org/draft-07/schema#"
D2019 = "https://json-schema.org/draft/2019-09/schema"
D2020 = "https://json-schema.org/draft/2020-12/schema"

#: fragments with values; each is asked about as the property ``v`` of an object
FRAGMENTS: list[tuple[dict[str, Any] | bool, list[Any]]] = [
    # what pydantic and zod write
    ({"type": "string"}, ["a", None, 1]),
    ({"type": ["string", "null"]}, ["a", None, 1]),
    ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Note"}, [None, "a", []]),
    ({"enum": ["open", "closed"]}, ["open", "archived", None]),
    ({"const": "a", "type": "string"}, ["a", "b"]),
    ({"type": "integer", "minimum": 0, "maximum": 10}, [0, 10, 11, -1, 1.0, 1.5, True, "1"]),
    ({"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991}, [2**53, 2**53 - 1, -(2**60)]),
    ({"type": "number", "exclusiveMinimum": 0}, [0, 1e-9, -1]),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 2}, [[], ["a"], ["a", 1], ["a", "b", "c"]]),
    ({"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False}, [{"x": 1}, {"y": 1}]),
    ({"type": "object", "additionalProperties": {"type": "number"}}, [{"a": 1}, {"a": "1"}]),
    ({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}, [{"ab": 1}, {"A": 1}]),
    (
        {"oneOf": [{"type": "object", "properties": {"k": {"const": c}}, "required": ["k"]} for c in "ab"]},
        [{"k": "a"}, {"k": "c"}, {}],
    ),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "a", "\U0001f600\U0001f600", "abcd"]),
    (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False},
        [["a", 1], ["a", "b"]],
    ),
    ({"type": "array", "items": [{"type": "string"}, {"type": "number"}]}, [["a", 1], ["a", "b"]]),
    ({"type": "array", "items": [{"type": "string"}], "additionalItems": False}, [["a"], ["a", "b"], [1]]),
    ({}, [None, 1, "x"]),
    (True, [1]),
    (False, [1]),
    # formats
    ({"type": "string", "format": "date-time"}, ["2026-11-30T14:02:00Z", "2026-11-30 14:02:00Z", "2026-11-30", "x"]),
    ({"type": "string", "format": "date"}, ["2024-02-29", "2023-02-29"]),
    ({"type": "string", "format": "uri"}, ["https://a.b/c?d#e", "a b", "x"]),
    ({"type": "string", "format": "email"}, ["a@b.co", "a@b"]),
    ({"type": "string", "format": "uuid"}, ["00000000-0000-0000-0000-000000000000", "0"]),
    ({"type": "string", "format": "ipv6"}, ["::1", "1::2::3"]),
    ({"type": "string", "format": "duration"}, ["P1D", "P"]),
    ({"type": "string", "format": "hostname"}, ["a.b", "a_b"]),
    ({"type": "integer", "format": "int32"}, [2**31, 1]),
    ({"type": "string", "format": "made-up"}, ["x"]),
    ({"type": "string", "format": "idn-email"}, ["x"]),
    ({"format": "date"}, [1, None]),
    # OpenAPI's habits
    ({"type": "string", "nullable": True}, [None, "a", 1]),
    ({"type": "string", "nullable": False}, [None, "a"]),
    ({"type": ["string", "null"], "nullable": False}, [None]),
    ({"enum": ["a"], "type": "string", "nullable": True}, [None, "a"]),
    ({"anyOf": [{"type": "string"}], "nullable": True}, [None, "a"]),
    ({"nullable": True}, [None, "a"]),
    ({"type": "string", "nullable": "yes"}, [None, "a"]),
    ({"id": "v", "type": "string"}, ["a"]),
    ({"type": "object", "properties": {"id": {"type": "string"}}}, [{"id": "a"}, {"id": 1}]),
    ({"minimum": 5, "exclusiveMinimum": True}, [5, 6]),
    ({"type": "object", "required": True}, [{}]),
    ({"type": "any"}, [1]),
    ({"type": "file"}, ["a"]),
    ({"type": []}, [1]),
    ({"type": None}, [1]),
    ({"discriminator": {"propertyName": "k"}, "type": "object"}, [{}]),
    ({"example": {"$id": "x"}, "deprecated": "yes", "type": "string"}, ["a", 1]),
    # keywords of other drafts
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependencies": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependencies": {"a": {"required": ["b"]}}}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"contains": {"type": "string"}, "minContains": 2}, [["a"], ["a", "b"], []]),
    ({"contains": {"type": "string"}, "minContains": 0}, [[]]),
    ({"contains": {"type": "string"}, "maxContains": 1}, [["a", "b"], ["a"]]),
    ({"properties": {"a": True}, "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    ({"anyOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": False}, [{"a": "x"}, {"b": 1}]),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, [{"a": 1}, {"c": 1}, {}]),
    ({"then": {"required": ["b"]}}, [{}]),
    # numbers
    ({"multipleOf": 0.1}, [0.3, 0.2, 1, 0]),
    ({"multipleOf": 0.01}, [19.99, 0.07, 1.1]),
    ({"multipleOf": 3}, [9, 10, 1e21, 3e20]),
    ({"multipleOf": -2}, [4]),
    ({"multipleOf": 0}, [0, 1]),
    ({"const": 9007199254740993}, [9007199254740992, 9007199254740993]),
    ({"enum": [1, "1", True]}, [1, 1.0, True, False, "1"]),
    ({"enum": [0]}, [False, 0, 0.0]),
    ({"enum": [[1], {"a": 1}]}, [[1], [True], {"a": 1.0}]),
    ({"enum": []}, [1]),
    ({"minLength": 1.5}, ["a", "ab"]),
    ({"minLength": -1}, [""]),
    ({"maxItems": "2"}, [[]]),
    ({"type": "integer"}, [1e300, 1.0, 10**30]),
    ({"uniqueItems": True}, [[1, 1.0], [1, True], [{"a": 1}, {"a": 1}], ["a", "b"]]),
    ({"uniqueItems": "yes"}, [[1, 1]]),
    ({"items": {"type": ["string", "number"]}, "uniqueItems": True}, [[1, "1"], ["a", "a"]]),
    # patterns
    ({"pattern": "^\\d+$"}, ["12", "١٢", "12\n", "a"]),
    ({"pattern": "^\\w+$"}, ["ab", "é"]),
    ({"pattern": "^\\s$"}, ["\u00a0", "\ufeff", "\x1c", " "]),
    ({"pattern": "^a.b$"}, ["a\u2028b", "a\rb", "axb", "a\nb"]),
    ({"pattern": "a$"}, ["a", "a\n"]),
    ({"pattern": "\\Z"}, ["a"]),
    ({"pattern": "a{,3}"}, ["a", "a{,3}"]),
    ({"pattern": "("}, ["a"]),
    ({"pattern": "^\\p{Lu}+$"}, ["ÀB", "a"]),
    ({"pattern": "^(?!no).*$"}, ["yes", "not"]),
    ({"pattern": "(?<=a)b"}, ["ab", "cb"]),
    ({"pattern": "^(a)\\1$"}, ["aa", "ab"]),
    ({"pattern": "(?i)abc"}, ["ABC"]),
    ({"pattern": "\\-"}, ["-"]),
    ({"pattern": "[\\w-.]"}, ["-"]),
    ({"pattern": "^.$"}, ["\U0001f600"]),
    ({"pattern": 5}, ["5"]),
    (
        {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
        [{"xa": "a"}, {"xa": 1}, {"a": 1}],
    ),
    ({"patternProperties": {"(": {"type": "string"}}}, [{"a": 1}]),
    ({"patternProperties": {"(": True}}, [{"a": 1}]),
    # shapes no validator expects
    ({"anyOf": []}, [1]),
    ({"allOf": []}, [1]),
    ({"oneOf": []}, [1]),
    ({"anyOf": {}}, [1]),
    ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, ["a", "ab", 1]),
    ({"not": {}}, [1]),
    ({"not": {"type": "string"}}, ["a", 1]),
    ({"properties": []}, [{}]),
    ({"properties": {"a": "string"}}, [{"a": 1}]),
    ({"properties": {"a": None}}, [{"a": 1}]),
    ({"items": None}, [[]]),
    ({"required": ["a", "a"]}, [{}, {"a": 1}]),
    ({"required": ["toString"]}, [{}]),
    ({"properties": {"constructor": {"type": "string"}}}, [{}, {"constructor": "a"}]),
    ({"properties": {"valueOf": {}}}, [{}]),
    ({"$comment": 5, "title": 5, "description": None}, [1]),
    ({"contentEncoding": "base64", "contentMediaType": "application/json"}, ["!", "e30="]),
    ({"$async": True, "type": "string"}, [1]),
    ({"formatMinimum": "2020-01-01", "type": "string"}, ["2019-01-01"]),
    ({"formatMinimum": "a", "format": "email"}, ["a@b.co"]),
]

_DEFS = {"name": {"type": "string", "maxLength": 3}}
#: whole documents with results
DOCUMENTS: list[tuple[dict[str, Any], list[Any]]] = [
    *(
        ({"$schema": dialect, "type": "object", "properties": {"a": {"type": "string"}}}, [{"a": 1}, {"a": "x"}, {}])
        for dialect in (
            *(D04, D06, D07, D07.removesuffix("#"), D2019, D2020, D2020.replace("https", "http")),
            *("https://json-schema.org/draft-07/schema", "https://example.com/schema", "", "draft-07"),
        )
    ),
    ({"$schema": 7, "type": "object"}, [{}]),
    *(
        (
            {
                **mark,
                "type": "object",
                "properties": {"a": {"$ref": "#/definitions/name", "minLength": 2}},
                "definitions": _DEFS,
            },
            [{"a": "abcd"}, {"a": "a"}, {"a": "ab"}],
        )
        for mark in ({}, {"$schema": D07}, {"$schema": D2019}, {"$schema": D04})
    ),
    *(
        (
            {**mark, "type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
            [{"a": [1]}, {"a": ["a"]}],
        )
        for mark in ({}, {"$schema": D07}, {"$schema": D2019}, {"$schema": D2020})
    ),
    ({"type": "object", "properties": {"a": {"$ref": "#/$defs/name"}}, "$defs": _DEFS}, [{"a": "abcd"}, {"a": "ab"}]),
    ({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}, [{"a": 1}, {}]),
    ({"type": "object", "$defs": {"unused": {"pattern": "(", "type": "nonsense"}}}, [{}]),
    ({"type": "object", "$defs": {"unused": {"$ref": "#/nowhere"}}}, [{}]),
    ({"type": "object", "properties": {"a": {"$ref": "https://example.com/s.json"}}}, [{"a": 1}, {}]),
    ({"type": "object", "properties": {"a": {"$ref": "other.json#/x"}}}, [{"a": 1}, {}]),
    (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#name"}},
            "$defs": {"n": {"$anchor": "name", "type": "string"}},
        },
        [{"a": 1}, {"a": "x"}],
    ),
    (
        {"type": "object", "properties": {"a": {"$ref": "#n"}}, "definitions": {"n": {"$id": "#n", "type": "string"}}},
        [{"a": 1}, {"a": "x"}],
    ),
    (
        {"type": "object", "properties": {"a": {"$ref": "n"}}, "$defs": {"n": {"$id": "n", "type": "string"}}},
        [{"a": 1}, {"a": "x"}],
    ),
    (
        {
            "$id": "https://example.com/root",
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/name"}},
            "$defs": _DEFS,
        },
        [{"a": 1}, {"a": "x"}],
    ),
    (
        {
            "$id": "https://example.com/root",
            "type": "object",
            "properties": {"a": {"$ref": "leaf"}},
            "$defs": {"leaf": {"$id": "leaf", "type": "string"}},
        },
        [{"a": 1}, {"a": "x"}],
    ),
    ({"$id": 5, "type": "object"}, [{}]),
    ({"type": "object", "$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, [{}]),
    ({"type": "object", "$defs": {"a": {"$anchor": "1x"}}}, [{}]),
    (
        {"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "number"}}},
        [{"n": 1, "next": {"n": "x"}}, {"next": {"next": {}}}],
    ),
    ({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}}, [{"a": 1}]),
    ({"type": "object", "properties": {"a": {"$ref": "#/default"}}, "default": {"type": "string"}}, [{"a": 1}]),
    (
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b%25"}}, "$defs": {"a/b%": {"type": "string"}}},
        [{"a": 1}, {"a": "x"}],
    ),
    ({"type": "object", "properties": {"$ref": {"type": "string"}}}, [{"$ref": 1}, {"$ref": "x"}]),
    ({"type": "object", "$ref": "#/$defs/o", "$defs": {"o": {"required": ["a"]}}}, [{}, {"a": 1}]),
    (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/o", "nullable": True}},
            "$defs": {"o": {"type": "object"}},
        },
        [{"a": None}, {"a": {}}],
    ),
    ({"type": "object", "properties": {"a": True}}, [{"a": 1}]),
    ({"type": "object", "properties": {"a": False}}, [{"a": 1}, {}]),
    ({"type": "object", "properties": {"a": ["string"]}}, [{"a": 1}]),
    ({"type": "object", "properties": "none"}, [{}]),
    ({"type": "object", "required": [1]}, [{}]),
    ({"type": "object", "required": "a"}, [{}]),
    ({"type": "object", "$async": True, "required": ["a"]}, [{}]),
    ({"type": "object", "allOf": [{"$ref": "#"}]}, [{}]),
    (
        {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
        [{"a": 1}, {"b": 1}, {"__proto__": 1}],
    ),
    ({"type": "object", "allOf": [{"properties": {"a": {}}}], "additionalProperties": False}, [{"a": 1}]),
    ({"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, [{"a": 1}, {"b": 1}]),
    ({"type": ["object", "null"]}, [{}, None]),
    ({"properties": {"a": {"type": "string"}}}, [{"a": 1}, {}]),
    ({"type": "array", "items": {"type": "string"}}, [["a"], [1], None, {}]),
    ({"type": "null"}, [None, 0]),
    ({"anyOf": [{"type": "object"}, {"type": "null"}]}, [None, {}, "x", 0, False, ""]),
    (
        {"$dynamicAnchor": "node", "type": "object", "properties": {"kids": {"items": {"$dynamicRef": "#node"}}}},
        [{"kids": [1]}, {"kids": [{}]}],
    ),
]


def questions() -> Iterator[dict[str, Any]]:
    """Every question, for each client in each era it speaks: {client, era, schema, value?, absent?}."""
    for fragment, values in FRAGMENTS:
        schema = {"type": "object", "properties": {"v": fragment}}
        yield from _asked(schema, [{"v": value} for value in values])
    for schema, results in DOCUMENTS:
        yield from _asked(schema, results)
    for schema in ({"type": "object"}, {"type": "object", "pattern": "("}, {"type": "string"}):
        yield from ({**question, "absent": True} for question in _asked(schema, [None]))


CLIENTS = (
    ("ts1", "legacy"),
    ("ts2", "legacy"),
    ("ts2", "modern"),
    ("py1", "legacy"),
    ("py2", "legacy"),
    ("py2", "modern"),
)


def _asked(schema: dict[str, Any], results: list[Any]) -> Iterator[dict[str, Any]]:
    for result in results:
        for client, era in CLIENTS:
            # The legacy protocol knows object roots only; mcp 1.x alone puts up with others, and we say ``list-lost``.
            if client != "py1" or schema.get("type") == "object":
                yield {"client": client, "era": era, "schema": schema, "value": result}
