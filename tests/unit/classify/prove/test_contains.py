"""Containment, case by case: every yes is proved, every no has a witness that a validator confirms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders.schemas import validator

from driftwatch.classify.prove import Proof, contains
from driftwatch.classify.verdict import Policy, Root

TEXT, WHOLE, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}


def ask(sub: Any, sup: Any, root: Root = "any", dialects: tuple[str, str] = ("2020-12", "2020-12")) -> Proof:
    """The answer; a witness is checked on both schemas."""
    proof = contains(sub, sup, root=root, sub_dialect=dialects[0], sup_dialect=dialects[1])
    if proof.answer == "no":
        assert proof.has_witness
        assert root == "any" or isinstance(proof.witness, dict)
        assert validator(sub, dialects[0]).is_valid(proof.witness), proof.witness
        assert not validator(sup, dialects[1]).is_valid(proof.witness), proof.witness
    return proof


def tagged(count: int, last: str = "integer", word: str = "oneOf") -> dict[str, Any]:
    """A union of objects told apart by ``kind``."""
    return {
        word: [
            {
                "type": "object",
                "properties": {
                    "kind": {"const": f"k{index}"},
                    "value": {"type": last if index == count - 1 else "integer"},
                },
                "required": ["kind", "value"],
            }
            for index in range(count)
        ]
    }


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def array(*prefix: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", **({"prefixItems": list(prefix)} if prefix else {}), **more}


#: sub, sup, is sub contained in sup, is sup contained in sub
PAIRS: list[tuple[Any, Any, str, str]] = [
    (True, {}, "yes", "yes"),
    (False, TEXT, "yes", "no"),
    ({"const": True}, {"const": 1}, "no", "no"),
    ({"const": [False]}, {"const": [0]}, "no", "no"),
    ({"const": 1}, {"const": 1.0}, "yes", "yes"),
    ({"const": 2**53}, {"const": 2**53 + 1}, "no", "no"),
    ({"const": 1e308}, {"type": "integer", "multipleOf": 0.123456789}, "no", "no"),
    ({"enum": ["a", 1]}, {"enum": ["a", 1, 2]}, "yes", "no"),
    ({"type": "string", "enum": ["a", 1]}, {"const": "a"}, "yes", "yes"),
    (WHOLE, {"type": "number"}, "yes", "no"),
    ({"type": "number", "multipleOf": 1}, WHOLE, "yes", "yes"),
    ({"type": "integer", "minimum": 0.5}, {"type": "integer", "minimum": 1}, "yes", "yes"),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, {"const": 2}, "yes", "yes"),
    ({"type": "number", "multipleOf": 0.1}, {"multipleOf": 0.01}, "yes", "no"),
    ({"type": "integer", "multipleOf": 6}, {"multipleOf": 4}, "no", "no"),
    ({"type": "integer", "multipleOf": 2, "allOf": [{"multipleOf": 3}]}, {"multipleOf": 6}, "yes", "no"),
    ({"type": "integer", "minimum": 2**70}, {"minimum": 2**70 + 1}, "no", "no"),
    ({"type": "number", "minimum": 0, "maximum": 0}, {"enum": [0]}, "yes", "yes"),
    ({"type": "string", "minLength": 2}, {"type": "string", "minLength": 1}, "yes", "no"),
    ({"type": "string", "pattern": "^a$"}, {"const": "a"}, "yes", "yes"),
    ({"type": "string", "maxLength": 1}, {"type": "string", "pattern": "^[^]?$"}, "yes", "yes"),
    ({"type": "string", "pattern": "^[ab]{2}$", "not": {"enum": ["aa", "ab", "ba"]}}, {"const": "bb"}, "yes", "yes"),
    ({"type": "string", "maxLength": 100_000}, {"type": "string", "maxLength": 99_999}, "no", "yes"),
    ({"properties": {"a": TEXT}}, {"type": "object"}, "no", "no"),
    ({"type": "object", "properties": {"a": TEXT}}, {"properties": {"a": TEXT, "b": TEXT}}, "no", "no"),
    (closed(a=TEXT), closed(a=TEXT, b=TEXT), "yes", "no"),
    (closed(a=TEXT) | {"required": ["a"]}, closed(a=TEXT), "yes", "no"),
    ({"type": "object", "allOf": [closed(a=TEXT)], "properties": {"b": {}}}, closed(a=TEXT), "yes", "yes"),
    ({"type": "object", "minProperties": 1}, {"anyOf": [{"required": ["a"]}, {"minProperties": 1}]}, "yes", "no"),
    (closed(a=TEXT, b=TEXT) | {"minProperties": 2}, {"required": ["a", "b"]}, "yes", "no"),
    ({"type": "object", "propertyNames": {"enum": ["a"]}}, {"maxProperties": 1}, "yes", "no"),
    ({"type": "object", "patternProperties": {"^a": WHOLE, "b$": TEXT}}, {"properties": {"ab": False}}, "yes", "no"),
    (
        {"type": "object", "patternProperties": {"^[ab]$": TEXT}, "additionalProperties": False},
        closed(a=TEXT, b=TEXT),
        "yes",
        "yes",
    ),
    (
        {"type": "object", "dependentRequired": {"a": ["b"], "b": ["c"]}},
        {"dependentRequired": {"a": ["c"]}},
        "yes",
        "no",
    ),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"dependentRequired": {"a": ["b"]}}, "yes", "yes"),
    ({"properties": {"$ref": TEXT}}, {"properties": {"default": TEXT}}, "no", "no"),
    (array(TEXT), array(TEXT, WHOLE), "no", "yes"),
    (array(items=TEXT), array(TEXT, items=TEXT), "yes", "yes"),
    (array(TEXT, items=False), {"type": "array", "maxItems": 1}, "yes", "no"),
    (array(minItems=2, maxItems=2), {"uniqueItems": True}, "no", "no"),
    (array(items={"type": "boolean"}, uniqueItems=True), {"maxItems": 2}, "yes", "no"),
    (array({"enum": [1, 2]}, {"enum": [1, 2]}, {"enum": [1, 2]}, minItems=3, uniqueItems=True), False, "yes", "yes"),
    (array({"enum": [1, 2]}, {"const": 1}, minItems=2, maxItems=2, uniqueItems=True), {"const": [2, 1]}, "yes", "yes"),
    (array(contains=TEXT), array(minItems=1), "yes", "no"),
    (array(contains=TEXT, minContains=2), array(contains=TEXT), "yes", "no"),
    (array(contains=TEXT, minContains=0, maxContains=0), array(items={"not": TEXT}), "yes", "yes"),
    (array(contains=TEXT, maxContains=1), array(contains=TEXT, minContains=0, maxContains=2), "yes", "no"),
    (array(NULL, NULL, NULL, contains=TEXT), {"minItems": 4}, "yes", "no"),
    (array(items={"const": "a"}, contains=TEXT, minContains=2, maxItems=2), {"uniqueItems": True}, "no", "no"),
    (array(contains=TEXT, maxContains=2), array(contains=TEXT, maxContains=1), "no", "yes"),
    (array(items=TEXT, contains=WHOLE), False, "yes", "yes"),
    (array(), {"contains": False, "minContains": 0}, "yes", "no"),
    ({"anyOf": [TEXT, NULL]}, {"type": ["null", "string"]}, "yes", "yes"),
    (
        {"oneOf": [{"minimum": 1}, {"maximum": 3}], "type": "integer"},
        {"anyOf": [{"maximum": 0}, {"minimum": 4}]},
        "yes",
        "no",
    ),
    ({"oneOf": [TEXT, TEXT]}, False, "yes", "yes"),
    ({"if": TEXT, "then": {"minLength": 1}, "else": WHOLE}, {"type": ["string", "integer"]}, "yes", "no"),
    ({"not": {"type": "object", "required": ["a"]}}, {"not": {"type": "object", "required": ["a", "b"]}}, "yes", "no"),
    (
        {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}, "required": ["a"]},
        {"anyOf": [{"properties": {"a": TEXT}}, {"properties": {"a": WHOLE}}]},
        "yes",
        "no",
    ),
    (
        {
            "properties": {"a": {}},
            "anyOf": [{"properties": {"b": {}}}, {"required": ["c"]}],
            "unevaluatedProperties": False,
        },
        {"properties": {"a": {}, "b": {}}, "additionalProperties": False},
        "yes",
        "yes",
    ),
    (
        {"type": "array", "prefixItems": [TEXT], "contains": WHOLE, "unevaluatedItems": False},
        {"type": "array", "prefixItems": [TEXT], "items": WHOLE, "minItems": 1},
        "yes",
        "no",
    ),
    (
        {"propertyNames": {"if": {"pattern": "^a"}, "then": {"maxLength": 1}, "else": {"minLength": 1}}},
        {"propertyNames": {"anyOf": [{"maxLength": 1}, {"not": {"pattern": "^a"}}]}},
        "yes",
        "no",
    ),
    # A second key of the same kind is needed when two denials disagree about its value.
    (
        {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
        {"anyOf": [{"additionalProperties": TEXT}, {"additionalProperties": WHOLE}]},
        "no",
        "no",
    ),
    ({"type": "object", "required": ["q"], "maxProperties": 1}, {"additionalProperties": TEXT}, "no", "no"),
    (
        {"type": "object", "maxProperties": 1},
        {"anyOf": [{"propertyNames": {"maxLength": 1}}, {"propertyNames": {"pattern": "^b"}}]},
        "no",
        "no",
    ),
    (
        {"type": "object", "properties": {"a": TEXT}, "minProperties": 1, "propertyNames": {"enum": ["q"]}},
        {"required": ["q"]},
        "yes",
        "no",
    ),
    # An item that must be counted may only fit beyond the prefix.
    (array(NULL, NULL, NULL, contains=TEXT), False, "no", "yes"),
    (array({"enum": [1, 2]}, {"const": 1}, minItems=2, uniqueItems=True), False, "no", "yes"),
    (array({"enum": [1, 2]}, {"enum": [1, 2]}, {"enum": [1, 2, 3]}, minItems=3, uniqueItems=True), False, "no", "yes"),
    (array(TEXT, TEXT, minItems=2, uniqueItems=True), {"prefixItems": [{"const": "a"}]}, "no", "no"),
    (array(items={"enum": [1, 2, 3]}, contains={"const": 2}, minContains=2, uniqueItems=True), False, "yes", "yes"),
    (
        {
            "type": "object",
            "properties": {"a": {}},
            "anyOf": [{"properties": {"b": {}}, "required": ["b"]}, {"required": ["a"]}],
            "unevaluatedProperties": False,
        },
        {"required": ["b"]},
        "no",
        "no",
    ),
    (
        array(allOf=[{"prefixItems": [TEXT]}, {"prefixItems": [{}, NULL]}], unevaluatedItems=False),
        {"maxItems": 1},
        "no",
        "no",
    ),
    (tagged(20), {"oneOf": [*tagged(20)["oneOf"], NULL]}, "yes", "no"),
    (tagged(60), tagged(60, word="anyOf"), "yes", "yes"),
    (tagged(40, "string"), tagged(40), "no", "no"),
]


@pytest.mark.parametrize(("sub", "sup", "there", "back"), PAIRS, ids=lambda part: json.dumps(part)[:70])
def test_pair(sub: Any, sup: Any, there: str, back: str) -> None:
    assert ask(sub, sup).answer == there
    assert ask(sup, sub).answer == back


def test_root_object_counts_only_objects() -> None:
    assert ask({"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}}, "object").answer == "yes"
    assert ask({"type": ["string", "object"]}, {"type": "object"}, "object").answer == "yes"
    tree = {"properties": {"kid": {"$ref": "#"}}, "additionalProperties": False}
    assert ask(tree, {"properties": {"kid": {"type": "object"}}}, "object").answer == "no"  # kid may be a string


def test_draft_04_tells_one_from_one_point_zero() -> None:
    four = ("draft-04", "draft-04")
    proof = ask({"type": "number", "multipleOf": 1}, WHOLE, dialects=four)
    assert (proof.answer, type(proof.witness)) == ("no", float)
    assert ask(WHOLE, {"type": "number", "multipleOf": 1}, dialects=four).answer == "yes"
    assert ask(WHOLE, WHOLE, dialects=("2020-12", "draft-04")).answer == "no"
    one_of = {"oneOf": [WHOLE, {"minimum": 2}]}
    for number, answer in ((3, "no"), (3.0, "yes"), (3, "no")):  # whatever was compiled before
        assert ask({"enum": [number]}, one_of, dialects=four).answer == answer
        assert ask({"enum": [[number]]}, {"items": one_of}, dialects=four).answer == answer
    assert ask({"enum": [1]}, WHOLE, dialects=four).answer == "yes"
    assert ask({"enum": [1]}, {"type": "integer", "enum": [1]}, dialects=four).answer == "yes"
    assert ask({"enum": [[1, {"a": 2}]]}, {"items": {"type": ["integer", "object"]}}, dialects=four).answer == "yes"


def test_drafts_read_the_same_words_differently() -> None:
    schema = {"type": "array", "items": [TEXT], "additionalItems": False}
    assert ask(schema, {"type": "array", "maxItems": 1}, dialects=("draft-07", "2020-12")).answer == "yes"
    siblings = {"$ref": "#/definitions/a", "maxLength": 1, "definitions": {"a": TEXT}}
    assert ask(siblings, {"maxLength": 1}, dialects=("draft-07", "2020-12")).answer == "no"
    assert ask(siblings, {"maxLength": 1}, dialects=("2019-09", "2020-12")).answer == "yes"


TREE = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"type": "object", "properties": {"kids": array(items={"$ref": "#/$defs/t"})}}},
}


def test_recursion() -> None:
    renamed = json.loads(json.dumps(TREE).replace("/t", "/node").replace('"t"', '"node"'))
    unrolled = json.loads(json.dumps(TREE))
    unrolled["$defs"]["t"]["properties"]["kids"]["items"] = {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
    }
    narrower = json.loads(json.dumps(TREE))
    narrower["$defs"]["t"]["required"] = ["kids"]
    for same in (renamed, unrolled):
        assert ask(TREE, same).answer == ask(same, TREE).answer == "yes"
    assert ask(narrower, unrolled).answer == "yes"
    assert ask(unrolled, narrower).answer == "no"


def test_only_infinite_values_are_no_values() -> None:
    endless = {
        "$ref": "#/$defs/e",
        "$defs": {"e": {"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}, "required": ["e"]}},
    }
    assert ask(endless, False).answer == "yes"
    endless_list = {"$ref": "#/$defs/e", "$defs": {"e": array(items={"$ref": "#/$defs/e"}, minItems=1)}}
    assert ask({"anyOf": [endless_list | {}, TEXT], "$defs": endless_list["$defs"]}, TEXT).answer == "yes"


def test_any_json_value_said_by_recursion_is_everything() -> None:
    value = {"$ref": "#/$defs/v"}
    choices = [{"type": kind} for kind in ("null", "boolean", "number", "string")]
    choices += [array(items=value), {"type": "object", "additionalProperties": value}]
    everything = {"$ref": "#/$defs/v", "$defs": {"v": {"anyOf": choices}}}
    assert ask(True, everything).answer == "yes"


def test_a_conclusion_under_an_assumption_is_forgotten_with_it() -> None:
    """``b`` looks empty while ``a`` is being explored (arrays come first), but then ``a`` has an object."""
    a = {"anyOf": [array(items={"$ref": "#/$defs/b"}, minItems=1), {"type": "object"}]}
    b = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"]}
    schema = {"$defs": {"a": a, "b": b}, **array({"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, minItems=2)}
    assert ask(schema, False).answer == "no"
    assert ask({**schema, "prefixItems": schema["prefixItems"][::-1]}, False).answer == "no"


@pytest.mark.parametrize("pattern", [r"(a)\1", r"\ba", "(?<=a)b"])
def test_what_is_outside_the_fragment_is_unknown_with_a_reason(pattern: str) -> None:
    odd = {"type": "string", "pattern": pattern}
    proof = contains(odd, {"type": "string", "maxLength": 3})
    assert (proof.answer, proof.reason) == ("unknown", "unsupported-pattern")
    assert contains(odd, odd).answer == "yes"
    assert contains(odd, TEXT).answer == "yes"
    assert contains(odd | {"minLength": 2}, odd).answer == "yes"
    assert contains(odd | {"minLength": 2}, {"minLength": 1}).answer == "yes"


def test_asserted_formats_are_properties_nothing_else_is_known_of() -> None:
    policy = Policy(formats=True)
    date, time = {"type": "string", "format": "date"}, {"type": "string", "format": "time"}
    assert contains(date, time).answer == "yes"
    assert contains(date, time, policy=policy).answer == "unknown"
    assert contains(date | {"minLength": 1}, date, policy=policy).answer == "yes"
    assert contains(WHOLE, date | {"type": ["integer", "string"]}, policy=policy).answer == "yes"


def test_unknown_says_where() -> None:
    proof = contains({"properties": {"a": {"$ref": "http://127.0.0.1:9/"}}}, TEXT)
    assert (proof.answer, proof.reason, proof.pointer) == ("unknown", "unresolved-reference", "/properties/a")
    odd = closed(**{"a/b": array(items={"pattern": "(a)\\1"})})
    proof = contains(odd, closed(**{"a/b": array(items={"maxLength": 3})}))
    assert (proof.reason, proof.pointer) == ("unsupported-pattern", "/properties/a~1b/items")


def test_the_same_question_gets_the_same_witness() -> None:
    old = closed(a=TEXT, b=WHOLE, c={"anyOf": [TEXT, NULL]})
    new = closed(a={"type": ["string", "null"]}, b={"type": "number"}, c={"anyOf": [TEXT, NULL, WHOLE]}, d=TEXT)
    witnesses = {json.dumps(contains(new, old).witness) for _ in range(5)}
    shuffled = {key: new[key] for key in reversed(new)}
    assert witnesses == {json.dumps(contains(shuffled, old).witness)}
