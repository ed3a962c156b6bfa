from __future__ import annotations

import json
from typing import Any

import pytest

from driftwatch.web.pages import story
from driftwatch.web.pages.contract_diff import Line
from driftwatch.web.pages.definitions import Definition

OLD = {"outputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}}}
NEW = {
    "outputSchema": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "status": {"type": ["string", "null"]}, "url": {"type": "string"}},
    }
}


def definition(body: Any) -> Definition:
    return Definition.of(json.dumps(body).encode())


def test_the_headline_is_the_worst_finding(sample: Any) -> None:
    assert story.headline(sample.change()) == "`status` may now be null"
    assert story.others(sample.change()) == 1


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("added", "`get_order` is new"), ("removed", "`get_order` is gone"), ("restored", "`get_order` is back")],
)
def test_a_tool_that_comes_or_goes(sample: Any, kind: str, expected: str) -> None:
    assert story.headline(sample.change(kind=kind, parts=())) == expected


def test_versions_in_words(sample: Any) -> None:
    assert story.versions(sample.change()) == "v3 → v4"
    assert story.versions(sample.change(from_version=None)) == "v4"


def test_what_differs_stands_with_its_finding(sample: Any) -> None:
    (part,) = story.parts(sample.change(), definition(OLD), definition(NEW))
    lines = [line for line in part.comparison.lines if isinstance(line, Line)]
    assert [(line.sign, line.name) for line in lines] == [("~", "status"), ("+", "url")]
    assert lines[0].notes[0].message == "may now be null"


def test_a_gone_tool_shows_what_it_was(sample: Any) -> None:
    gone = sample.change(kind="removed", parts=(), to_version=None)
    assert [part for part, _ in story.whole(gone, definition(OLD), None)] == ["output"]
    assert story.parts(gone, definition(OLD), None) == ()


def test_the_summary_counts_and_says_what_stayed(sample: Any) -> None:
    assert story.summary(sample.change()) == "2 findings in the output. Input, annotations, text, meta: unchanged."
    assert story.summary(sample.change(parts=())) == "Being checked."


def test_the_proof_marks_the_refused_place(sample: Any) -> None:
    told = story.proof(sample.change())
    assert told.sentence.startswith("Yes. Here is a result")
    assert "v3 refuses it" in told.sentence
    bad = [line for line in told.lines if line.bad]
    assert [line.why for line in bad] == ['null is not of type "string"']
    assert [(a.state.word, a.who) for a in told.answers] == [("allowed", "under v4"), ("refused", "under v3")]
    assert json.loads(told.copy) == {"id": "A-1041", "status": None}


def test_an_input_is_proved_the_other_way_round(sample: Any) -> None:
    change = sample.change(part="input", parts=(sample.part(part="input"),))
    told = story.proof(change)
    assert told.sentence.startswith("Yes. Here are arguments that v3 allows")
    assert [(a.state.word, a.who) for a in told.answers] == [("allowed", "under v3"), ("refused", "under v4")]


def said(**refuses: Any) -> list[dict[str, Any]]:
    return [
        {"client": client, "refuses": answer, "message": f"{client[:2]} says so" if answer else "", "pointer": ""}
        for client, answer in refuses.items()
    ]


