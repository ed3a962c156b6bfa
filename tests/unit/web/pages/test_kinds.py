from __future__ import annotations

import json
from typing import Any

from driftwatch.capture.snapshot import take
from driftwatch.history.views import ToolView
from driftwatch.web.pages import kinds
from driftwatch.web.pages.definitions import Definition
from driftwatch.wire.facts import Era

NUMBERS = {"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "number"}}}
WRAPPED = {
    "type": "object",
    "properties": {
        "result": {"type": "array", "items": {"$ref": "#/properties/result/$defs/N"}, "$defs": NUMBERS["$defs"]}
    },
    "required": ["result"],
}


def body(**more: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object"}, **more}


def view(key: int, era: str, definition: dict[str, Any]) -> ToolView:
    one = take([json.dumps(definition).encode()], era=Era(era)).tools["t"]
    return ToolView(
        key, key, era, "t", key, 1, 1, True, None, (), None, None, None, None, one.part_shas, one.semantic_shas
    )


def likeness(modern: dict[str, Any], legacy: dict[str, Any]) -> str:
    views = [view(1, "modern", modern), view(2, "legacy", legacy)]
    loaded = {1: Definition(b"", modern), 2: Definition(b"", legacy)}
    assert set(kinds.to_load(views)) <= {1, 2}
    found = kinds.compare(views, loaded, ["modern", "legacy"])
    assert found is not None
    return found.pairs[0].likeness if found.pairs else "same"


def test_equal_definitions_are_the_same() -> None:
    assert likeness(body(), body()) == "same"


def test_other_words_are_the_same_contract() -> None:
    assert likeness(body(description="one"), body(description="two")) == "words"


def test_the_known_wrapping_with_moved_references_is_no_difference() -> None:
    assert likeness(body(outputSchema=NUMBERS), body(outputSchema=WRAPPED)) == "wrapped"


def test_a_wrapping_around_something_else_differs() -> None:
    other = {**NUMBERS, "items": {"type": "string"}}
    assert likeness(body(outputSchema=other), body(outputSchema=WRAPPED)) == "differs"
    changed_input = body(outputSchema=WRAPPED, inputSchema={"type": "object", "required": ["a"]})
    assert likeness(body(outputSchema=NUMBERS), changed_input) == "differs"


def test_one_kind_of_client_leaves_nothing_to_compare_and_a_missing_side_is_named() -> None:
    only = [view(1, "modern", body())]
    assert kinds.compare(only, {}, ["modern"]) is None
    found = kinds.compare(only, {}, ["modern", "legacy"])
    assert found is not None
    assert found.pairs[0].likeness == "one-sided"
    assert found.sentence == "Same contracts for both kinds of clients but 1: t."


def test_a_schema_nested_without_end_is_looked_at_no_deeper_than_a_limit() -> None:
    deep: Any = {"type": "number"}
    for _ in range(400):
        deep = {"items": deep}
    assert kinds.unwrapped({"properties": {"result": deep}}) is not None
