"""The table of clients: each cell is a fact about a real SDK, asked again in tests/acceptance."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify import clients
from driftwatch.classify.clients import Result, python, words
from driftwatch.wire.facts import Era

LEGACY, MODERN = Era.LEGACY, Era.MODERN
D04 = "http://json-schema.org/draft-04/schema#"
D07 = "http://json-schema.org/draft-07/schema#"
NULLABLE = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}
SIBLINGS = {
    "type": "object",
    "properties": {"a": {"$ref": "#/definitions/s", "minLength": 2}},
    "definitions": {"s": {"type": "string"}},
}


def table(schema: Any, result: Result, era: Era) -> dict[str, Any]:
    found = clients.answers(schema, result, era=era, python=python.answer)
    assert [answer.client for answer in found] == ["spec", "ts1", "ts2", "py"]
    assert all(answer.message for answer in found if answer.refuses is not False), found
    return {answer.client: answer.refuses for answer in found}


def asked(schema: Any, value: Any, era: Era = LEGACY) -> list[Any]:
    return list(table(schema, Result(value), era).values())


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        # spec, ts1, ts2, py
        ({"type": "object", "required": ["a"]}, {}, [True, True, True, True]),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, [True] * 4),
        (NULLABLE, {"a": None}, [True, False, False, True]),
        ({"type": "object", "properties": {"a": {"format": "date"}}}, {"a": "x"}, [False, True, True, False]),
        (SIBLINGS, {"a": "x"}, [True, True, True, True]),
        ({**SIBLINGS, "$schema": D07}, {"a": "x"}, [False, True, True, False]),
        ({"type": "object", "$schema": D04, "required": ["a"]}, {"a": 1}, [False, False, "tool-lost", False]),
        ({"type": "object", "$schema": "https://example.com/own"}, {}, ["unknown", False, "tool-lost", False]),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, {"a": 1}, [True, False, True, True]),
        ({"type": "object", "properties": {"a": {"multipleOf": 0.1}}}, {"a": 0.3}, [False, True, True, True]),
        ({"type": "object", "properties": {"a": True}}, {}, [False, "list-lost", False, False]),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, {},
         ["unknown", "list-lost", "tool-lost", "tool-lost"]),
        ({"type": "object", "properties": {"a": {"anyOf": [{}], "nullable": True}}}, {},
         [False, "list-lost", "tool-lost", False]),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.com/s"}}}, {},
         ["unknown", "list-lost", "tool-lost", False]),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.com/s"}}}, {"a": 1},
         ["unknown", "list-lost", "tool-lost", True]),
    ],
)  # fmt: skip
def test_objects(schema: Any, value: Any, expected: list[Any]) -> None:
    assert asked(schema, value) == expected


@pytest.mark.parametrize("era", Era)
def test_a_missing_result_is_refused_by_all(era: Era) -> None:
    assert table({"type": "object"}, Result(absent=True), era) == dict.fromkeys(("spec", "ts1", "ts2", "py"), True)


def test_null_results() -> None:
    null = {"type": ["object", "null"]}
    assert asked({"type": "object"}, None, LEGACY) == [True, True, True, True]
    # A legacy list may not even declare it; in the modern era it is a value like any other.
    assert asked(null, None, LEGACY) == [False, "list-lost", "list-lost", "list-lost"]
    assert asked(null, None, MODERN) == [False, "list-lost", False, False]
    assert asked({"type": "string"}, None, MODERN)[2:] == [True, True]


def test_a_lost_list_or_tool_is_lost_for_missing_results_too() -> None:
    found = table({"type": "object", "properties": {"a": {"pattern": "("}}}, Result(absent=True), LEGACY)
    assert (found["ts1"], found["ts2"]) == ("list-lost", "tool-lost")


def test_without_the_limited_client_python_is_not_asked() -> None:
    found = clients.answers({"type": "object"}, Result({}), era=LEGACY)
    assert [answer.client for answer in found] == ["spec", "ts1", "ts2"]


def test_pointers_lead_to_the_place() -> None:
    schema = {"type": "object", "properties": {"a": {"items": {"type": "string"}}, "b": {"pattern": "("}}}
    answers = {a.client: a for a in clients.answers(schema, Result({"a": [1]}), era=LEGACY, python=python.answer)}
    assert answers["ts1"].pointer == "/properties/b/pattern"
    assert "Invalid regular expression: /(/u" in answers["ts1"].message
    del schema["properties"]["b"]  # type: ignore[attr-defined] # a dict of dicts
    for answer in clients.answers(schema, Result({"a": [1]}), era=LEGACY, python=python.answer):
        assert answer.pointer == "/a/0", answer


def test_witnesses_are_results() -> None:
    assert clients.of_witness({"value": None}) == Result(None)
    assert clients.of_witness({"absent": True}) == Result(absent=True)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"spec": True, "ts1": True, "ts2": True, "py": True},
         "Refused by TypeScript SDK 1.x and 2.x and the Python SDK, holding v3."),
        ({"ts1": "list-lost", "ts2": "tool-lost", "py": False},
         "Refused by TypeScript SDK 1.x and 2.x, holding v3; accepted by the Python SDK."),
        ({"ts2": False, "py": "unknown"}, "The official SDKs let it pass: TypeScript SDK 2.x."),
        ({"spec": True}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_sentence(answers: dict[str, Any], expected: str) -> None:
    found = [{"client": client, "refuses": refuses, "message": ""} for client, refuses in answers.items()]
    assert words.sentence(found, "v3") == expected


def test_sdk_1_never_sees_a_modern_profile() -> None:
    found = [{"client": client, "refuses": True, "message": ""} for client in ("ts1", "ts2")]
    assert [answer["client"] for answer in words.speaking(found, "modern")] == ["ts2"]
    assert words.speaking(found, "legacy") == found
