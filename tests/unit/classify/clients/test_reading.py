"""Changes that the specification does not see: found where TypeScript clients read the schemas differently."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify.clients import reading
from driftwatch.classify.verdict import Finding
from driftwatch.wire.facts import Era

LONG = {"$ref": "#/definitions/s", "minLength": 3}
DEFINED = {"definitions": {"s": {"type": "string"}}, "$schema": "http://json-schema.org/draft-07/schema#"}


def output(field: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, **more}


def noticed(old: Any, new: Any, *, era: Era = Era.LEGACY) -> list[Finding]:
    return list(reading.refused(old, new, "object", era))


@pytest.mark.parametrize(
    ("old", "new", "clients"),
    [
        (output({"format": "date"}), output({}), "TypeScript SDK 1.x and 2.x"),
        (output({"format": "date"}), output({"format": "date-time"}), "TypeScript SDK 1.x and 2.x"),
        (output({"type": "string"}), output({"type": "string", "nullable": True}), "TypeScript SDK 1.x and 2.x"),
        (output(LONG, **DEFINED), output({"$ref": "#/definitions/s"}, **DEFINED), "TypeScript SDK 1.x and 2.x"),
    ],
)
def test_what_only_they_refuse(old: Any, new: Any, clients: str) -> None:
    (finding,) = noticed(old, new)
    assert (finding.rule, finding.level, finding.has_witness) == ("output-typescript-refuses", "warning", True)
    assert clients in finding.message


def test_the_modern_era_knows_sdk_2_only() -> None:
    (finding,) = noticed(output({"format": "date"}), output({}), era=Era.MODERN)
    assert "TypeScript SDK 2.x," in finding.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (output({}), output({"format": "date"})),
        (output({"title": "a"}), output({"title": "b"})),
        (output({"format": "made-up"}), output({})),
        (output({"type": "string"}), output({"type": "string", "maxLength": 3})),
        (output({"pattern": "("}), output({"pattern": "["})),
        (True, output({})),
        (output({}), None),
    ],
)
def test_what_nobody_notices(old: Any, new: Any) -> None:
    assert noticed(old, new) == []


def test_a_schema_they_can_no_longer_use() -> None:
    old, new = output({"anyOf": [{}]}), output({"anyOf": [{}], "nullable": True})
    first, second = reading.lost(old, new, Era.LEGACY)
    assert (first.scope, second.scope) == ("list", "tool")
    assert (first.finding.rule, first.finding.pointer) == ("output-typescript-lost", "/properties/a/nullable")
    assert first.finding.message.startswith("TypeScript SDK 1.x can no longer use any tool of the list: ")
    assert second.finding.message.startswith("TypeScript SDK 2.x can no longer use the tool: ")
    assert reading.lost(new, old, Era.LEGACY) == ()
    assert reading.lost(new, new, Era.LEGACY) == ()
    assert [each.scope for each in reading.lost(old, new, Era.MODERN)] == ["tool"]


@pytest.mark.parametrize(
    ("new", "era", "scopes"),
    [
        (output({"pattern": "a{,3}"}), Era.LEGACY, ["list", "tool"]),
        (output({"$ref": "https://example.com/s.json"}), Era.LEGACY, ["list", "tool"]),
        (output({}, properties={"raw": True}), Era.LEGACY, ["list"]),
        (output({}, properties={"raw": True}), Era.MODERN, []),
        (output({}, **{"$schema": "http://json-schema.org/draft-04/schema#"}), Era.MODERN, ["tool"]),
        (output({"type": "string"}), Era.LEGACY, []),
        (None, Era.LEGACY, []),
    ],
)
def test_where_there_was_no_schema_nobody_had_lost_anything(new: Any, era: Era, scopes: list[str]) -> None:
    assert [each.scope for each in reading.lost(None, new, era)] == scopes
