from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.capture.model import ToolDefinition
from driftwatch.capture.snapshot import define
from driftwatch.history import facts
from driftwatch.history.ledger import Kind, Transition
from driftwatch.history.renames import renames
from driftwatch.wire.facts import Era

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def transition(kind: Kind = "changed", returns: int = 0, **before: Any) -> Transition:
    return Transition("t", kind, b"1", b"2", (at(100), at(160)), 2, returns, before)


def tool(name: str = "t", **more: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    found = define(json.dumps({"name": name, "inputSchema": schema, **more}).encode(), Era.MODERN)
    assert found is not None
    return found


def test_sightings_and_alternation() -> None:
    assert facts.of_transition(transition()) == {"sightings": 2}
    assert facts.of_transition(transition(returns=3)) == {"sightings": 2, "mixed": 3}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"version": "1"}, {"version": "1"}, {"server_version": "1", "version_not_bumped": True}),
        ({"version": "1"}, {"version": "2"}, {"server_version": "2"}),
        ({"version": ""}, {"version": ""}, {}),
        (None, {"version": "1"}, {"server_version": "1"}),
        ({"version": 1}, {"version": 1}, {}),
    ],
)
def test_version_not_bumped(before: Any, after: Any, expected: dict[str, Any]) -> None:
    assert facts.of_server(facts.before({"server_info": before}), after) == expected
    known = facts.before({"server_info": before, "list_changed_declared": False})
    assert facts.of_server(known, after) == {"declared": False} | expected


@pytest.mark.parametrize(
    ("ttl", "scope", "expected"),
    [
        (None, "public", {}),
        (0, "public", {}),
        (60_000, None, {}),
        (
            60_001,
            None,
            {"within_ttl": True, "ttl_ms": 60_001, "stale_until": "2026-01-01T00:02:40.001000+00:00"},
        ),
        (
            10**30,
            "public",
            {
                "within_ttl": True,
                "ttl_ms": 10**30,
                "stale_until": "2057-09-09T01:48:20+00:00",
                "cache_scope": "public",
            },
        ),
    ],
)
def test_within_ttl(ttl: int | None, scope: str | None, expected: dict[str, Any]) -> None:
    known = facts.before({"ttl_ms": ttl, "cache_scope": scope})
    assert facts.of_transition(transition(**known)) == {"sightings": 2} | expected


def test_a_return_within_a_day_is_transient() -> None:
    lately, long_ago = [(2, at(0)), (1, at(-900))], [(2, at(-200_000)), (1, at(-900_000))]
    assert facts.of_return(transition(), 1, lately) == {"known_version": True, "transient": True}
    assert facts.of_return(transition(), 1, long_ago) == {"known_version": True}
    assert facts.of_return(transition(), 3, lately) == {}
    assert facts.of_return(transition("removed"), None, [(2, at(0)), (None, at(-900))]) == {"transient": True}
    assert facts.of_return(transition("removed"), None, [(2, at(0))]) == {}


def clock(second: int) -> ToolDefinition:
    return tool(inputSchema={"type": "object", "properties": {"to": {"type": "string", "default": f"{second}"}}})


def test_what_definitions_say() -> None:
    assert facts.of_definitions(tool(), tool(description="d"), []) == {}
    marked = tool(outputSchema={"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})
    plain = tool(outputSchema={"type": "object"})
    assert facts.of_definitions(plain, marked, []) == {"dialect_changed": True, "noise": "sdk-noise"}
    found = facts.of_definitions(clock(2), clock(3), [clock(1)])
    assert found == {"noise": "volatile", "volatile": ["/inputSchema/properties/to/default"]}


def test_definitions_that_cannot_be_read_say_nothing() -> None:
    broken = define(b'{"name": "t", "inputSchema": {"type": "object"}, "description": "\\ud800"}', Era.MODERN)
    assert broken is not None
    assert facts.of_definitions(broken, tool(), []) == {}
    assert renames({"t": broken}, {"u": tool("u")}) == ()


def test_renames_are_hints_with_a_score() -> None:
    hints = facts.of_renames({"old": tool("old")}, {"new": tool("new")})
    assert hints["old"] == {"rename_hint": {"tool": "new", "score": 1.0}}
    assert hints["new"] == {"rename_hint": {"tool": "old", "score": 1.0}}


def test_equal_words_are_a_hint_too_and_empty_schemas_are_none() -> None:
    empty: dict[str, Any] = {"type": "object"}
    words = "Finds the orders of a customer and lists them by date, newest first."
    old = tool("a", inputSchema=empty, description=words)
    (found,) = renames({"a": old}, {"b": tool("b", inputSchema=empty, description=words + " Paged.")})
    assert 0.85 < found.score < 1
    assert renames({"a": tool("a", inputSchema=empty)}, {"b": tool("b", inputSchema=empty)}) == ()


def test_each_tool_is_hinted_at_once_and_wholesale_replacement_is_none() -> None:
    two = renames({"a": tool("a")}, {"x": tool("x"), "y": tool("y")})
    assert [(hint.old, hint.new) for hint in two] == [("a", "x")]
    many = {f"n{i}": tool(f"n{i}") for i in range(11)}
    assert renames(many, many) == ()
