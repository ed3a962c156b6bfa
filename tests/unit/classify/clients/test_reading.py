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


def noticed(old: Any, new: Any, *, era: Era = Era.LEGACY, unchanged: bool = True) -> list[Finding]:
    return list(reading.findings(old, new, root="object", era=era, unchanged=unchanged))


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


def test_a_break_by_the_specification_is_told_elsewhere() -> None:
    assert noticed(output({"type": "string"}), output({}), unchanged=False) == []


def test_a_schema_they_can_no_longer_use() -> None:
    old, new = output({"anyOf": [{}]}), output({"anyOf": [{}], "nullable": True})
    first, second = noticed(old, new, unchanged=False)
    assert (first.rule, first.pointer) == ("output-typescript-lost", "/properties/a/nullable")
    assert first.message.startswith("TypeScript SDK 1.x can no longer use any tool of the list: ")
    assert second.message.startswith("TypeScript SDK 2.x can no longer use the tool: ")
    assert noticed(new, old) == []
    assert noticed(new, new) == []
