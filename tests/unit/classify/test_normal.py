# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify import exact
from driftwatch.classify.dialect import Dialect
from driftwatch.classify.normal import NotNormalError, UnresolvedError, normalise


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"type": "string", "title": "t", "description": "d", "examples": ["a"]}, {"type": "string"}),
        ({"required": ["b", "a", "a"]}, {"required": ["a", "b"]}),
        ({"enum": ["b", 1, "a", 1.0]}, {"enum": ["a", "b", 1]}),
        ({"type": ["string"]}, {"type": "string"}),
        ({"$defs": {"x": {"type": "null"}}, "$ref": "#/$defs/x"}, {"$defs": {"y": {"type": "null"}}, "$ref": "#/$defs/y"}),
        ({"$defs": {"x": {"$anchor": "a", "type": "null"}}, "$ref": "#a"}, {"$defs": {"x": {"type": "null"}}, "$ref": "#/$defs/x"}),
        ({"x-vendor": 1, "unknownKeyword": {"type": 5}}, {}),
        ({"$defs": {"unused": {"type": "string"}}}, {}),
    ],
)  # fmt: skip
def test_spelling_does_not_matter(left: Any, right: Any) -> None:
    assert exact.same(normalise(left, "2020-12").body, normalise(right, "2020-12").body)


@pytest.mark.parametrize(
    ("left", "right", "dialect"),
    [
        ({"properties": {"title": {"type": "string"}}}, {"properties": {}}, "2020-12"),
        ({"enum": [{"title": 1}]}, {"enum": [{}]}, "2020-12"),
        ({"const": {"description": "a"}}, {"const": {"description": "b"}}, "2020-12"),
        ({"oneOf": [True, True]}, {"oneOf": [True]}, "2020-12"),
        ({"enum": [True]}, {"enum": [1]}, "2020-12"),
        ({"default": {"type": "null"}, "not": {"$ref": "#/default"}}, {"default": {}, "not": {"$ref": "#/default"}}, "2020-12"),
        ({"properties": {"$ref": {"type": "string"}}}, {"properties": {"$ref": {"type": "null"}}}, "draft-07"),
    ],
)  # fmt: skip
def test_meaning_does(left: Any, right: Any, dialect: Dialect) -> None:
    assert not exact.same(normalise(left, dialect).body, normalise(right, dialect).body)


def test_up_to_draft_07_a_reference_silences_its_siblings() -> None:
    schema = {
        "definitions": {"s": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/s", "minLength": 3}},
    }
    assert "minLength" not in str(normalise(schema, "draft-07").body)
    assert "minLength" in str(normalise(schema, "2019-09").body)


def test_the_root_can_be_referred_to() -> None:
    normal = normalise({"properties": {"kid": {"$ref": "#"}}}, "2020-12")
    assert normal.definitions == {"d0": {"properties": {"kid": {"$ref": "#/$defs/d0"}}}}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "http://example.com/x"}, "remote-reference"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "remote-reference"),
        ({"$dynamicRef": "#x"}, "dynamic-reference"),
        ({"properties": {"a": {"$schema": "https://example.com/own", "$id": "http://x/"}}}, "embedded-dialect"),
    ],
)
def test_what_has_no_normal_form_says_why(schema: Any, reason: str) -> None:
    with pytest.raises(NotNormalError) as caught:
        normalise(schema, "2020-12")
    assert caught.value.reason == reason


@pytest.mark.parametrize("reference", ["#/$defs/gone", "#nothing", "#/required"])
def test_a_reference_that_leads_nowhere(reference: str) -> None:
    with pytest.raises(UnresolvedError) as caught:
        normalise({"properties": {"a": {"$ref": reference}}, "required": []}, "2020-12")
    assert caught.value.at == "/properties/a/$ref"
