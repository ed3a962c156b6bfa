"""What pages show, over the API: the fleet, search, evidence, the list as it was, changelogs, filters, pages by key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from browser.world import LONG_NAME, World

from driftwatch.web.app import create_app

pytestmark = pytest.mark.postgres


class Api:
    """The API in a seeded world, asked with a token."""

    def __init__(self, client: httpx2.AsyncClient, world: World) -> None:
        self.client = client
        self.world = world

    async def get(self, path: str, **query: Any) -> Any:
        answer = await self.client.get(f"/api/v1{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def every(self, path: str, **query: Any) -> list[Any]:
        """Page after page."""
        found: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await self.get(path, **query, **cursor)
            found += page["items"]
            if page["next"] is None:
                return found
            assert page["items"]
            cursor = {"cursor": page["next"]}


@pytest.fixture
async def api(visitor: Any) -> AsyncIterator[Api]:
    world = visitor.world
    transport = httpx2.ASGITransport(app=create_app(world.services))
    headers = {"authorization": f"Bearer {world.token}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://driftwatch.test", headers=headers) as client:
        yield Api(client, world)


async def test_the_fleet_is_counted_and_listed_worst_first(api: Api) -> None:
    overview = await api.get("/overview")
    assert overview["servers"] == overview["needs"] + overview["blind"] + overview["fine"] == len(api.world.servers)
    assert overview["tags"] == ["prod", "vendor"]
    whole = await api.every("/standings")
    assert len(whole) == overview["servers"]
    by_one = await api.every("/standings", limit=1)  # how long ago something was is another word in each answer
    assert [one["server"] for one in by_one] == [one["server"] for one in whole]
    order = [("needs", "blind", "fine").index(one["standing"]) for one in whole]
    assert order == sorted(order)
    assert {one["server"] for one in await api.every("/standings", standing="needs")} == {
        "orders",
        "crm",
        "files",
        "tickets",
    }
    assert [one["server"] for one in await api.every("/standings", owner="sales")] == ["crm"]
    assert [one["server"] for one in await api.every("/standings", tag="prod", q="placedAt")] == ["orders"]
    (orders,) = await api.every("/standings", q="get_order", era="legacy")
    assert (orders["server"], orders["tools"], orders["state"]) == ("orders", 6, "needs you")
    assert orders["last_change"]["verdict"] == "breaking"
    assert sum(sum(week["verdicts"].values()) for week in orders["weeks"]) == 4


async def test_a_search_finds_servers_tools_fields_and_rules(api: Api) -> None:
    orders = await api.get("/search", q="ORDER")
    assert [one["server"] for one in orders["servers"]] == ["orders"]
    assert {one["tool"] for one in orders["tools"]} >= {"get_order", "search_orders"}
    assert {one["era"] for one in orders["tools"]} == {"modern", "legacy"}
    fields = (await api.get("/search", q="placedAt"))["fields"]
    assert {(one["tool"], one["part"], one["field"]) for one in fields} == {("get_order", "output", "placedAt")}
    assert "output-null-added" in [one["rule"] for one in (await api.get("/search", q="null added"))["rules"]]
    few = await api.get("/search", q="order", limit=1)
    assert len(few["tools"]) == 1
    assert "tools" in few["more"]
    assert await api.get("/search", q=" ") == {"servers": [], "tools": [], "fields": [], "rules": [], "more": []}


async def test_the_time_axis_shows_streams_and_the_gaps_between_them(api: Api) -> None:
    crm = api.world.servers["crm"]
    told = await api.get(f"/servers/{crm}/timeline")
    assert [one["ended_by"] for one in told["streams"]] == ["server", "us", "open"]
    assert [(one["era"], one["start"]) for one in told["gaps"]] == [("modern", s["end"]) for s in told["streams"][:2]]
    assert [one["tool"] for one in told["changes"]] == ["search"]
    assert told["changes"][0]["announcement"] == "announced"
    assert len(told["notifications"]) == 1
    assert told["cut"] == []
    recent = await api.get(f"/servers/{crm}/timeline", since=(api.world.now - timedelta(hours=2)).isoformat())
    assert [one["ended_by"] for one in recent["streams"]] == ["open"]
    (heard,) = await api.get(f"/servers/{crm}/listening")
    assert (heard["gaps"], heard["list_changed_declared"]) == (2, True)
    orders = await api.get(f"/servers/{api.world.servers['orders']}/timeline")
    assert {one["era"] for one in orders["restarts"]} == {"modern", "legacy"}


async def test_the_list_as_it_was_says_where_it_is_uncertain(api: Api) -> None:
    crm, now = api.world.servers["crm"], api.world.now
    change = (await api.every("/changes", server=crm))[0]

    async def at(seconds: float) -> Any:
        return await api.get(f"/servers/{crm}/as-of", at=(now - timedelta(seconds=seconds)).isoformat())

    ((before,), (inside,), (after,)) = [(await at(s))["tools"] for s in (5000, 3700, 60)]
    assert (before["version"], before["uncertain"]) == (1, None)
    assert inside["version"] == 1
    assert inside["uncertain"] == {"window": change["window"], "version": 2}
    assert (after["version"], after["uncertain"]) == (2, None)
    early = await at(90_000)
    assert early["before_watching"]
    assert early["tools"] == []


async def test_findings_and_polls(api: Api) -> None:
    tickets, files = api.world.servers["tickets"], api.world.servers["files"]
    assert "hidden-characters" in {one["rule"] for one in await api.get(f"/servers/{tickets}/findings")}
    invalid = [one for one in await api.get(f"/servers/{files}/findings") if one["rule"] == "invalid-definition"]
    assert len(invalid) == 13
    told = await api.get(f"/servers/{files}/polls")  # of the same two days as its page: 280 polls, 2 errors each
    assert told["polls"] == 140 * told["errors"] > 0
    assert (await api.every(f"/servers/{files}/poll-events", limit=1)) == (
        await api.every(f"/servers/{files}/poll-events")
    )


async def test_a_tool_with_its_baseline_and_versions(api: Api) -> None:
    tool = api.world.tools["orders", "get_order"]
    shown = await api.get(f"/tools/{tool}")
    assert (shown["current_version"], shown["baseline"]["version"], len(shown["twins"])) == (2, 1, 1)
    versions = await api.every(f"/tools/{tool}/versions")
    assert [one["number"] for one in versions] == [2, 1]
    assert await api.every(f"/tools/{tool}/versions", limit=1) == versions
    assert (await api.get(f"/tools/{tool}/versions/1"))["intervals"] == versions[1]["intervals"]
    for held in ("baseline", "first", "1"):
        assert (await api.get(f"/tools/{tool}/diff", **{"from": held, "to": 2}))["verdict"] == "breaking"


async def test_changes_and_changesets_take_the_same_filters(api: Api) -> None:
    whole = await api.every("/changes")
    assert [one["id"] for one in whole] == sorted((one["id"] for one in whole), reverse=True)
    assert await api.every("/changes", limit=3) == whole
    sets = await api.every("/changesets")
    assert await api.every("/changesets", limit=1) == sets
    assert sorted(change["id"] for one in sets for change in one["changes"]) == sorted(one["id"] for one in whole)
    for query in ({"tag": "prod"}, {"rule": "output-null-added"}, {"verdict": "invalid"}, {"tool": LONG_NAME}):
        changes = await api.every("/changes", **query)
        expected = {one["changeset_id"] for one in changes}
        assert {one["id"] for one in await api.every("/changesets", **query)} == expected
        assert {one["changeset"] for one in await api.every("/changelog", **query)} == expected
    assert {one["server"] for one in await api.every("/changes", tag="prod")} == {"orders", "crm"}
    told = {one["id"]: one["alert_id"] for one in sets}
    assert told[api.world.changesets["files"]] == api.world.alerts["files"]


async def test_a_change_says_what_its_page_says(api: Api, visitor: Any) -> None:
    key = api.world.changes["orders", "get_order"]
    change = await api.get(f"/changes/{key}")
    assert "status" in change["headline"]
    assert change["proof"].startswith("Yes.")
    assert change["todo"]
    assert change["alert_id"] == api.world.alerts["orders"]
    assert change["decision"]["outcome"] == "alert"
    text = await api.client.get(f"/api/v1/changes/{key}/markdown")
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text == await visitor.get(f"/changes/{key}.md")


async def test_the_changelog_is_exported_as_its_page_exports_it(api: Api, visitor: Any) -> None:
    shown = (await visitor.client.get("/changelog.json", params={"tag": "prod"})).json()
    assert (await api.get("/changelog", tag="prod"))["items"] == shown["items"]
    crm = api.world.servers["crm"]
    text = (await api.client.get("/api/v1/changelog.md", params={"server": crm})).text
    assert text == await visitor.get(f"/changelog.md?server={crm}")
    first = (await api.client.get("/api/v1/changelog.md", params={"limit": 1, "era": "modern"})).text
    older = first.rsplit("[Older](", 1)[1].rstrip(")\n")
    path = "/api/v1/" + older.split("/api/v1/", 1)[1]
    assert "era=modern" in path
    assert (await api.client.get(path)).text.startswith("# Changelog")


async def test_alerts_are_filtered_and_paged(api: Api) -> None:
    needing = await api.every("/alerts")
    assert {one["server"] for one in needing} >= {"orders", "crm", "files"}
    assert await api.every("/alerts", limit=1) == needing
    (orders,) = await api.every("/alerts", server=api.world.servers["orders"], kind="drift")
    assert {change["tool"] for change in orders["changes"]} >= {"get_order"}
    assert await api.every("/alerts", state="accepted") == []
    await api.client.post(f"/api/v1/alerts/{orders['id']}/accept", json={"reason": "fine"})
    assert [one["id"] for one in await api.every("/alerts", state="accepted")] == [orders["id"]]
    assert len(await api.every("/alerts", state="any")) == len(needing)
    told = await api.get(f"/alerts/{orders['id']}/deliveries")
    about = await api.every(f"/servers/{api.world.servers['orders']}/deliveries", limit=1)
    assert {one["id"] for one in told} <= {one["id"] for one in about}
    assert told[0]["attempts"][0]["outcome"] == "delivered"


MISSING = (
    "/servers/999/timeline", "/servers/999/listening", "/servers/999/findings", "/servers/999/polls",
    "/servers/999/poll-events", "/servers/999/deliveries", "/servers/999/as-of?at=2026-01-01T00:00:00Z",
    "/servers/999/eras", "/tools/999", "/changes/999/markdown", "/alerts/999/deliveries",
    "/changelog.md?server=999", "/policy?server=999",
)  # fmt: skip
MEANINGLESS = (
    "/standings?cursor=v1.1", "/changes?cursor=v2.0.eA", "/search", "/search?q=", "/changes?rule=a%00b",
    "/servers?tag=%00", "/standings?q=%00", "/servers/1/as-of?at=2026-01-01T00:00:00", "/tools/1/diff?from=0&to=1",
    "/changes?since=0.5", "/servers/1/as-of?at=1",
    "/tools/1/versions?limit=0", "/servers/9007199254740992", "/changes?server=-1", "/alerts?state=gone",
)  # fmt: skip


async def test_refusals_are_problem_documents(api: Api) -> None:
    for expected, paths in ((404, MISSING), (422, MEANINGLESS)):
        for path in paths:
            answer = await api.client.get(f"/api/v1{path}")
            said = (answer.status_code, answer.headers["content-type"])
            assert said == (expected, "application/problem+json"), path


async def test_the_number_of_questions_does_not_grow_with_the_answer(api: Api) -> None:
    """No list asks the database once for each of its items."""
    from sqlalchemy import event

    asked: list[str] = []
    event.listen(api.world.services.db.engine.sync_engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    for path in ("/servers", "/standings", "/changes", "/changesets", "/changelog", "/alerts"):
        counts = []
        for limit in (1, 8):
            asked.clear()
            await api.get(path, limit=limit)
            counts.append(len(asked))
        assert counts[1] <= counts[0] + 1, (path, counts)
