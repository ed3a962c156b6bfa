"""Real servers of the mcp SDK: both eras, with and without sessions, as streams and as JSON."""

from __future__ import annotations

import contextlib
import json
from typing import Literal

import pytest
from integration.wire.hostile import serving
from mcp.server import MCPServer

from driftwatch.wire.eras import detect
from driftwatch.wire.facts import LATEST_LEGACY, LATEST_MODERN, Era, Target
from driftwatch.wire.session import close_session
from driftwatch.wire.walk import walk

SHAPES = {
    "sessions": {},
    "sessions-json": {"json_response": True},
    "stateless": {"stateless_http": True},
    "stateless-json": {"stateless_http": True, "json_response": True},
}


def weather(city: str, days: int = 1) -> dict[str, float]:
    """Weather for a city, in °C"""
    return {city: float(days)}


def sky(city: str) -> Literal["clear", "cloud"]:
    """The sky over a city"""
    return "clear"


@contextlib.contextmanager
def running(shape: str):
    server = MCPServer("weather", version="1.0", instructions="Ask politely.")
    server.add_tool(weather)
    server.add_tool(sky)
    with serving(server.streamable_http_app(**SHAPES[shape])) as origin:
        yield server, Target(f"{origin}/mcp")


def names(listing):
    return [json.loads(tool)["name"] for tool in listing.tools]


@pytest.mark.parametrize("shape", SHAPES)
async def test_both_eras_are_found_and_walked(client, shape):
    with running(shape) as (_, target):
        detection = await detect(client, target)
        assert detection.problems == {}
        modern, legacy = detection.found[Era.MODERN], detection.found[Era.LEGACY]
        assert (modern.protocol_version, legacy.protocol_version) == (LATEST_MODERN, LATEST_LEGACY)
        assert (legacy.session.id is None) == shape.startswith("stateless")
        for facts in (modern, legacy):
            assert facts.server_info["name"] == "weather"
            assert facts.instructions == "Ask politely."
            assert facts.tools_declared
            first = await walk(client, target, facts)
            again = await walk(client, target, first.facts, fresh_connection=True)
            assert names(first) == names(again) == ["weather", "sky"]
            assert first.body_sha256 == again.body_sha256
            assert not first.session_replaced
            assert (first.restarts, first.list_changed_at) == ((), ())
        assert (await walk(client, target, modern)).cache_scope == "private"


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_changed_tool_changes_the_hash_and_nothing_else(client, shape):
    with running(shape) as (server, target):
        found = (await detect(client, target)).found
        before = {era: await walk(client, target, facts) for era, facts in found.items()}
        server.remove_tool("sky")
        server.add_tool(lambda city: None, name="sky", description="Changed")
        for era, facts in found.items():
            after = await walk(client, target, facts)
            assert after.body_sha256 != before[era].body_sha256
            assert after.tools[0] == before[era].tools[0]
            assert after.tools[1] != before[era].tools[1]
            assert after.restarts == ()


async def test_a_session_the_server_forgot_is_replaced(client):
    with running("sessions") as (_, target):
        facts = (await detect(client, target, frozenset({Era.LEGACY}))).found[Era.LEGACY]
        await close_session(client, target, facts.session)
        listing = await walk(client, target, facts, polls_survived=3)
        assert listing.session_replaced
        assert listing.session.id not in (None, facts.session.id)
        assert [restart.kind for restart in listing.restarts] == ["session-lost"]
        later = await walk(client, target, listing.facts, polls_survived=3)
        assert not later.session_replaced


async def test_a_server_without_tools_lists_none(client):
    server = MCPServer("empty")
    with serving(server.streamable_http_app()) as origin:
        target = Target(f"{origin}/mcp")
        for facts in (await detect(client, target)).found.values():
            assert (await walk(client, target, facts)).tools == ()
