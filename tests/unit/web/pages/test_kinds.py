from __future__ import annotations

import json
from typing import Any

from driftwatch.capture.model import Part
from driftwatch.capture.snapshot import take
from driftwatch.classify.eras import Difference, Equivalence
from driftwatch.classify.tool import PartAssessment
from driftwatch.classify.verdict import Finding
from driftwatch.history.views import ToolView
from driftwatch.web.pages import kinds
from driftwatch.wire.facts import Era


def body(**more: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object"}, **more}


def view(key: int, era: str, definition: dict[str, Any]) -> ToolView:
    one = take([json.dumps(definition).encode()], era=Era(era)).tools["t"]
    return ToolView(
        key, key, era, "t", key, 1, 1, True, None, (), None, None, None, None, one.part_shas, one.semantic_shas
    )


NULLABLE = body(outputSchema={"type": ["object", "null"]})
FINDING = Finding("output-null-added", "", "breaking", "widens", "results may now be null")
DIFFERS = Equivalence(
    "differs", (Difference(Era.MODERN, PartAssessment(Part.OUTPUT, "breaking", findings=(FINDING,))),)
)


def pair(modern: dict[str, Any], legacy: dict[str, Any], found: Equivalence | None = None) -> kinds.Pair | None:
    views = [view(1, "modern", modern), view(2, "legacy", legacy)]
    assert set(kinds.to_load(views)) <= {1, 2}
    compared = kinds.compare(views, {} if found is None else {"t": found}, ["modern", "legacy"])
    assert compared is not None
    return compared.pairs[0] if compared.pairs else None


def test_what_the_digests_decide_needs_no_classifier() -> None:
    assert pair(body(), body()) is None
    worded = pair(body(description="one"), body(description="two"), DIFFERS)
    assert worded is not None
    assert worded.likeness == "words"


def test_what_they_leave_open_the_classifier_decides() -> None:
    unasked = pair(body(), NULLABLE)
    assert unasked is not None
    assert (unasked.likeness, unasked.said) == ("differs", ())
    wrapped = pair(body(), NULLABLE, Equivalence("wrapped"))
    assert wrapped is not None
    assert wrapped.state.word == "same up to the known wrapping"
    differs = pair(body(), NULLABLE, DIFFERS)
    assert differs is not None
    assert differs.said == ("to 2026-07-28 clients, results may now be null",)


def test_only_what_differs_is_loaded_modern_first() -> None:
    views = [view(1, "modern", body()), view(2, "legacy", NULLABLE)]
    loaded = {
        key: take([json.dumps(one).encode()], era=Era.MODERN).tools["t"] for key, one in ((1, body()), (2, NULLABLE))
    }
    assert sorted(kinds.to_load(views)) == [1, 2]
    assert kinds.sides(views, loaded) == {"t": (loaded[1], loaded[2])}
    assert kinds.sides(views, {1: loaded[1]}) == {}


def test_one_kind_of_client_leaves_nothing_to_compare_and_a_missing_side_is_named() -> None:
    only = [view(1, "modern", body())]
    assert kinds.compare(only, {}, ["modern"]) is None
    found = kinds.compare(only, {}, ["modern", "legacy"])
    assert found is not None
    assert found.pairs[0].likeness == "one-sided"
    assert found.sentence == "Same contracts for both kinds of clients but 1: t."
