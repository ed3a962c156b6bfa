"""One tool over the eras: spelled alike, wrapped, proved equal, or really different."""

from __future__ import annotations

import json
from typing import Any

from driftwatch.capture.model import ToolDefinition
from driftwatch.capture.snapshot import take
from driftwatch.classify import eras
from driftwatch.classify.eras import Equivalence, across_eras
from driftwatch.classify.tool import Assessment, assess, assess_schemas
from driftwatch.wire.facts import Era

NUMBERS = {"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "number"}}}
WRAPPED = {
    "type": "object",
    "properties": {
        "result": {"type": "array", "items": {"$ref": "#/properties/result/$defs/N"}, "$defs": NUMBERS["$defs"]}
    },
    "required": ["result"],
}


class Here:
    """The classifier without a process; ``asked``: how often."""

    def __init__(self) -> None:
        self.asked = 0

    async def assess(self, old: ToolDefinition | None, new: ToolDefinition | None, *, era: Era) -> Assessment:
        return assess(old, new, era=era)

    async def assess_schemas(self, old: Any, new: Any, **question: Any) -> Assessment:
        self.asked += 1
        return assess_schemas(old, new, **question)


def definition(era: Era, **more: Any) -> ToolDefinition:
    body = {"name": "t", "inputSchema": {"type": "object"}, **more}
    return take([json.dumps(body).encode()], era=era).tools["t"]


async def alike(modern: dict[str, Any], legacy: dict[str, Any], *, asks: int | None = None) -> Equivalence:
    here = Here()
    found = await across_eras(here, definition(Era.MODERN, **modern), definition(Era.LEGACY, **legacy))
    assert asks is None or here.asked == asks
    return found


def output(**schema: Any) -> dict[str, Any]:
    return {"outputSchema": {"type": "object", **schema}}


async def test_what_is_spelled_alike_is_not_asked_about() -> None:
    assert (await alike(output(), output(), asks=0)).likeness == "same"
    worded = await alike({"description": "one", **output()}, {"description": "two", **output()}, asks=0)
    assert worded == Equivalence("words")


async def test_the_known_wrapping_with_moved_references_is_no_difference() -> None:
    assert await alike({"outputSchema": NUMBERS}, {"outputSchema": WRAPPED}, asks=0) == Equivalence("wrapped")


async def test_a_wrapping_that_is_written_differently_is_proved() -> None:
    numbers = {"type": "array", "items": {"type": ["number", "integer"]}}
    assert (await alike({"outputSchema": numbers}, {"outputSchema": WRAPPED}, asks=2)).likeness == "wrapped"


async def test_the_same_in_other_words_is_proved() -> None:
    one = output(properties={"a": {"enum": ["x"]}}, required=["a"])
    other = output(properties={"a": {"const": "x"}}, required=["a"])
    assert await alike(one, other) == Equivalence("equivalent")


async def test_an_object_named_result_is_no_wrapping() -> None:
    inner = {"type": "object", "properties": {"id": {"type": "string"}}}
    wrapped = output(properties={"result": inner}, required=["result"])
    assert (await alike(output(properties={"id": {"type": "string"}}), wrapped)).likeness == "differs"


async def test_a_real_difference_has_its_finding_and_whom_it_concerns() -> None:
    strict = output(properties={"status": {"type": "string"}}, required=["status"])
    loose = output(properties={"status": {"type": ["string", "null"]}}, required=["status"])
    found = await alike(strict, loose)
    assert found.likeness == "differs"
    [difference] = found.differences
    assert difference.holder is Era.MODERN
    assert difference.assessment.verdict == "breaking"
    assert difference.assessment.witness is not None
    assert [finding.rule for finding in difference.assessment.findings] == ["output-null-added"]
    assert [one.holder for one in (await alike(loose, strict)).differences] == [Era.LEGACY]


async def test_below_the_wrapping_a_difference_is_found_as_well() -> None:
    strings = {"type": "array", "items": {"type": "string"}}
    found = await alike({"outputSchema": strings}, {"outputSchema": WRAPPED})
    assert found.likeness == "differs"
    assert {one.holder for one in found.differences} == {Era.MODERN, Era.LEGACY}
    values = [one.assessment.witness["value"] for one in found.differences if one.assessment.witness]
    assert all(isinstance(value, list) for value in values)


async def test_arguments_count_as_well() -> None:
    found = await alike({}, {"inputSchema": {"type": "object", "properties": {"a": {}}, "required": ["a"]}})
    assert found.likeness == "differs"
    assert found.differences[0].assessment.findings


async def test_an_output_that_only_one_era_declares_differs() -> None:
    assert (await alike(output(), {})).likeness == "differs"
    assert (await alike({}, output())).likeness == "differs"


async def test_what_clients_of_one_era_refuse_differs() -> None:
    found = await alike({"outputSchema": NUMBERS}, {"outputSchema": NUMBERS})
    assert found.likeness in ("same", "differs")
    broken = await alike(output(), {**output(), "inputSchema": True})
    assert broken == Equivalence("differs")


async def test_what_cannot_be_decided_is_not_called_different() -> None:
    class Stopped(Here):
        async def assess_schemas(self, old: Any, new: Any, **question: Any) -> Assessment:
            from driftwatch.classify.tool import schemas_over_budget

            return schemas_over_budget(question["directions"], "budget: no answer")

    one = definition(Era.MODERN, **output(properties={"a": {"type": "string"}}))
    other = definition(Era.LEGACY, **output(properties={"a": {"type": "number"}}))
    assert (await across_eras(Stopped(), one, other)).likeness == "undecided"


def test_a_schema_nested_without_end_is_looked_at_no_deeper_than_a_limit() -> None:
    deep: Any = {"type": "number"}
    for _ in range(400):
        deep = {"items": deep}
    assert eras.unwrapped({"properties": {"result": deep}}) is not None