@pytest.mark.parametrize(
    ("era", "answers", "sentence", "lines"),
    [
        (
            "legacy",
            said(spec=True, ts1=True, ts2=True, py=True),
            "Refused by TypeScript SDK 1.x and 2.x and the Python SDK, holding v3.",
            [("refused", "TypeScript SDK 1.x and 2.x"), ("refused", "the Python SDK")],
        ),
        (
            "modern",
            said(spec=True, ts1="list-lost", ts2=False, py="unknown"),
            "The official SDKs let it pass: TypeScript SDK 2.x.",
            [("accepted", "TypeScript SDK 2.x"), ("not known", "the Python SDK")],
        ),
        (
            "legacy",
            said(spec=True, ts1="list-lost", ts2="tool-lost", py=False),
            "Refused by TypeScript SDK 1.x and 2.x, holding v3; accepted by the Python SDK.",
            [
                ("list lost", "TypeScript SDK 1.x"),
                ("tool lost", "TypeScript SDK 2.x"),
                ("accepted", "the Python SDK"),
            ],
        ),
    ],
)
def test_which_clients_refuse_it(
    sample: Any, era: str, answers: list[dict[str, Any]], sentence: str, lines: list[tuple[str, str]]
) -> None:
    part = sample.part(clients={"refusal": "null is no string", "refused_at": "/status", "answers": answers})
    told = story.proof(sample.change(parts=(part,), era=era))
    assert told.sentence.endswith(sentence)
    assert [(a.state.word, a.who) for a in told.answers[2:]] == lines
    absent = story.proof(
        sample.change(parts=(sample.part(witness={"absent": True}, clients={"answers": answers}),), era=era)
    )
    assert absent.sentence.endswith(sentence)


def test_a_witness_of_json_null_is_a_witness(sample: Any) -> None:
    part = sample.part(witness={"value": None}, clients={"refusal": "null is no object", "refused_at": ""})
    assert story.proof(sample.change(parts=(part,))).lines[0].bad


def test_no_structured_content_is_told_in_words(sample: Any) -> None:
    told = story.proof(sample.change(parts=(sample.part(witness={"absent": True}),)))
    assert "without structuredContent" in told.sentence
    assert told.lines == ()


@pytest.mark.parametrize(
    ("more", "begins"),
    [
        ({"verdict": None}, "Not known yet"),
        ({"verdict": "compatible"}, "No. Every result"),
        ({"verdict": "invalid"}, "Yes. Clients built on the official SDKs"),
        ({"kind": "removed"}, "Yes. A client that still lists"),
        ({"kind": "added", "verdict": "compatible"}, "No. Clients that hold the old list"),
        ({"kind": "added", "verdict": "invalid"}, "Yes. Clients built on the official SDKs"),
    ],
)
def test_each_verdict_has_its_sentence(sample: Any, more: dict[str, Any], begins: str) -> None:
    assert story.proof(sample.change(**more)).sentence.startswith(begins)


def test_rewording_breaks_nothing(sample: Any) -> None:
    text = sample.part(part="text", verdict="compatible", witness=None, findings=())
    told = story.proof(sample.change(verdict="compatible", part="text", parts=(text,)))
    assert told.sentence.startswith("No. Only words")


def test_undecided_says_why(sample: Any) -> None:
    part = sample.part(verdict="undecided", reason="budget: no answer within 10 s", witness=None)
    told = story.proof(sample.change(verdict="undecided", parts=(part,)))
    assert "more time or memory than it may" in told.sentence
    assert "treated as breaking" in told.sentence


def test_a_strict_break_says_that_it_is_one(sample: Any) -> None:
    told = story.proof(sample.change(parts=(sample.part(via="undeclared-key"),)))
    assert told.sentence.startswith("Strictly, yes: Here is a result")


@pytest.mark.parametrize("raw", [b"", b"null", b"[1]", b"\xff", b'{"a": NaN', b"[" * 100_000])
def test_bytes_that_are_no_definition_can_be_shown(raw: bytes) -> None:
    broken = Definition.of(raw)
    assert broken.broken
    assert broken.contract("input") is None
    assert isinstance(broken.pretty, str)


def test_a_definition_has_the_same_shape_in_every_part() -> None:
    body = {
        "name": "x",
        "title": "X",
        "description": "Does x.",
        "inputSchema": True,
        "annotations": {"readOnlyHint": True},
        "_meta": {"a": 1},
    }
    found = {part: definition(body).contract(part) for part in ("input", "output", "annotations", "text", "meta")}
    assert found["output"] is None
    rows = {part: [row.name for row in whole.rows] for part, whole in found.items() if whole}
    assert rows == {"input": [], "annotations": ["readOnlyHint"], "text": ["title", "description"], "meta": ["_meta"]}
