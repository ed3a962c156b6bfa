"""What ``driftwatch diff`` and the API take their inputs for, and how they compare them, without another process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftwatch.classify.comparing import Compared, Direction, compare, verdict_of
from driftwatch.classify.contract import read
from driftwatch.classify.tool import Assessment, assess, assess_schemas
from driftwatch.classify.verdict import Root
from driftwatch.errors import CaptureError, InputError
from driftwatch.wire.facts import Era

ORDER = {
    "name": "get_order",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"status": {"type": "string"}}},
}
NULLABLE = {**ORDER, "outputSchema": {"type": "object", "properties": {"status": {"type": ["string", "null"]}}}}
STRICTER = {**ORDER, "inputSchema": {"type": "object", "required": ["id"]}}
PING = {"name": "ping", "inputSchema": {"type": "object"}}


def contract(value: Any, era: Era = Era.MODERN) -> Any:
    return read(json.dumps(value).encode(), "file", era)


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        (ORDER, ["get_order"]),
        ([ORDER, PING], ["get_order", "ping"]),
        ([], []),
        ({"tools": [PING]}, ["ping"]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [PING]}}, ["ping"]),
        ({"tools": []}, []),
    ],
)
def test_tools(value: Any, tools: list[str]) -> None:
    found = contract(value)
    assert (sorted(found.tools), found.bare) == (tools, False)


@pytest.mark.parametrize(
    "value",
    [
        True,
        {},
        {"type": "object", "properties": {"tools": {}, "name": {}}},
        {"name": "a vendor's keyword", "type": "object"},
        {"tools": {"type": "array"}},
    ],
)
def test_schemas(value: Any) -> None:
    found = contract(value)
    assert (found.schema, found.bare) == (value, True)


def test_big_numbers_stay_exact() -> None:
    assert read(b'{"const": 18446744073709551617}', "file", Era.MODERN).schema == {"const": 2**64 + 1}


@pytest.mark.parametrize("data", [b"", b"{", b'"text"', b"3", b"null"])
def test_what_is_no_contract(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "x.json", Era.MODERN)
    assert "x.json" in caught.value.message
    assert caught.value.hint


def test_a_schema_that_is_not_json() -> None:
    with pytest.raises(CaptureError):
        read(b'{"const": 1e400}', "file", Era.MODERN)


class Direct:
    """Stands where the sandbox stands: the same answers in this process."""

    async def assess_schemas(self, old: Any, new: Any, **question: Any) -> Assessment:
        return assess_schemas(old, new, **question)

    async def assess(self, old: Any, new: Any, *, era: Era) -> Assessment:
        return assess(old, new, era=era)


async def verdicts(old: Any, new: Any, direction: Direction | None = None) -> list[tuple[str | None, str]]:
    found = await compare(Direct(), contract(old), contract(new), direction)
    return [(compared.tool, compared.assessment.verdict) for compared in found]


@pytest.mark.parametrize(
    ("old", "new", "direction", "expected"),
    [
        ({"type": "integer"}, {"type": "number"}, None, [(None, "breaking")]),
        ({"type": "integer"}, {"type": "number"}, Direction.INPUT, [(None, "compatible")]),
        ({"type": "object"}, {"type": "object", "required": ["a"]}, Direction.BOTH, [(None, "breaking")]),
        ({"type": "object"}, {"type": "object", "title": "t"}, None, [(None, "compatible")]),
        (ORDER, NULLABLE, None, [("get_order", "breaking")]),
        (ORDER, NULLABLE, Direction.INPUT, [("get_order", "compatible")]),
        (ORDER, STRICTER, None, [("get_order", "breaking")]),
        (ORDER, STRICTER, Direction.OUTPUT, [("get_order", "compatible")]),
        (ORDER, {**NULLABLE, "name": "renamed"}, None, [("renamed", "breaking")]),
        ([ORDER, PING], [PING, ORDER], None, []),
        ([ORDER], [ORDER, PING], None, [("ping", "compatible")]),
        ([ORDER, PING], [ORDER], None, [("ping", "breaking")]),
        ([ORDER], {"tools": [NULLABLE]}, None, [("get_order", "breaking")]),
    ],
)
async def test_what_is_compared_with_what(
    old: Any, new: Any, direction: Direction | None, expected: list[tuple[str | None, str]]
) -> None:
    assert await verdicts(old, new, direction) == expected


async def test_a_schema_is_not_compared_with_tools() -> None:
    with pytest.raises(InputError):
        await verdicts({"type": "object"}, ORDER)


@pytest.mark.parametrize(
    ("era", "root", "expected"),
    [
        (Era.MODERN, None, "breaking"),
        (Era.LEGACY, None, "compatible"),
        (Era.MODERN, "object", "compatible"),
        (Era.LEGACY, "any", "breaking"),
    ],
)
async def test_which_results_there_are(era: Era, root: Root | None, expected: str) -> None:
    old, new = contract({"type": "object"}, era), contract({"type": ["object", "null"]}, era)
    assert verdict_of(await compare(Direct(), old, new, None, root)) == expected


async def test_the_worst_speaks_for_all() -> None:
    found = await compare(Direct(), contract([ORDER, PING]), contract([NULLABLE]), None)
    assert verdict_of(found) == "breaking"
    assert verdict_of([]) == "compatible"
    assert verdict_of([Compared("t", Assessment((), "undecided", None, None)), *found]) == "breaking"


async def test_a_breaking_output_says_which_clients_refuse_it() -> None:
    found = await compare(Direct(), contract(ORDER), contract(NULLABLE), None)
    (part,) = found[0].assessment.parts
    assert part.clients is not None
    assert {answer["client"]: answer["refuses"] for answer in part.clients["answers"]} == {
        "spec": True,
        "ts1": True,
        "ts2": True,
    }
    assert part.clients["refused_at"] == "/status"
    (inputs,) = (await compare(Direct(), contract(ORDER), contract(STRICTER), None))[0].assessment.parts
    assert "answers" not in (inputs.clients or {})
