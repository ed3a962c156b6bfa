"""Pushed snapshots: one poll each, whoever made it; never one too many, whatever is repeated."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from integration.web.test_api import client_with, problem

from driftwatch.alerts.blindness import raise_blind
from driftwatch.app import Services
from driftwatch.scheduler import assess, store
from driftwatch.scheduler.pushed.store import mark_overdue
from driftwatch.scheduler.streams.store import load_wanted
from driftwatch.testing.shop import Shop

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]

STRING = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
NULLABLE = {"type": "object", "properties": {"status": {"type": ["string", "null"]}}, "required": ["status"]}
DECLARES = {"tools": {"listChanged": True}}


def tool(output: dict[str, Any], name: str = "get_order") -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "outputSchema": output}


def page(*tools: dict[str, Any], **more: Any) -> str:
    return json.dumps({"tools": list(tools), **more})


class Sender:
    """Pushes what it is told, on a clock of its own that may be wrong. Looks lie seconds apart, in the past."""

    def __init__(self, client: httpx2.AsyncClient, server_id: int, *, ahead: float = 0.0) -> None:
        self.client = client
        self.path = f"/servers/{server_id}/snapshots"
        self.ahead = timedelta(seconds=ahead)
        self.began = self.now() - timedelta(seconds=600)
        self.looks = 0

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def at(self, seconds: float) -> str:
        return (self.began + timedelta(seconds=seconds)).isoformat()

    async def push(self, *pages: str, **more: Any) -> httpx2.Response:
        """One look, ten seconds after the one before."""
        self.looks += 1
        head = {
            "id": str(uuid4()),
            "era": "modern",
            "sent_at": self.now().isoformat(),
            "clock": {"offset_seconds": -self.ahead.total_seconds(), "error_seconds": 0.1},
            "window": {"from": self.at(10 * self.looks), "to": self.at(10 * self.looks + 0.2)},
            "fresh_connection": True,
            **more,
        }
        body = json.dumps(head)[:-1] + f', "pages": [{", ".join(pages)}]}}'
        return await self.client.post(self.path, content=body.encode())

    async def pushed(self, *pages: str, **more: Any) -> dict[str, Any]:
        answer = await self.push(*pages, **more)
        assert answer.status_code == 200, answer.text
        taken: dict[str, Any] = answer.json()
        return taken


@pytest.fixture
async def client(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    async with await client_with(services, "push") as found:
        yield found


async def register(client: httpx2.AsyncClient, name: str = "local", **fields: Any) -> int:
    answer = await client.post("/servers/pushed", json={"name": name, **fields})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["server_id"])


@pytest.fixture
async def sender(client: httpx2.AsyncClient) -> Sender:
    return Sender(client, await register(client))


async def judged(services: Services, query: Query) -> list[dict[str, Any]]:
    """Assess and judge what there is, as a worker would."""
    ids = [row["id"] for row in await query("SELECT id FROM change WHERE state = 'recorded'")]
    await assess.run(services, ids)
    return await query("SELECT verdict, announcement, announcement_reason AS reason, kind FROM change ORDER BY id")


async def test_a_change_is_believed_at_the_second_look(sender: Sender, services: Services, query: Query) -> None:
    assert (await sender.pushed(page(tool(STRING))))["outcome"] == "baseline"
    assert (await sender.pushed(page(tool(STRING))))["outcome"] == "unchanged"
    doubted = await sender.pushed(page(tool(NULLABLE)))
    assert doubted["outcome"] == "doubted"
    assert doubted["changes"] == []
    assert 0 < doubted["look_again_seconds"] < 1
    changed = await sender.pushed(page(tool(NULLABLE)))
    assert changed["outcome"] == "changed"
    assert len(changed["changes"]) == 1
    assert changed["look_again_seconds"] is None
    [change] = await judged(services, query)
    assert change == {"verdict": "breaking", "announcement": "unknown", "reason": None, "kind": "changed"}
    [window] = await query("SELECT window_start, window_end FROM change")
    # from the second look, which still saw the old contract, to the third; each widened by the clock's error
    assert abs((window["window_start"] - sender.began).total_seconds() - 19.9) < 0.05
    assert abs((window["window_end"] - sender.began).total_seconds() - 30.3) < 0.05


async def test_a_look_on_the_same_connection_confirms_nothing(sender: Sender) -> None:
    await sender.pushed(page(tool(STRING)))
    for _ in range(3):
        assert (await sender.pushed(page(tool(NULLABLE)), fresh_connection=False))["outcome"] == "doubted"


async def test_a_removal_needs_three_sightings(sender: Sender) -> None:
    await sender.pushed(page(tool(STRING), tool(STRING, "search")))
    outcomes = [(await sender.pushed(page(tool(STRING))))["outcome"] for _ in range(3)]
    assert outcomes == ["doubted", "doubted", "changed"]


async def test_the_same_id_is_one_look(sender: Sender, query: Query) -> None:
    await sender.pushed(page(tool(STRING)))
    first = await sender.pushed(page(tool(NULLABLE)), id="once")
    for _ in range(3):
        again = await sender.pushed(page(tool(NULLABLE)), id="once")
        assert again["repeated"]
        assert {**first, "repeated": True, "now": again["now"]} == again
    assert await query("SELECT count(*) AS n FROM change") == [{"n": 0}]
    assert await query("SELECT sightings FROM candidate") == [{"sightings": 1}]


async def test_an_older_window_is_discarded(sender: Sender) -> None:
    await sender.pushed(page(tool(STRING)))
    await sender.pushed(page(tool(STRING)))
    late = {"from": sender.at(11), "to": sender.at(12)}
    assert (await sender.pushed(page(tool(NULLABLE)), window=late))["outcome"] == "discarded"


async def test_a_wrong_clock_is_put_right(client: httpx2.AsyncClient, query: Query) -> None:
    for ahead in (0.0, 86_400.0 * 400, -86_400.0 * 400):
        sender = Sender(client, await register(client, f"ahead {ahead}"), ahead=ahead)
        await sender.pushed(page(tool(STRING)))
        await sender.pushed(page(tool(STRING)), clock=None)
    for row in await query("SELECT last_complete_sent_at AS at, now() AS now FROM profile_state"):
        # measured or not: twenty of the six hundred seconds were over, and five are not known
        assert 580 <= (row["now"] - row["at"]).total_seconds() < 700


async def test_times_and_shapes_that_cannot_be(sender: Sender) -> None:
    def window(start: float, end: float) -> dict[str, Any]:
        return {"window": {"from": sender.at(start), "to": sender.at(end)}}

    refused: list[tuple[dict[str, Any], str]] = [
        (window(20, 10), "bad-times"),
        (window(10, 900), "bad-times"),
        (window(-90_000, -89_999), "bad-times"),
        ({"clock": {"offset_seconds": 30.0, "error_seconds": 1.0}}, "clock-mismatch"),
        ({"clock": {"offset_seconds": -300.0, "error_seconds": 1.0}}, "clock-mismatch"),
        ({"era": "future"}, "invalid-request"),
        ({"window": None}, "invalid-request"),
        ({"sent_at": "2026-01-01T00:00:00"}, "invalid-request"),
        ({"surprise": 1}, "invalid-request"),
        ({"id": ""}, "invalid-request"),
    ]
    for change, code in refused:
        problem(await sender.push(page(tool(STRING)), **change), 422, code)


async def test_a_list_that_no_poll_would_believe(sender: Sender, query: Query) -> None:
    refused = [
        ([page(tool(STRING), nextCursor="2")], "incomplete-walk"),
        ([page(tool(STRING)), page(tool(STRING, "b"))], "incomplete-walk"),
        ([page(nextCursor="2"), page(nextCursor="2"), page()], "repeated-cursor"),
        ([], "invalid-request"),
        (['{"tools": {}}'], "bad-result"),
        (['{"nothing": 1}'], "bad-result"),
        (['{"tools": [], "resultType": "input_required"}'], "incomplete-walk"),
        (['{"tools": [' + "[" * 70 + "]" * 70 + "]}"], "too-deep"),
        ([page(*[tool(STRING, f"t{i}") for i in range(2001)])], "too-many-tools"),
        (['{"tools": [1, }'], "bad-json"),
        ([json.dumps({"tools": [], "x": "y" * 4_300_000})], "too-large"),
    ]
    for pages, code in refused:
        problem(await sender.push(*pages), 422, code)
    assert await query("SELECT count(*) AS n FROM profile") == [{"n": 0}]


async def test_a_body_that_never_ends_is_cut_off(sender: Sender) -> None:
    problem(await sender.push('"' + "x" * 6_000_000 + '"'), 413, "too-large")


async def test_bytes_stay_as_they_were_sent(sender: Sender, query: Query) -> None:
    odd = '{ "name":"odd",  "inputSchema":{"type":"object"}, "x": 1.50e2, "y": "\\ud800", "z": 18446744073709551617 }'
    await sender.pushed('{"nextCursor": "", "tools": [' + odd + "]}", page(tool(STRING)))
    stored = await query(
        "SELECT b.enc, b.body FROM tool_version v JOIN tool t ON t.id = v.tool_id "
        "JOIN blob b ON b.sha256 = coalesce(v.verbatim_sha, v.definition_sha) WHERE t.name = 'odd'"
    )
    bodies = [zlib.decompress(row["body"]) if row["enc"] == "zlib" else row["body"] for row in stored]
    assert bodies == [odd.encode()]


async def test_what_was_heard_decides(sender: Sender, services: Services, query: Query) -> None:
    server = {"capabilities": DECLARES, "server_info": {"name": "local", "version": "1"}}
    held = {"server": server, "era": "legacy"}
    await sender.pushed(page(tool(STRING)), **held, coverage=[{"from": sender.at(0), "until": sender.at(10)}])
    await sender.pushed(page(tool(NULLABLE)), **held, coverage=[{"from": sender.at(0), "until": sender.at(20)}])
    await sender.pushed(page(tool(NULLABLE)), **held, coverage=[{"from": sender.at(0), "until": sender.at(40)}])
    [change] = await judged(services, query)
    assert (change["announcement"], change["reason"]) == ("silent", "not-delivered")
    [interval] = await query("SELECT acked, verified_until, ended_by FROM stream_interval")
    assert interval["ended_by"] == "open"
    assert abs((interval["verified_until"] - sender.began).total_seconds() - 39.9) < 0.05
    ended = [{"from": sender.at(0), "until": sender.at(45), "ended_by": "server", "why": "process-exited"}]
    await sender.pushed(page(tool(STRING)), **held, coverage=ended)
    for definition in (STRING, NULLABLE, NULLABLE):
        await sender.pushed(page(tool(definition)), **held)
    assert [row["announcement"] for row in await judged(services, query)] == ["silent", "silent", "unknown"]
    assert await query("SELECT ended_by, ended_why FROM stream_interval") == [
        {"ended_by": "server", "ended_why": "process-exited"}
    ]


async def test_a_notification_makes_it_announced(sender: Sender, services: Services, query: Query) -> None:
    await sender.pushed(page(tool(STRING)), server={"capabilities": DECLARES})
    await sender.pushed(page(tool(NULLABLE)), notifications=[sender.at(15)])
    await sender.pushed(page(tool(NULLABLE)))
    [change] = await judged(services, query)
    assert change["announcement"] == "announced"


async def test_silence_is_said_only_where_it_is_known(
    client: httpx2.AsyncClient, services: Services, query: Query
) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any], tuple[str, str | None]]] = [
        ({"capabilities": {"tools": {}}}, {}, ("silent", "not-declared")),
        ({"capabilities": {"tools": {}}}, {"restarts": 15}, ("silent", "restart")),
        ({"capabilities": DECLARES}, {"listening": "cannot-deliver"}, ("silent", "cannot-deliver")),
        ({"capabilities": DECLARES}, {"listening": "off"}, ("unknown", None)),
        ({}, {}, ("unknown", None)),
    ]
    for number, (server, more, _) in enumerate(cases):
        sender = Sender(client, await register(client, f"case {number}"))
        evidence: dict[str, Any] = {}
        if "restarts" in more:
            evidence["restarts"] = [{"at": sender.at(more["restarts"]), "kind": "process-exited"}]
        if "listening" in more:
            evidence["listening"] = {"state": more["listening"], "reason": "no-session"}
        await sender.pushed(page(tool(STRING)), server=server, **({} if "restarts" in more else evidence))
        await sender.pushed(page(tool(NULLABLE)), server=server, **evidence)
        await sender.pushed(page(tool(NULLABLE)), server=server)
    answers = [(change["announcement"], change["reason"]) for change in await judged(services, query)]
    assert answers == [answer for _, _, answer in cases]


async def test_coverage_that_is_needed_is_asked_for(sender: Sender) -> None:
    server = {"capabilities": DECLARES}
    await sender.pushed(page(tool(STRING)), server=server, coverage=[{"from": sender.at(0), "until": sender.at(10)}])
    await sender.pushed(page(tool(NULLABLE)), coverage=[{"from": sender.at(0), "until": sender.at(20)}])
    taken = await sender.pushed(page(tool(NULLABLE)), coverage=[{"from": sender.at(0), "until": sender.at(20.3)}])
    assert taken["outcome"] == "changed"
    assert taken["look_again_seconds"] == pytest.approx(1.6, abs=0.3)


async def test_another_server_info_is_restart_evidence(sender: Sender, query: Query) -> None:
    await sender.pushed(page(tool(STRING)), server={"server_info": {"name": "local", "version": "1"}})
    await sender.pushed(page(tool(STRING)), server={"server_info": {"name": "local", "version": "2"}})
    assert await query("SELECT kind FROM restart_evidence") == [{"kind": "server-info-changed"}]


async def test_nobody_polls_or_listens_to_a_pushed_server(
    sender: Sender, services: Services, query: Query, client: httpx2.AsyncClient
) -> None:
    await sender.pushed(page(tool(STRING)), server={"capabilities": DECLARES})
    assert await query("SELECT next_due_at, claim_token FROM profile_state") == [
        {"next_due_at": None, "claim_token": None}
    ]
    async with services.db.transaction() as session:
        assert await store.claim_due(session, limit=10) == {}
        assert await load_wanted(session, range(16), 16) == []
    async with await client_with(services, "write") as writer:
        path = sender.path.removesuffix("/snapshots")
        problem(await writer.post(f"{path}/poll"), 409, "server-pushed")
        problem(await writer.patch(path, json={"url": "https://mcp.example.com/mcp"}), 409, "server-pushed")
        problem(await writer.patch(path, json={"headers": {"x-a": "b"}}), 409, "server-pushed")
        assert (await writer.patch(path, json={"owner": "mei", "interval_seconds": 60})).status_code == 200
        assert (await writer.post(f"{path}/pause")).status_code == 200
        problem(await sender.push(page(tool(STRING))), 409, "server-paused")
        resumed = await writer.post(f"{path}/resume")
        assert resumed.json()["pushed"]
        assert resumed.json()["url"] == ""
    assert await query("SELECT next_due_at FROM profile_state") == [{"next_due_at": None}]
    assert (await sender.pushed(page(tool(STRING))))["outcome"] == "unchanged"


async def test_snapshots_that_stop_coming_are_told_of(sender: Sender, services: Services, query: Query) -> None:
    await sender.pushed(page(tool(STRING)), coverage=[{"from": sender.at(0), "until": sender.at(5)}])
    async with services.db.transaction() as session:
        assert await mark_overdue(session) == []
    await query("UPDATE profile_state SET last_poll_at = now() - interval '3 hours'")
    async with services.db.transaction() as session:
        assert len(await mark_overdue(session)) == 1
        assert await mark_overdue(session) == []
    [state] = await query("SELECT state, failures, now() - failing_since AS blind FROM profile_state")
    assert (state["state"], state["failures"]) == ("no-snapshots", 3)
    assert state["blind"] > timedelta(hours=2)
    assert await query("SELECT ended_by, ended_why FROM stream_interval") == [
        {"ended_by": "us", "ended_why": "not-continued"}
    ]
    async with services.db.transaction() as session:
        assert len(await raise_blind(session, services.settings)) == 1
    await sender.pushed(page(tool(STRING)))
    async with services.db.transaction() as session:
        assert len(await raise_blind(session, services.settings)) == 1
    assert await query("SELECT kind, state FROM alert") == [{"kind": "not-watching", "state": "resolved"}]


async def test_a_pushed_server_is_found_by_its_name(
    client: httpx2.AsyncClient, services: Services, shop: Shop, query: Query
) -> None:
    server = await register(client, "mine", interval_seconds=60, tags=["laptop"], owner="mei")
    again = await client.post("/servers/pushed", json={"name": "mine", "interval_seconds": 600})
    assert again.status_code == 200
    assert again.json() | {"now": 0} == {"server_id": server, "interval_seconds": 60, "created": False, "now": 0}
    for body in ({"name": "a\u202eb"}, {"name": " "}, {"name": "x", "interval_seconds": 0.5}, {}):
        assert (await client.post("/servers/pushed", json=body)).status_code == 422
    async with await client_with(services, "write") as writer:
        polled = await writer.post("/servers", json={"url": shop.url, "name": "shop"})
        problem(await client.post("/servers/pushed", json={"name": "shop"}), 409, "not-pushed")
        sender = Sender(writer, polled.json()["server"]["id"])
        problem(await sender.push(page(tool(STRING))), 409, "not-pushed")
    problem(await Sender(client, 999_999).push(page(tool(STRING))), 404, "server-not-found")
    assert await query("SELECT actor, action FROM audit_log ORDER BY id LIMIT 1") == [
        {"actor": "mei", "action": "register"}
    ]


async def test_the_scope_push_is_for_pushing_alone(client: httpx2.AsyncClient, services: Services) -> None:
    for scopes in ((), ("read",), ("check",)):
        async with await client_with(services, *scopes) as stranger:
            assert (await stranger.post("/servers/pushed", json={"name": "x"})).status_code in (401, 403)
            assert (await Sender(stranger, 1).push(page())).status_code in (401, 403)
    problem(await client.get("/servers"), 403, "forbidden")
    problem(await client.post("/servers", json={"url": "https://mcp.example.com"}), 403, "forbidden")
