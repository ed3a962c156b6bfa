"""Ajv without Node: what compiles, what the compiled schema means, and in which words it complains."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from driftwatch.classify.clients import formats
from driftwatch.classify.clients.ajv import Ajv, CompileError, NotReadableError
from driftwatch.classify.clients.ajv_keywords import Engine

D07 = "http://json-schema.org/draft-07/schema#"
BOTH: tuple[Engine, ...] = ("classic", "2020-12")


def complaint(schema: Any, value: Any, engine: Engine = "2020-12") -> str | None:
    refusal = Ajv(schema, engine).refusal(value)
    return None if refusal is None else f"{refusal.pointer} {refusal.message}"


@pytest.mark.parametrize(
    ("schema", "message", "pointer"),
    [
        ({"type": "any"}, "type must be JSONType", "/type"),
        ({"nullable": True}, '"nullable" cannot be used without "type"', "/nullable"),
        ({"type": "null", "nullable": False}, "contradicts", "/nullable"),
        ({"minimum": 1, "exclusiveMinimum": True}, "exclusiveMinimum value must be", "/exclusiveMinimum"),
        ({"properties": {"a": {"required": True}}}, "required value must be", "/properties/a/required"),
        ({"properties": {"a": {"id": "x"}}}, 'keyword "id"', "/properties/a/id"),
        ({"properties": {"a": {"$async": True}}}, "async schema in sync schema", "/properties/a/$async"),
        ({"enum": []}, "non-empty", "/enum"),
        ({"pattern": "(?i)a"}, "Invalid regular expression", "/pattern"),
        ({"patternProperties": {"[": {"type": "string"}}}, "Invalid regular expression", "/patternProperties"),
        ({"$ref": "#/$defs/gone"}, "can't resolve reference #/$defs/gone from id #", "/$ref"),
        ({"$ref": "https://example.com/x"}, "can't resolve reference", "/$ref"),
        ({"$id": 5}, "schema $id must be string", "/$id"),
        ({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, "more than one schema", "/$defs/b"),
        ({"$defs": {"a": {"$anchor": "1"}}}, 'invalid anchor "1"', "/$defs/a/$anchor"),
        ({"formatMinimum": "a"}, "must have dependencies", "/formatMinimum"),
        ({"properties": {"a": None}}, "null", "/properties/a"),
    ],
)
def test_what_does_not_compile(schema: Any, message: str, pointer: str) -> None:
    for engine in BOTH:
        with pytest.raises(CompileError) as caught:
            Ajv(schema, engine)
        assert message in caught.value.message
        assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"unused": {"pattern": "(", "type": "nonsense"}}},
        {"properties": {"id": {"type": "string"}}},
        {"title": 5, "examples": "none", "$schema": "anything", "made-up": {"pattern": "("}},
        {"default": {"$anchor": "1"}, "enum": [{"$id": 5}]},
        {"then": {"pattern": "("}},
        {"required": ["a", "a"], "minLength": -1, "maxItems": 1.5},
    ],
)
def test_what_compiles_although_it_is_wrong(schema: Any) -> None:
    for engine in BOTH:
        assert Ajv(schema, engine)


def test_classic_ajv_does_not_know_later_keywords() -> None:
    later = {"dependentRequired": {"a": ["b"]}, "unevaluatedProperties": False, "prefixItems": [False]}
    assert complaint(later, {"a": 1}, "classic") is None
    assert complaint(later, {"a": 1}) is not None
    assert complaint({"items": [{"type": "string"}], "additionalItems": False}, ["a", 1], "classic") is not None
    with pytest.raises(CompileError, match="items value must be"):
        Ajv({"items": [{}]}, "2020-12")


def test_classic_ajv_does_not_compile_what_cannot_matter() -> None:
    for schema in ({"anyOf": [{}, {"pattern": "("}]}, {"patternProperties": {"(": True}}):
        assert complaint(schema, {"a": 1}, "classic") is None
        with pytest.raises(CompileError):
            Ajv(schema, "2020-12")


@pytest.mark.parametrize("engine", BOTH)
def test_references_and_their_siblings(engine: Engine) -> None:
    schema = {"$ref": "#/definitions/s", "minLength": 2, "definitions": {"s": {"type": "string"}}}
    assert complaint(schema, "a", engine) == " must NOT have fewer than 2 characters"
    assert complaint(schema, 5, engine) == " must be string"
    named = {"properties": {"a": {"$ref": "#n"}, "b": {"$ref": "leaf#/x"}},
             "$defs": {"n": {"$anchor": "n", "const": 1}, "l": {"$id": "leaf", "x": {"const": 2}}}}  # fmt: skip
    assert complaint(named, {"a": 1, "b": 2}, engine) is None
    assert complaint(named, {"a": 2}, engine) == "/a must be equal to constant"
    assert complaint(named, {"b": 1}, engine) == "/b must be equal to constant"


def test_recursion() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert complaint(tree, {"next": {"next": {}}}) is None
    assert complaint(tree, {"next": {"next": 1}}) == "/next/next must be object"
    assert (
        complaint({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, 1)
        == " Maximum call stack size exceeded"
    )
    dynamic = {"$dynamicAnchor": "node", "type": "object", "properties": {"kid": {"$dynamicRef": "#node"}}}
    assert complaint(dynamic, {"kid": 1}) == "/kid must be object"
    for beyond in ({"$dynamicRef": "#other"}, {"$id": "http://[", "not": {"$id": "a"}}, {"$ref": D07}):
        with pytest.raises(NotReadableError):
            Ajv(beyond, "2020-12")


def test_a_chain_of_definitions_is_no_deep_recursion() -> None:
    chain: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(3000)}
    assert complaint({"$ref": "#/$defs/d0", "$defs": {**chain, "d3000": {"type": "string"}}}, 1) == " must be string"


@pytest.mark.parametrize(
    ("schema", "value", "accepted"),
    [
        ({"multipleOf": 0.1}, 0.3, False),
        ({"multipleOf": 0.1}, 0.2, True),
        ({"multipleOf": 3}, 10**21 * 3, False),
        ({"multipleOf": 0}, 0, False),
        ({"multipleOf": 2}, True, True),
        ({"const": 2**53 + 1}, 2**53, True),
        ({"maximum": Decimal("0.1")}, Decimal("0.1"), True),
        ({"type": "integer"}, 1.0, True),
        ({"enum": [1]}, True, False),
        ({"type": "string", "nullable": True}, None, True),
        ({"type": "string", "nullable": True, "enum": ["a"]}, None, False),
        ({"required": ["toString"]}, {}, True),
        ({"properties": {"constructor": {"type": "string"}}}, {}, False),
        ({"format": "int32"}, 2**31, False),
        ({"format": "int32"}, 2**31 - 1, True),
        ({"format": "int64"}, 1.5, False),
        ({"format": "idn-email"}, "x", True),
        ({"contentEncoding": "base64"}, "!", True),
        ({"anyOf": []}, 1, False),
        ({"allOf": []}, 1, True),
        ({"maxLength": -1}, "", False),
        ({"maxLength": -1}, 5, True),
        ({"minLength": 1.5}, "a", False),
        ({"$async": True, "type": "string"}, 1, True),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, False),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"a": 1}, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}, False),
        ({"pattern": "^\\d$"}, "١", False),
        ({"pattern": "a$"}, "a\n", False),
    ],
)
def test_what_is_accepted(schema: Any, value: Any, accepted: bool) -> None:
    for engine in BOTH:
        assert (Ajv(schema, engine).refusal(value) is None) is accepted


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "23:59:60Z", "12:00:60Z"),
        ("date-time", "2020-01-01 00:00:00z", "2020-01-01T00:00:00"),
        ("iso-date-time", "2020-01-01T00:00:00", "2020-01-01"),
        ("duration", "P1Y2M3DT4H", "P1W1D"),
        ("uri", "urn:a", "a:"),
        ("uri-reference", "", "\\"),
        ("uri-template", "/{a,b*}", "{"),
        ("url", "https://a.bc/x", "https://localhost"),
        ("email", "a.b@c.de", "a@b"),
        ("hostname", "a.b.", "-a"),
        ("ipv4", "1.2.3.4", "01.2.3.4"),
        ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
        ("regex", "a+", "("),
        ("uuid", "urn:uuid:00000000-0000-0000-0000-000000000000", "0"),
        ("json-pointer", "/a~0", "a"),
        ("json-pointer-uri-fragment", "#/a", "a"),
        ("relative-json-pointer", "1/a", "01"),
        ("byte", "YQ==", "YQ"),
        ("iso-time", "12:00:00", "12"),
    ],
)
def test_formats(name: str, good: str, bad: str) -> None:
    assert complaint({"format": name}, good) is None
    assert complaint({"format": name}, bad) == f' must match format "{name}"'
    assert complaint({"format": name}, 5) is None


def test_every_format_is_tested() -> None:
    tested = {row[0] for row in test_formats.pytestmark[0].args[1]}  # type: ignore[attr-defined] # pytest's mark
    assert tested == set(formats.STRINGS)


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": ["string", "null"]}, 1, " must be null,string"),
        ({"required": ["a"]}, {}, " must have required property 'a'"),
        ({"enum": [1]}, 2, " must be equal to one of the allowed values"),
        ({"additionalProperties": False}, {"a": 1}, " must NOT have additional properties"),
        ({"maximum": 3}, 4, " must be <= 3"),
        ({"exclusiveMinimum": 3}, 3, " must be > 3"),
        ({"maxItems": 1}, [1, 2], " must NOT have more than 1 items"),
        ({"minProperties": 1}, {}, " must NOT have fewer than 1 properties"),
        ({"pattern": "^a"}, "b", ' must match pattern "^a"'),
        ({"anyOf": [{"type": "string"}]}, 1, " must match a schema in anyOf"),
        ({"oneOf": [{"minimum": 0}, {"maximum": 5}]}, 3, " must match exactly one schema in oneOf"),
        ({"not": {"type": "number"}}, 3, " must NOT be valid"),
        ({"multipleOf": 2}, 3, " must be multiple of 2"),
        ({"properties": {"a/b": False}}, {"a/b": 1}, "/a~1b boolean schema is false"),
    ],
)
def test_words(schema: Any, value: Any, words: str) -> None:
    assert complaint(schema, value) == words
