"""One tool over the eras, asked of the API and shown on pages; the classifier decides in its own process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from integration.web.test_api import client_with, problem
from integration.web.test_pushed import NULLABLE, STRING, Sender, page, register, tool

from driftwatch.app import Services
from driftwatch.capture.model import ToolDefinition
from driftwatch.capture.snapshot import take
from driftwatch.classify.eras import Equivalence
from driftwatch.classify.tool import Assessment
from driftwatch.web.equivalences import Equivalences
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres

NUMBERS = {"type": "array", "items": {"type": "number"}}
WRAPPED = {"type": "object", "properties": {"result": NUMBERS}, "required": ["result"]}


async def two_eras(client: httpx2.AsyncClient) -> int:
    """A server that both kinds of clients see: alike, wrapped, differently, and one tool only one of them."""
    server = await register(client)
    sender = Sender(client, server)
    modern = [tool(STRING, "alike"), tool(NUMBERS, "rates"), tool(NULLABLE, "loose"), tool(STRING, "new")]
    legacy = [tool(STRING, "alike"), tool(WRAPPED, "rates"), tool(STRING, "loose")]
    await sender.pushed(page(*modern), era="modern")
    await sender.pushed(page(*legacy), era="legacy")
    return server


async def test_the_api_says_how_alike_the_eras_are(services: Services) -> None:
    async with await client_with(services, "write") as client:
        server = await two_eras(client)
        answer = await client.get(f"/servers/{server}/eras")
        assert answer.status_code == 200, answer.text
        found: dict[str, dict[str, Any]] = {one["tool"]: one for one in answer.json()}
        assert {name: one["likeness"] for name, one in found.items()} == {
            "alike": "same",
            "rates": "wrapped",
            "loose": "differs",
            "new": "one-sided",
        }
        assert {side["era"] for side in found["rates"]["sides"]} == {"modern", "legacy"}
        [difference] = found["loose"]["differences"]
        assert difference["holder"] == "legacy"
        assert difference["part"]["verdict"] == "breaking"
        assert difference["part"]["witness"]["value"] == {"status": None}
        assert [finding["rule"] for finding in difference["part"]["findings"]] == ["output-null-added"]
        assert all(not one["differences"] for name, one in found.items() if name != "loose")
        problem(await client.get("/servers/999999/eras"), 404, "server-not-found")
        alone = await register(client, "alone")
        await Sender(client, alone).pushed(page(tool(STRING)))
        assert (await client.get(f"/servers/{alone}/eras")).json() == []


async def test_pages_say_it_too(visitor: Any) -> None:
    services = visitor.world.services
    async with await client_with(services, "write") as client:
        server = await two_eras(client)
        sides = {one["tool"]: one["sides"] for one in (await client.get(f"/servers/{server}/eras")).json()}
    shown = await visitor.get(f"/servers/{server}")
    assert "Same contracts for both kinds of clients but 2" in shown
    assert "to 2025-11-25 clients, <code>status</code> may now be null" in shown
    for name, words in (
        ("rates", "same up to the known wrapping"),
        ("loose", "really differs"),
        ("alike", "same contract"),
    ):
        first, second = (side["tool_id"] for side in sides[name])
        assert words in await visitor.get(f"/tools/{first}")
        assert words in await visitor.get(f"/tools/{second}/against/{first}")


async def test_what_takes_long_is_missing_and_there_the_next_time() -> None:
    go, asked = asyncio.Event(), []

    class Slow:
        async def assess(self, old: object, new: object, *, era: Era) -> Assessment:
            raise NotImplementedError

        async def assess_schemas(self, old: object, new: object, **question: object) -> Assessment:
            asked.append(question)
            await go.wait()
            return Assessment((), "compatible", None, None)

    def definition(kind: str) -> ToolDefinition:
        schema = {"type": "object", "properties": {"a": {"type": kind}}}
        return take([json.dumps(tool(schema, "t")).encode()], era=Era.MODERN).tools["t"]

    pairs = {"t": (definition("string"), definition("number"))}
    equivalences = Equivalences(Slow())
    assert await equivalences.of(pairs, seconds=0.05) == {}
    go.set()
    assert await equivalences.of(pairs, seconds=60) == {"t": Equivalence("equivalent")}
    assert await equivalences.of(pairs, seconds=60) == {"t": Equivalence("equivalent")}
    assert len(asked) == 2
    assert await equivalences.of({}) == {}
