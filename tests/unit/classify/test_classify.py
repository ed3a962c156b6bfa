"""The public function: its corners, and the laws it obeys."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwatch.classify
from driftwatch.classify import Verdict, classify, prove
from driftwatch.classify.decide import Proof, contains
from driftwatch.classify.reading import Reading
from driftwatch.classify.verdict import DEFAULT_POLICY

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([None, True, 0, 1, 1.5, "", "a", "b"])
LEAVES = st.one_of(
    st.just({}),
    st.sampled_from(["string", "integer", "number", "null", "boolean"]).map(lambda name: {"type": name}),
    st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda values: {"enum": values}),
    st.integers(0, 3).map(lambda n: {"type": "string", "minLength": n}),
    st.integers(0, 3).map(lambda n: {"type": "integer", "maximum": n}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(lambda p: {"type": "object", "properties": p}),
        st.dictionaries(NAMES, inner, min_size=1, max_size=2).map(
            lambda p: {"type": "object", "properties": p, "additionalProperties": False}
        ),
        inner.map(lambda i: {"type": "array", "items": i}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"anyOf": options}),
    ),
    max_leaves=6,
)
DIRECTIONS = st.sampled_from(["input", "output"])


def test_the_exported_names() -> None:
    assert driftwatch.classify.__all__ == [
        "CLASSIFIER_VERSION",
        "DEFAULT_POLICY",
        "Finding",
        "Policy",
        "Verdict",
        "classify",
    ]


def test_an_output_schema_appears() -> None:
    verdict = classify(None, {"type": "object"}, direction="output")
    assert (verdict.outcome, verdict.reason) == ("compatible", "schema-added")
    assert [finding.rule for finding in verdict.findings] == ["output-schema-added"]


@pytest.mark.parametrize("old", [{"type": "object"}, {}, True])
def test_an_output_schema_goes(old: Any) -> None:
    verdict = classify(old, None, direction="output")
    assert (verdict.outcome, verdict.witness_absent, verdict.has_witness) == ("breaking", True, False)
    assert [finding.rule for finding in verdict.findings] == ["output-schema-removed"]


def test_absent_inputs_accept_everything() -> None:
    assert classify(None, {"type": "object"}, direction="input", root="object").outcome == "compatible"
    assert classify(None, {"required": ["a"]}, direction="input", root="object").outcome == "breaking"
    assert classify({"required": ["a"]}, None, direction="input", root="object").outcome == "compatible"


def test_nothing_on_both_sides() -> None:
    assert classify(None, None, direction="output").outcome == "compatible"
    assert classify(None, None, direction="input").outcome == "compatible"


def test_an_added_schema_that_is_none_is_invalid() -> None:
    assert classify(None, {"type": 1}, direction="output").outcome == "invalid"


def test_annotations_alone_say_so() -> None:
    verdict = classify({"type": "string", "title": "a"}, {"type": "string", "title": "b"}, direction="output")
    assert (verdict.outcome, verdict.reason) == ("compatible", "annotations-only")
    assert classify({"type": ["string"]}, {"type": "string"}, direction="output").reason == "same-meaning"


def test_a_prover_that_lies_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(*_: Any, **__: Any) -> Proof:
        return Proof("no", 1)

    monkeypatch.setattr("driftwatch.classify.compare.decide.contains", lie)
    verdict = classify({"type": "number"}, {"type": "integer"}, direction="output")
    assert (verdict.outcome, verdict.has_witness) == ("undecided", False)
    assert (verdict.reason or "").startswith("disagreement: ")


def reading(schema: Any) -> Reading:
    return Reading(schema, "2020-12", "any", DEFAULT_POLICY)


def null_in_string(monkeypatch: pytest.MonkeyPatch, prover: prove.Proof, covers: str) -> Proof:
    """Is null a string? Decided with a prover and a jsonschema-rs that say what the test wants them to."""
    monkeypatch.setattr("driftwatch.classify.decide.proved", lambda *_, **__: prover)
    monkeypatch.setattr("driftwatch.classify.decide.covers", lambda _: covers)
    return contains(reading({"type": "null"}), reading({"type": "string"}))


@pytest.mark.parametrize(
    ("prover", "covers"),
    [
        (prove.Proof("yes"), "no"),
        (prove.Proof("yes"), "unknown"),
        (prove.Proof("no", "a", has_witness=True), "yes"),
        (prove.Proof("no", "a", has_witness=True), "unknown"),
        (prove.Proof("unknown", reason="budget"), "yes"),
    ],
)
def test_a_disagreement_is_undecided(monkeypatch: pytest.MonkeyPatch, prover: prove.Proof, covers: str) -> None:
    proof = null_in_string(monkeypatch, prover, covers)
    assert proof.answer == "unknown"
    assert (proof.reason or "").startswith("disagreement: ")


def test_jsonschema_rs_alone_can_veto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwatch.classify.decide.covers", lambda _: "no")
    proof = contains(reading({"type": "null"}), reading({"type": "null"}))
    assert (proof.reason or "").startswith("disagreement: ")


def test_the_others_answer_where_the_prover_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = null_in_string(monkeypatch, prove.Proof("unknown", reason="budget"), "unknown")
    assert (proof.answer, proof.witness) == ("no", None)
    proof = null_in_string(monkeypatch, prove.Proof("unknown", candidate=None, has_candidate=True), "yes")
    assert (proof.answer, proof.witness) == ("no", None)


def test_what_nobody_knows_is_undecided_with_reason_and_place() -> None:
    strange = {"properties": {"a": {"pattern": "(a)\\1$"}}, "required": ["a"]}
    stranger = {"properties": {"a": {"pattern": "(b|a)\\1$"}}}
    verdict = classify(strange, stranger, direction="input", root="object")
    assert (verdict.outcome, verdict.reason, verdict.pointer) == ("undecided", "unsupported-pattern", "/properties/a")


def test_running_out_of_stack_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(*_: Any, **__: Any) -> Proof:
        raise RecursionError

    monkeypatch.setattr("driftwatch.classify.compare.decide.contains", overflow)
    verdict = classify({"type": "number"}, {"type": "integer"}, direction="output")
    assert (verdict.outcome, verdict.reason) == ("undecided", "budget: RecursionError")


@pytest.mark.parametrize(
    "value", ["\ud800", float("nan"), float("inf"), 10**5000, {"\udfff": 1}, object()], ids=range(6)
)
def test_what_is_no_json_is_undecided_by_name(value: Any) -> None:
    for old, new in (({"const": value}, {}), ({}, {"const": value})):
        verdict = classify(old, new, direction="output")
        assert (verdict.outcome, (verdict.reason or "").split(":")[0]) == ("undecided", "not-json")


def test_words_that_come_with_a_change_of_meaning_are_news() -> None:
    verdict = classify({"maxLength": 9, "title": "a"}, {"maxLength": 5, "title": "b"}, direction="output")
    assert verdict.outcome == "compatible"
    assert [(finding.rule, finding.level) for finding in verdict.findings] == [("annotation-changed", "info")]


def test_schemas_are_left_alone() -> None:
    old: dict[str, Any] = {"$defs": {"s": {"type": "string", "title": "t"}}, "properties": {"a": {"$ref": "#/$defs/s"}}}
    new: dict[str, Any] = {**copy.deepcopy(old), "required": ["a"]}
    before = copy.deepcopy((old, new))
    classify(old, new, direction="input")
    assert (old, new) == before


@given(SCHEMAS, DIRECTIONS)
@settings(max_examples=60, deadline=None)
def test_a_schema_is_compatible_with_itself(schema: Any, direction: Any) -> None:
    verdict = classify(schema, copy.deepcopy(schema), direction=direction)
    assert verdict.outcome == "compatible"
    assert verdict.findings == ()


@given(SCHEMAS, NAMES)
@settings(max_examples=60, deadline=None)
def test_requiring_more_narrows(schema: Any, name: str) -> None:
    narrowed = {"allOf": [schema, {"required": [name]}]}
    assert classify(schema, narrowed, direction="output").outcome in ("compatible", "undecided")


@given(SCHEMAS, SCHEMAS)
@settings(max_examples=60, deadline=None)
def test_a_union_holds_its_parts(left: Any, right: Any) -> None:
    assert classify({"anyOf": [left, right]}, left, direction="output").outcome == "compatible"


@given(SCHEMAS, SCHEMAS, DIRECTIONS)
@settings(max_examples=100, deadline=None)
def test_direction_is_the_question_turned_round(left: Any, right: Any, direction: Any) -> None:
    other: Any = "input" if direction == "output" else "output"
    here, there = classify(left, right, direction=direction), classify(right, left, direction=other)
    assert here.outcome == there.outcome
    assert isinstance(here, Verdict)


@given(SCHEMAS, SCHEMAS, DIRECTIONS)
@settings(max_examples=100, deadline=None)
def test_levels_never_contradict_the_verdict(left: Any, right: Any, direction: Any) -> None:
    verdict = classify(left, right, direction=direction)
    levels = {finding.level for finding in verdict.findings}
    if verdict.outcome == "compatible":
        assert levels <= {"info", "annotation"}
    if verdict.outcome == "breaking":
        assert levels & {"breaking", "warning"}
