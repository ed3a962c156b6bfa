from __future__ import annotations

import json
from typing import Any

import pytest

from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.capture.snapshot import define
from driftwatch.classify.tool import assess, assess_schemas, over_budget
from driftwatch.wire.facts import Era


def tool(era: Era = Era.LEGACY, **more: Any) -> ToolDefinition:
    definition = define(json.dumps({"name": "search", "inputSchema": {"type": "object"}, **more}).encode(), era)
    assert definition is not None
    return definition


STRING = {"type": "object", "properties": {"status": {"type": "string"}}}
NULLABLE = {"type": "object", "properties": {"status": {"type": ["string", "null"]}}}


def test_only_changed_parts_appear_and_the_worst_names_the_change() -> None:
    found = assess(
        tool(outputSchema=STRING, description="a"), tool(outputSchema=NULLABLE, description="b"), era=Era.LEGACY
    )
    assert [part.part for part in found.parts] == [Part.OUTPUT, Part.TEXT]
    assert (found.verdict, found.via, found.part) == ("breaking", "declared", Part.OUTPUT)
    assert found.parts[0].witness == {"value": {"status": None}}
    said = dict(found.parts[0].clients or {})
    assert [(answer["client"], answer["refuses"]) for answer in said.pop("answers")] == [
        ("spec", True),
        ("ts1", True),
        ("ts2", True),
    ]
    assert said == {"refusal": 'null is not of type "string"', "refused_at": "/status"}
    assert [path["pointer"] for path in found.parts[0].paths] == ["/properties/status/type"]


def test_ties_go_to_the_output() -> None:
    closed = {"type": "object", "required": ["a"]}
    found = assess(tool(outputSchema=closed), tool(outputSchema={"type": "object"}, inputSchema=closed), era=Era.LEGACY)
    assert [part.verdict for part in found.parts] == ["breaking", "breaking"]
    assert found.part is Part.OUTPUT


def test_nothing_changed() -> None:
    found = assess(tool(), tool(), era=Era.LEGACY)
    assert (found.parts, found.verdict, found.part) == ((), "compatible", None)


def test_an_output_schema_comes_and_goes() -> None:
    added = assess(tool(), tool(outputSchema=STRING), era=Era.LEGACY).parts[0]
    assert (added.verdict, added.reason, added.witness) == ("compatible", "schema-added", None)
    removed = assess(tool(outputSchema=STRING), tool(), era=Era.LEGACY).parts[0]
    assert (removed.verdict, removed.witness) == ("breaking", {"absent": True})


def test_a_tool_comes_and_goes() -> None:
    assert assess(None, tool(), era=Era.LEGACY).verdict == "compatible"
    gone = assess(tool(), None, era=Era.LEGACY)
    assert (gone.verdict, gone.part) == ("breaking", Part.PRESENCE)
    assert gone.parts[0].findings[0].message == "`search` is gone"
    with pytest.raises(ValueError, match="one side"):
        assess(None, None, era=Era.LEGACY)


def test_only_objects_are_arguments() -> None:
    # Dropping the type of an argument schema would break clients; what it admits beside objects does not count.
    found = assess(
        tool(inputSchema={"type": "object"}), tool(inputSchema={"type": "object", "minimum": 3}), era=Era.LEGACY
    )
    assert found.verdict == "compatible"


@pytest.mark.parametrize(("era", "verdict"), [(Era.MODERN, "breaking"), (Era.LEGACY, "invalid")])
def test_results_may_be_anything_in_the_modern_era_only(era: Era, verdict: str) -> None:
    old, new = tool(era, outputSchema={"type": "object"}), tool(era, outputSchema={"type": ["object", "array"]})
    assert assess(old, new, era=era).verdict == verdict


def test_becoming_unusable_is_invalid_and_being_repaired_is_not() -> None:
    good, bad = tool(outputSchema=STRING), tool(outputSchema={"type": "object", "properties": 3})
    found = assess(good, bad, era=Era.LEGACY)
    assert (found.verdict, found.part, found.parts[0].reason) == ("invalid", Part.OUTPUT, "output-schema-invalid")
    assert found.parts[0].findings[0].rule == "invalid-definition"
    assert assess(bad, good, era=Era.LEGACY).verdict == "compatible"
    worse = tool(outputSchema={"type": "object", "properties": 4})
    assert assess(bad, worse, era=Era.LEGACY).verdict == "compatible"


def test_a_lost_input_schema_type_is_invalid() -> None:
    found = assess(tool(), tool(inputSchema={"$schema": "http://json-schema.org/draft-07/schema#"}), era=Era.MODERN)
    assert (found.verdict, found.part) == ("invalid", Part.INPUT)


