from __future__ import annotations

from typing import Any

import pytest

from driftwatch.capture.conformance import why_invalid
from driftwatch.capture.headers import problem
from driftwatch.wire.facts import Era

STRING = {"type": "string"}


def marked(name: Any, **schema: Any) -> dict[str, Any]:
    return {**(schema or STRING), "x-mcp-header": name}


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


RIGHT = [
    arguments(),
    arguments(region=marked("Region"), count=marked("Count", type="integer"), dry=marked("Dry", type="boolean")),
    arguments(outer=arguments(inner=marked("Deep"))),
    {**arguments(), "default": {"x-mcp-header": "A B"}},
    True,
    None,
]
WRONG = [
    (arguments(a=marked("A B")), "is not the name of a header"),
    (arguments(a=marked("")), "is not the name of a header"),
    (arguments(a=marked(7)), "is not the name of a header"),
    (arguments(a=marked("A", type="number")), "no string, integer or boolean"),
    (arguments(a=marked("A", type=["string", "null"])), "no string, integer or boolean"),
    (arguments(a=marked("A", enum=["x"])), "no string, integer or boolean"),
    (arguments(a=marked("A"), b=marked("a")), "two properties are sent as the header a"),
    ({**arguments(), "x-mcp-header": "A"}, "stands where no property"),
    (arguments(a={"anyOf": [marked("A")]}), "stands where no property"),
    (arguments(a={"type": "array", "items": marked("A")}), "stands where no property"),
    ({**arguments(), "$defs": {"A": marked("A")}}, "stands where no property"),
    (arguments(a={"allOf": [arguments(b=marked("A"))]}), "stands where no property"),
]


@pytest.mark.parametrize("schema", RIGHT)
def test_right_annotations(schema: Any) -> None:
    assert problem(schema) is None


@pytest.mark.parametrize(("schema", "words"), WRONG)
def test_wrong_annotations(schema: Any, words: str) -> None:
    told = problem(schema)
    assert told is not None
    assert words in told


def test_only_modern_clients_read_them() -> None:
    tool = {"name": "t", "inputSchema": arguments(a=marked("A B"))}
    found = why_invalid(tool, Era.MODERN)
    assert found is not None
    assert (found.code, found.scope) == ("x-mcp-header-invalid", "tool")
    assert why_invalid(tool, Era.LEGACY) is None
