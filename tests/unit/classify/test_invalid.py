from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify import classify

GOOD = {"type": "object"}
UNGUARDED = {
    "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}},
    "properties": {"x": {"$ref": "#/$defs/a"}},
}
MUTUAL = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
INVALID = [
    ({"type": "strin"}, "/type"),
    ({"properties": []}, "/properties"),
    ({"properties": {"a": {"minLength": -1}}}, "/properties/a/minLength"),
    ({"required": "a"}, "/required"),
    ({"$ref": "#/$defs/gone"}, "/$ref"),
    ({"pattern": "["}, "/pattern"),
    ({"pattern": "\\Z"}, "/pattern"),
    ({"pattern": "a{,3}"}, "/pattern"),
    ({"patternProperties": {"(": {}}}, "/patternProperties/("),
    (UNGUARDED, ""),
    (MUTUAL, ""),
    ("object", ""),
    ([], ""),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "pointer"), INVALID)
def test_a_definition_clients_refuse(schema: Any, pointer: str) -> None:
    verdict = classify(GOOD, schema, direction="output")
    assert (verdict.outcome, verdict.reason, verdict.side, verdict.pointer) == (
        "invalid",
        "invalid-schema",
        "new",
        pointer,
    )
    assert verdict.details["message"]
    assert [finding.rule for finding in verdict.findings] == ["invalid-definition"]


@pytest.mark.parametrize(("schema", "pointer"), INVALID)
def test_repairing_one_breaks_nobody(schema: Any, pointer: str) -> None:
    verdict = classify(schema, GOOD, direction="input")
    assert (verdict.outcome, verdict.reason, verdict.side) == ("compatible", "repaired", "old")


def test_staying_invalid_is_no_news_and_becoming_otherwise_invalid_is_invalid() -> None:
    assert classify(UNGUARDED, dict(UNGUARDED), direction="input").outcome == "compatible"
    assert classify(UNGUARDED, MUTUAL, direction="input").outcome == "invalid"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"kid": {"$ref": "#"}}},
        {"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        {"$defs": {"unused": {"$ref": "#/$defs/unused"}}},
        {"$defs": {"s": {}}, "allOf": [{"$ref": "#/$defs/s"}, {"$ref": "#/$defs/s"}]},
        {"pattern": "(?<=a)b"},
    ],
)
def test_what_looks_odd_but_is_fine(schema: Any) -> None:
    assert classify({"type": "object"}, schema, direction="input").outcome != "invalid"


def test_a_boolean_schema_in_draft_04() -> None:
    assert classify({}, True, direction="output", new_dialect="draft-04").outcome == "invalid"


def test_too_deep_or_too_large_is_undecided() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"not": deep}
    large = {"enum": list(range(250_000))}
    for schema in (deep, large):
        verdict = classify({}, schema, direction="output")
        assert verdict.outcome == "undecided"
        assert (verdict.reason or "").startswith("budget: ")