def test_a_new_tool_that_takes_the_list_with_it_is_invalid() -> None:
    assert assess(None, tool(inputSchema={}), era=Era.LEGACY).verdict == "invalid"


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ({"readOnlyHint": True}, {"readOnlyHint": False}, "warning"),
        ({"readOnlyHint": True}, {}, "warning"),
        ({"readOnlyHint": False}, {"readOnlyHint": True}, "annotation"),
        ({"destructiveHint": False}, {}, "warning"),
        ({}, {"destructiveHint": False}, "annotation"),
        ({}, {"destructiveHint": True}, "annotation"),
        ({"openWorldHint": False}, {"openWorldHint": True}, "warning"),
        ({"idempotentHint": True}, {"idempotentHint": False}, "warning"),
        ({"vendor": 1}, {"vendor": 2}, "annotation"),
    ],
)
def test_a_hint_that_became_less_safe_is_a_warning(before: Any, after: Any, level: str) -> None:
    found = assess(tool(annotations=before), tool(annotations=after), era=Era.LEGACY).parts[0]
    assert (found.part, found.verdict) == (Part.ANNOTATIONS, "compatible")
    assert [(finding.rule, finding.level) for finding in found.findings] == [("tool-annotations-changed", level)]


def test_titles_and_vendor_fields_are_annotations() -> None:
    found = assess(tool(title="a", _meta={"x": 1}), tool(title="b", _meta={"x": 2}), era=Era.LEGACY)
    assert {(part.part, finding.rule) for part in found.parts for finding in part.findings} == {
        (Part.TEXT, "annotation-changed"),
        (Part.META, "annotation-changed"),
    }


def test_a_stopped_classifier_leaves_changed_schemas_undecided() -> None:
    found = over_budget(tool(outputSchema=STRING), tool(outputSchema=NULLABLE, description="x"), "budget: late")
    assert [(part.part, part.verdict, part.reason) for part in found.parts] == [
        (Part.OUTPUT, "undecided", "budget: late")
    ]
    assert over_budget(tool(), None, "budget: late").verdict == "breaking"


UNCOMPILABLE = {"type": "object", "properties": {"a": {"anyOf": [{}], "nullable": True}}}


@pytest.mark.parametrize(
    ("era", "reason"), [(Era.LEGACY, "list-lost"), (Era.MODERN, "tool-lost")], ids=lambda value: str(value)
)
@pytest.mark.parametrize("before", [{"outputSchema": STRING}, {}], ids=["changed", "schema added"])
def test_an_output_that_an_official_client_cannot_use_is_invalid(before: dict[str, Any], era: Era, reason: str) -> None:
    """Valid by the specification, compatible or not: the TypeScript SDKs lose the tool, 1.x the whole list."""
    found = assess(tool(era, **before), tool(era, outputSchema=UNCOMPILABLE), era=era)
    assert (found.verdict, found.via, found.part) == ("invalid", None, Part.OUTPUT)
    assert found.parts[0].reason == reason
    assert found.parts[0].findings[0].rule == "output-typescript-lost"
    assert assess(tool(era, outputSchema=UNCOMPILABLE), tool(era, **before), era=era).verdict != "invalid"
    same = tool(era, outputSchema={**UNCOMPILABLE, "title": "t"})
    assert assess(tool(era, outputSchema=UNCOMPILABLE), same, era=era).verdict == "compatible"


def test_what_also_breaks_keeps_its_witness() -> None:
    wider = {"type": "object", "properties": {"status": {"anyOf": [{}], "nullable": True}}}
    found = assess(tool(outputSchema=STRING), tool(outputSchema=wider), era=Era.LEGACY).parts[0]
    assert found.verdict == "invalid"
    assert found.witness is not None
    assert {finding.rule for finding in found.findings} >= {"output-typescript-lost", "output-type-widened"}


@pytest.mark.parametrize(("era", "verdict"), [(Era.LEGACY, "invalid"), (Era.MODERN, "compatible")])
def test_a_new_tool_that_costs_clients_the_list(era: Era, verdict: str) -> None:
    found = assess(None, tool(era, outputSchema=UNCOMPILABLE), era=era)
    assert found.verdict == verdict
    assert "output-typescript-lost" in {finding.rule for finding in found.parts[0].findings}


def test_of_bare_schemas_it_is_a_warning() -> None:
    how: dict[str, Any] = {"directions": ("output", "input"), "root": "object", "era": Era.LEGACY}
    output, arguments = assess_schemas({"type": "object"}, UNCOMPILABLE, **how).parts
    assert (output.verdict, arguments.verdict) == ("compatible", "compatible")
    assert [(f.rule, f.level) for f in output.findings if "lost" in f.rule] == [
        ("output-typescript-lost", "warning")
    ] * 2
    assert arguments.findings == ()
