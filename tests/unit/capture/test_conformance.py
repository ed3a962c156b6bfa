from __future__ import annotations

from typing import Any

import pytest

from driftwatch.capture.conformance import findings, why_invalid
from driftwatch.wire.facts import Era

OBJECT: dict[str, Any] = {"type": "object"}
BOTH = (Era.LEGACY, Era.MODERN)
GONE = {"type": "object", "properties": {"x": {"$ref": "#/$defs/Gone"}}}
LOOP = {
    "type": "object",
    "$defs": {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}},
    "properties": {"a": {"$ref": "#/$defs/A"}},
}
TREE = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}


def tool(**more: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": OBJECT, **more}


INVALID = [
    ("no input schema", {"name": "t"}, BOTH, "input-schema-missing", "list"),
    ("null input schema", tool(inputSchema=None), BOTH, "input-schema-missing", "list"),
    ("boolean input schema", tool(inputSchema=True), BOTH, "input-schema-not-object", "list"),
    (
        "only a dialect marker",
        tool(inputSchema={"$schema": "http://json-schema.org/draft-07/schema#"}),
        BOTH,
        "input-root-not-object",
        "list",
    ),
    ("empty input schema", tool(inputSchema={}), BOTH, "input-root-not-object", "list"),
    ("array output, legacy", tool(outputSchema={"type": "array"}), (Era.LEGACY,), "output-root-not-object", "list"),
    ("boolean output schema", tool(outputSchema=True), BOTH, "output-schema-not-object", "list"),
    (
        "required is null",
        tool(inputSchema={"type": "object", "properties": {}, "required": None}),
        BOTH,
        "input-schema-invalid",
        "tool",
    ),
    (
        "unknown type in output",
        tool(outputSchema={"type": "object", "properties": {"a": {"type": "str"}}}),
        BOTH,
        "output-schema-invalid",
        "list",
    ),
    ("unresolved output reference", tool(outputSchema=GONE), BOTH, "output-ref-unresolved", "list"),
    ("unresolved input reference", tool(inputSchema=GONE), BOTH, "input-ref-unresolved", "tool"),
    (
        "unknown anchor",
        tool(inputSchema={"type": "object", "not": {"$ref": "#no"}}),
        BOTH,
        "input-ref-unresolved",
        "tool",
    ),
    ("endless reference", tool(outputSchema=LOOP), BOTH, "output-ref-endless", "list"),
    ("reference to itself", tool(inputSchema={"type": "object", "$ref": "#"}), BOTH, "input-ref-endless", "tool"),
    ("a hint that is no boolean", tool(annotations={"readOnlyHint": "maybe"}), BOTH, "sdk-refuses", "list"),
    ("description is a number", tool(description=5), BOTH, "sdk-refuses", "list"),
]
USABLE = [
    ("array output, modern", tool(outputSchema={"type": "array"}), (Era.MODERN,)),
    ("null output", tool(outputSchema=None), BOTH),
    ("boolean property", tool(inputSchema={"type": "object", "properties": {"raw": True}}), BOTH),
    (
        "draft-07 with and without fragment",
        tool(inputSchema={"$schema": "http://json-schema.org/draft-07/schema", "type": "object"}),
        BOTH,
    ),
    ("recursion through a property", tool(inputSchema=TREE, outputSchema=TREE), BOTH),
    (
        "remote reference",
        tool(outputSchema={"type": "object", "properties": {"a": {"$ref": "https://e.test/x"}}}),
        BOTH,
    ),
    ("unknown dialect", tool(inputSchema={"$schema": "https://e.test/mine", "type": "object", "required": None}), BOTH),
    (
        "relative $id",
        tool(inputSchema={"$id": "x.json", "type": "object", "$defs": {"a": {}}, "not": {"$ref": "x.json#/$defs/a"}}),
        BOTH,
    ),
    ("vendor fields", tool(id=7, x={"y": None}, icons=[{"src": "https://e.test/i.png"}]), BOTH),
]


@pytest.mark.parametrize(
    ("definition", "eras", "code", "scope"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID]
)
def test_what_sdks_refuse(definition: dict[str, Any], eras: tuple[Era, ...], code: str, scope: str) -> None:
    for era in eras:
        found = why_invalid(definition, era)
        assert found is not None
        assert (found.code, found.scope) == (code, scope)


@pytest.mark.parametrize(("definition", "eras"), [row[1:] for row in USABLE], ids=[row[0] for row in USABLE])
def test_what_sdks_accept(definition: dict[str, Any], eras: tuple[Era, ...]) -> None:
    for era in eras:
        assert why_invalid(definition, era) is None


@pytest.mark.parametrize(
    ("definition", "notes"),
    [
        (tool(), []),
        (tool(inputSchema={"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}), []),
        (
            tool(outputSchema={"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            [("draft-07-output", "/outputSchema/$schema")],
        ),
        (
            tool(outputSchema={"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}),
            [("old-dialect-output", "/outputSchema/$schema")],
        ),
        (
            tool(inputSchema={"$schema": "https://e.test/x", "type": "object"}),
            [("unknown-dialect", "/inputSchema/$schema")],
        ),
        (
            tool(inputSchema={"type": "object", "properties": {"a/b": True}}),
            [("boolean-property", "/inputSchema/properties/a~1b")],
        ),
        (
            tool(outputSchema={"type": "object", "not": {"$ref": "file:///etc/passwd"}}),
            [("remote-ref", "/outputSchema")],
        ),
        (tool(description="a\u200bb"), [("hidden-characters", "/description")]),
        (
            tool(inputSchema={"type": "object", "properties": {"a\u200bb": {}}}),
            [("hidden-characters", "/inputSchema/properties/a\u200bb")],
        ),
    ],
)
def test_findings(definition: dict[str, Any], notes: list[tuple[str, str]]) -> None:
    assert [(note.rule, note.pointer) for note in findings(definition)] == notes
