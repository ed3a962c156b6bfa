"""Routes in order with a default, filters of channels, and nobody left without a message."""

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.alerts.routes import DEFAULT, ChangeFacts, Facts, Match, Rule, Way, match_of, matches, plan
from driftwatch.errors import InputError


def facts(**given: Any) -> Facts:
    change = ChangeFacts("get_order", "changed", "breaking", "silent", "restart", "output", "declared")
    other = ChangeFacts("search", "changed", "undecided", "unknown", "gap", "input", None)
    defaults: dict[str, Any] = {
        "kind": "drift",
        "event": "drift.opened",
        "severity": "critical",
        "server": "orders-eu",
        "tags": ("prod", "vendor"),
        "owner": "payments",
        "changes": (change, other),
    }
    return Facts(**{**defaults, **given})


ON = Way(1, "a", "slack-webhook", True)
ALSO = Way(2, "b", "webhook", True)
OFF = Way(3, "c", "slack-app", False)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ({}, True),
        ({"kinds": ["drift"]}, True),
        ({"kinds": ["not-watching"]}, False),
        ({"severities": ["critical", "warning"]}, True),
        ({"servers": ["orders-*"]}, True),
        ({"servers": ["orders"]}, False),
        ({"tags": ["pci", "prod"]}, True),
        ({"tags": ["pci"]}, False),
        ({"owners": ["payments"]}, True),
        ({"tools": ["get_*"]}, True),
        ({"tools": ["put_*"]}, False),
        ({"tools": ["get_*"], "verdicts": ["breaking"]}, True),
        ({"tools": ["search"], "verdicts": ["breaking"]}, False),
        ({"announcements": ["silent"], "reasons": ["restart"], "directions": ["output"], "via": ["declared"]}, True),
        ({"announcements": ["unknown"], "directions": ["output"]}, False),
        ({"changes": ["removed"]}, False),
        ({"events": ["drift.reverted"]}, False),
    ],
)
def test_what_matches(match: dict[str, list[str]], expected: bool) -> None:
    assert matches(match_of(match), facts()) is expected


def told(*rules: Rule, ways: tuple[Way, ...] = (ON, ALSO, OFF), known_to: tuple[int, ...] = (), **given: Any) -> Any:
    return {d.channel: d.why for d in plan(rules, ways, facts(**given), known_to=known_to).told}


def rule(number: int, match: dict[str, list[str]], *channels: int, goes_on: bool = False) -> Rule:
    return Rule(number, f"r{number}", match_of(match), channels, goes_on)


def test_without_routes_every_channel_in_service_is_told() -> None:
    assert told() == {"a": DEFAULT, "b": DEFAULT}


def test_the_first_route_that_matches_decides() -> None:
    rules = (rule(1, {"tags": ["pci"]}, 1), rule(2, {"tags": ["prod"]}, 2), rule(3, {}, 1))
    assert told(*rules) == {"b": "route r2"}
    assert plan(rules, (ON,), facts()).asked == (("r1", False), ("r2", True))


def test_a_route_that_goes_on_adds_to_the_next_match() -> None:
    assert told(rule(1, {}, 1, goes_on=True), rule(2, {}, 2)) == {"a": "route r1", "b": "route r2"}


def test_nobody_is_left_without_a_message_because_a_channel_is_out_of_service() -> None:
    found = told(rule(1, {}, 3))
    assert set(found) == {"a", "b"}
    assert "no channel of the matching route is in service" in found["a"]


def test_who_heard_the_alarm_hears_how_it_goes_on() -> None:
    assert told(rule(1, {"severities": ["notice"]}, 1), known_to=(2,)) == {"b": "told of it before"}


def test_a_channels_own_filter() -> None:
    picky = Way(1, "a", "webhook", True, Match(severities=("notice",)))
    found = plan((), (picky, ALSO), facts()).destinations
    assert [(d.told, d.why) for d in found] == [
        (False, "the channel's own filter leaves it out"),
        (True, DEFAULT),
    ]


def test_a_match_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match="severity"):
        match_of({"severity": ["critical"]})
