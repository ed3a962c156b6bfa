# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify import classify, dialect


@pytest.mark.parametrize(
    ("schema", "given", "expected"),
    [
        ({}, None, "2020-12"),
        (True, None, "2020-12"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, None, "draft-07"),
        ({"$schema": "http://json-schema.org/draft-07/schema"}, None, "draft-07"),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema"}, None, "2019-09"),
        ({"$schema": "https://example.com/own"}, None, None),
        ({"$schema": 7}, None, None),
        ({"$schema": "https://example.com/own"}, "draft-04", "draft-04"),
        ({}, "http://json-schema.org/draft-06/schema#", "draft-06"),
        ({}, "draft-99", None),
    ],
)
def test_which_dialect_a_schema_is_read_in(schema: Any, given: str | None, expected: str | None) -> None:
    assert dialect.of(schema, given) == expected


def test_an_unknown_dialect_is_undecided_and_says_where() -> None:
    verdict = classify({"type": "string"}, {"$schema": "https://example.com/own"}, direction="output")
    assert (verdict.outcome, verdict.reason, verdict.pointer, verdict.side) == (
        "undecided",
        "unknown-dialect",
        "/$schema",
        "new",
    )


def test_the_same_schema_in_an_unknown_dialect_is_compatible() -> None:
    schema = {"$schema": "https://example.com/own", "type": "string"}
    assert classify(schema, dict(schema), direction="output").outcome == "compatible"


def test_a_mark_alone_is_a_change_of_dialect_and_breaks_nothing() -> None:
    verdict = classify(
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
        direction="output",
    )
    assert verdict.outcome == "compatible"
    assert [finding.rule for finding in verdict.findings] == ["dialect-changed"]
    assert verdict.dialects == ("draft-07", "2020-12")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"items": [{"type": "string"}]}, {"prefixItems": [{"type": "string"}]}, "compatible"),
        ({"items": [{"type": "string"}]}, {"items": {"type": "integer"}, "type": "array"}, "breaking"),
        ({"properties": {"a": {"$ref": "#/definitions/s", "type": "null"}}, "definitions": {"s": True}}, True, "compatible"),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"dependentSchemas": {"a": {"required": ["b"]}}}, "compatible"),
    ],
)  # fmt: skip
def test_draft_07_and_2020_12_meet(old: Any, new: Any, expected: str) -> None:
    verdict = classify(old, new, direction="output", old_dialect="draft-07", new_dialect="2020-12")
    assert verdict.outcome == expected, verdict


def test_the_same_words_in_another_dialect_are_compared_by_their_meaning() -> None:
    verdict = classify({"type": "integer"}, {"type": "integer"}, direction="input", old_dialect="draft-04")
    assert verdict.outcome == "compatible"
    verdict = classify({"type": "integer"}, {"type": "integer"}, direction="output", old_dialect="draft-04")
    assert (verdict.outcome, type(verdict.witness)) == ("breaking", float)
