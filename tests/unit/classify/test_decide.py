"""The seam of the prover: what ``contains`` promises whoever implements it."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify.decide import contains
from driftwatch.classify.reading import Reading
from driftwatch.classify.verdict import DEFAULT_POLICY, Root


def ask(sub: Any, sup: Any, root: Root = "any") -> Any:
    return contains(*(Reading(schema, "2020-12", root, DEFAULT_POLICY) for schema in (sub, sup)))


def test_yes_no_and_unknown() -> None:
    assert ask({"type": "integer"}, {"type": "number"}).answer == "yes"
    refuted = ask({"type": "number"}, {"type": "integer"})
    assert (refuted.answer, refuted.witness) == ("no", 0.5)
    assert ask({"$ref": "http://127.0.0.1:9/"}, {"type": "string"}).answer == "unknown"


@pytest.mark.parametrize(("root", "answer"), [("any", "no"), ("object", "yes")])
def test_the_root_says_what_an_instance_is(root: Root, answer: str) -> None:
    assert ask({"properties": {"a": {}}}, {"type": "object"}, root).answer == answer


def test_the_root_does_not_move_references() -> None:
    tree = {"properties": {"kid": {"$ref": "#"}}, "additionalProperties": False}
    wider = {"properties": {"kid": {"$ref": "#"}, "more": {}}, "additionalProperties": False}
    assert ask(tree, wider, "object").answer in ("yes", "unknown")
    assert ask(wider, tree, "object").answer == "no"


@pytest.mark.parametrize(
    ("sub", "sup", "answer"),
    [
        (
            {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            {
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "additionalProperties": {"type": "string"},
            },
            "yes",
        ),
        (
            {"properties": {"properties": {"type": "null"}, "additionalProperties": {"type": "null"}}},
            {"properties": {"additionalProperties": {"type": "null"}}},
            "yes",
        ),
        (
            {"properties": {"additionalProperties": {"type": "null"}}},
            {"properties": {"properties": {"type": "null"}, "additionalProperties": {"type": "null"}}},
            "no",
        ),
    ],
)
def test_names_of_properties_are_no_keywords(sub: Any, sup: Any, answer: str) -> None:
    assert ask(sub, sup).answer == answer


def test_a_declared_witness_is_preferred() -> None:
    old = {"properties": {"a": {"type": "string"}}}
    new = {"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
    assert ask(old, new, "object").witness.keys() == {"a"}
