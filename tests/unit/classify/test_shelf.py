"""What was read for one question is not read again for the next, and answers stay what they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.capture.snapshot import define
from driftwatch.classify import shelf as shelves
from driftwatch.classify.shelf import Shelf
from driftwatch.classify.tool import assess
from driftwatch.wire.facts import Era

STATUS: tuple[Any, ...] = ({"type": "string"}, {"type": ["string", "null"]}, {"enum": ["a"]}, {"type": "string"}, True)


def version(status: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": {"status": status}, "required": ["status"]}
    found = define(json.dumps({"name": "t", "inputSchema": schema, "outputSchema": schema}).encode(), Era.LEGACY)
    assert found is not None
    return found


def test_answers_are_the_same_with_and_without_it() -> None:
    shelf = Shelf()
    versions = [version(status) for status in STATUS]
    for _ in range(2):
        for old in versions:
            for new in versions:
                assert assess(old, new, era=Era.LEGACY, shelf=shelf) == assess(old, new, era=Era.LEGACY)
    assert len(shelf) == 4  # the input and the output of a version are the same schema here, and so is v4 of v1


def test_a_version_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    reading = shelves.side.read

    def counted(schema: Any, *how: Any) -> Any:
        read.append(schema)
        return reading(schema, *how)

    monkeypatch.setattr(shelves.side, "read", counted)
    shelf = Shelf()
    versions = [version(status) for status in STATUS[:3]]
    for old, new in ((0, 1), (1, 2), (0, 2), (2, 0)):
        assess(versions[old], versions[new], era=Era.LEGACY, shelf=shelf)
    assert [schema["properties"]["status"] for schema in read] == [STATUS[0], STATUS[1], STATUS[2]]


def test_other_eras_and_roots_are_read_for_themselves() -> None:
    shelf = Shelf()
    old, new = version(STATUS[0]), version(STATUS[1])
    assess(old, new, era=Era.LEGACY, shelf=shelf)
    assert len(shelf) == 2
    assess(old, new, era=Era.MODERN, shelf=shelf)  # results may be anything there
    assert len(shelf) == 4


def test_what_is_not_decided_is_not_kept() -> None:
    shelf = Shelf()
    backreference = {"type": "string", "pattern": r"^(a|b)\1$"}
    found = assess(version(backreference), version({**backreference, "maxLength": 9}), era=Era.LEGACY, shelf=shelf)
    assert {part.part: part.verdict for part in found.parts}[Part.OUTPUT] == "compatible"
    kept = len(shelf)
    found = assess(
        version(backreference), version({"type": "string", "pattern": r"^(b|a)\1$"}), era=Era.LEGACY, shelf=shelf
    )
    assert found.verdict == "undecided"
    assert len(shelf) == kept


def test_it_is_bounded_and_forgets_the_oldest() -> None:
    shelf = Shelf(most_nodes=30)
    schemas = [{"type": "object", "required": [f"k{number}"]} for number in range(20)]  # six values and keys each
    for number, schema in enumerate(schemas):
        shelf.keep(shelf.read(schema, str(number), "any"), str(number), "any")
    assert len(shelf) == 5
    kept = shelf.read(schemas[19], "19", "any")
    assert shelf.read(schemas[19], "19", "any") is kept
    shelf.keep(shelf.read(schemas[15], "15", "any"), "15", "any")  # asked for again: 16 is the oldest now
    shelf.keep(shelf.read(schemas[0], "0", "any"), "0", "any")
    first = shelf.read(schemas[15], "15", "any")
    assert shelf.read(schemas[15], "15", "any") is first
    assert shelf.read(schemas[16], "16", "any") is not shelf.read(schemas[16], "16", "any")


@pytest.mark.parametrize(
    ("schema", "sha"), [(None, "1"), ({"enum": list(range(20_000))}, "2"), ({"type": "string"}, None)]
)
def test_some_are_never_kept(schema: Any, sha: str | None) -> None:
    shelf = Shelf()
    shelf.keep(shelf.read(schema, sha, "any"), sha, "any")
    assert len(shelf) == 0
