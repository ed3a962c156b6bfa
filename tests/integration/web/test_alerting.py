"""Channels, routes, what people asked not to hear, the dry run, feeds and metrics, over HTTP as scripts use them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from builders.world import World

from driftwatch.alerts import outbox
from driftwatch.app import Services
from driftwatch.testing.fake_slack import FakeSlack, serve
from driftwatch.web.app import create_app
from driftwatch.web.auth import store, tokens

ATOM = "{http://www.w3.org/2005/Atom}"


def soon(hours: float = 1) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


async def token(services: Services, *scopes: str) -> str:
    secret = tokens.new_secret()
    async with services.db.transaction() as session:
        await store.add_token(session, name="mei", prefix=secret[:8], sha256=tokens.digest(secret), scopes=list(scopes))
    return secret


@pytest.fixture
async def api(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    secret = await token(services, "write")
    transport = httpx2.ASGITransport(app=create_app(services))
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://driftwatch.test/api/v1", headers=headers) as c:
        yield c


async def add(
    api: httpx2.AsyncClient, name: str, url: str = "http://127.0.0.1:18999/hook", **more: Any
) -> dict[str, Any]:
    answer = await api.post("/channels", json={"name": name, "kind": "webhook", "config": {"url": url}, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_channel_comes_and_goes_and_its_secrets_stay_inside(
    services: Services, api: httpx2.AsyncClient
) -> None:
    added = await add(api, "ci", "http://user-visible.example/hook")
    assert added["secret"].startswith("whsec_")
    number = added["channel"]["id"]
    shown = (await api.get("/channels")).text
    assert "user-visible" not in shown
    assert "whsec_" not in shown
    rotated = (await api.post(f"/channels/{number}/rotate-secret")).json()["secret"]
    assert rotated != added["secret"]
    patched = (await api.patch(f"/channels/{number}", json={"enabled": False, "accepts": {"tags": ["prod"]}})).json()
    assert (patched["state"], patched["accepts"]) == ("disabled", {"tags": ["prod"]})
    assert (await api.post(f"/channels/{number}/test")).status_code == 409
    assert (await api.delete(f"/channels/{number}")).status_code == 204
    assert (await api.get("/channels")).json() == []
    assert (await add(api, "ci"))["channel"]["id"] != number
    async with services.db.engine.connect() as connection:
        rows = (await connection.exec_driver_sql("SELECT actor, action, before, after FROM audit_log")).all()
    assert {row[1] for row in rows} == {"channel.add", "channel.change", "channel.rotate", "channel.remove"}
    assert "whsec_" not in str(rows)
    assert "user-visible" not in str(rows)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "x", "kind": "pager", "config": {}}, 422),
        ({"name": "x", "kind": "webhook", "config": {}}, 422),
        ({"name": "x", "kind": "webhook", "config": {"url": "ftp://x.example"}}, 422),
        ({"name": "x", "kind": "slack-webhook", "config": {"url": "https://evil.example/services/x"}}, 422),
        ({"name": "x", "kind": "slack-app", "config": {"token": "xoxp-1", "conversation": "C01"}}, 422),
        ({"name": "x", "kind": "webhook", "config": {"url": "https://x.example"}, "accepts": {"colour": ["red"]}}, 422),
    ],
)
async def test_channels_that_cannot_work_are_refused(api: httpx2.AsyncClient, body: dict[str, Any], code: int) -> None:
    answer = await api.post("/channels", json=body)
    assert answer.status_code == code
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_test_message_its_log_and_sending_it_again(services: Services, api: httpx2.AsyncClient) -> None:
    number = (await add(api, "ci"))["channel"]["id"]
    delivery = (await api.post(f"/channels/{number}/test")).json()
    assert (delivery["event"], delivery["state"]) == ("test", "queued")
    assert (await api.post(f"/deliveries/{delivery['id']}/redeliver")).status_code == 409
    await outbox.deliver_due(services)
    (logged,) = (await api.get(f"/channels/{number}/deliveries")).json()["items"]
    assert logged["attempts"][0]["outcome"] == "transient", "nobody listens on that port"
    async with services.db.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE outbox SET state = 'dead'")
    assert (await api.get(f"/channels/{number}/deliveries?state=dead")).json()["items"][0]["id"] == delivery["id"]
    again = (await api.post(f"/deliveries/{delivery['id']}/redeliver")).json()
    assert (again["state"], again["id"]) == ("queued", delivery["id"])


async def test_ten_refusals_in_a_row_take_a_channel_out_of_service(services: Services, api: httpx2.AsyncClient) -> None:
    fake = FakeSlack()
    async with serve(fake) as url:
        number = (await add(api, "ci", url))["channel"]["id"]
        fake.answer_next(status=400, body="no", times=20)
        for _ in range(outbox.MOST_REFUSALS):
            await api.post(f"/channels/{number}/test")
            await outbox.deliver_due(services)
    (channel,) = (await api.get("/channels")).json()
    assert (channel["state"], channel["disabled_reason"]) == ("disabled", "10 messages in a row were refused")


async def test_routes_in_order_and_the_dry_run_says_where_and_why(services: Services, api: httpx2.AsyncClient) -> None:
    first, second = [(await add(api, name))["channel"]["id"] for name in ("pci", "all")]
    await api.post("/routes", json={"name": "pci", "match": {"tags": ["pci"]}, "channels": [first]})
    await api.post("/routes", json={"name": "rest", "channels": [second]})
    world = World(services)
    change = await world.change(await world.server())
    run = (await api.get(f"/changes/{change}/dry-run")).json()
    assert (run["outcome"], run["line"], run["held"]) == ("alert", "silent-break", None)
    assert run["routes"] == [{"route": "pci", "matched": False}, {"route": "rest", "matched": True}]
    assert [(d["channel"], d["told"], d["why"]) for d in run["destinations"]] == [
        ("pci", False, "no matching route names it"),
        ("all", True, "route rest"),
    ]
    assert run["message"]["title"].endswith("orders / get_order")
    assert await world.outbox() == []
    await world.raise_due()
    (delivery,) = await world.outbox()
    assert (delivery.channel_id, delivery.route) == (second, "route rest")
    ids = [route["id"] for route in (await api.get("/routes")).json()]
    assert [r["name"] for r in (await api.put("/routes/order", json=ids[::-1])).json()] == ["rest", "pci"]
    assert (await api.put("/routes/order", json=ids[:1])).status_code == 422


async def test_mutes_ignores_windows_and_policy_over_the_api(services: Services, api: httpx2.AsyncClient) -> None:
    world = World(services)
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    assert (await api.post(f"/alerts/{alert}/mute", json={"until": soon()})).status_code == 200
    assert (await api.post(f"/alerts/{alert}/mute", json={"until": "2026-12-01T00:00:00"})).status_code == 422
    mute = (await api.post("/mutes", json={"server_id": server.id, "until": soon(), "tool": "refund"})).json()
    assert [m["tool"] for m in (await api.get("/mutes")).json()["items"]] == ["refund", None]
    assert (await api.delete(f"/mutes/{mute['id']}")).status_code == 204
    ignore = (await api.post("/ignores", json={"rule": "output-null-added", "reason": "known"})).json()
    assert (await api.post("/ignores", json={"reason": "everything"})).status_code == 422
    assert (await api.delete(f"/ignores/{ignore['id']}")).status_code == 204
    assert (await api.get("/ignores")).json()["items"] == []
    assert [i["ended_by"] for i in (await api.get("/ignores?all=true")).json()["items"]] == ["mei"]
    window = (await api.post("/maintenance", json={"tag": "prod", "starts_at": soon(), "ends_at": soon(2)})).json()
    assert (await api.delete(f"/maintenance/{window['id']}")).status_code == 204
    assert (await api.delete(f"/maintenance/{window['id']}")).status_code == 409
    change = {"line": "wording-only", "outcome": "alert", "severity": "notice", "server_id": server.id}
    number = (await api.post("/policy/changes", json=change)).json()["id"]
    lines = {x["line"]: x for x in (await api.get(f"/policy?server={server.id}")).json()["lines"]}
    assert lines["wording-only"]["outcome"] == "alert"
    assert (await api.delete(f"/policy/changes/{number}")).status_code == 204
    assert (await api.get("/policy")).json()["changes"] == []


async def test_a_reader_may_look_and_not_touch(services: Services) -> None:
    secret = await token(services, "read")
    transport = httpx2.ASGITransport(app=create_app(services))
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://d.test/api/v1", headers=headers) as reader:
        for path in ("/channels", "/routes", "/mutes", "/ignores", "/maintenance", "/policy"):
            assert (await reader.get(path)).status_code == 200
        for path in ("/channels", "/routes", "/mutes", "/ignores", "/maintenance", "/policy/changes"):
            assert (await reader.post(path, json={})).status_code in {403, 422}
        assert (await reader.post("/channels/1/test")).status_code == 403


async def test_feeds_for_readers_with_a_password(services: Services) -> None:
    world = World(services)
    server = await world.server()
    await world.sql("UPDATE server SET tags = ARRAY['prod']")
    await world.change(server, tool="a\x00<b>&", said="`x` is <gone>")
    secret = await token(services, "read")
    transport = httpx2.ASGITransport(app=create_app(services))
    async with httpx2.AsyncClient(transport=transport, base_url="http://d.test") as client:
        assert (await client.get("/feeds/all.atom")).headers["www-authenticate"].startswith("Basic")
        for path, count in (("all", 1), (f"servers/{server.id}", 1), ("tags/prod", 1), ("tags/other", 0)):
            answer = await client.get(f"/feeds/{path}.atom", auth=("any", secret))
            assert answer.status_code == 200, answer.text
            feed = ET.fromstring(answer.content)
            assert len(feed.findall(f"{ATOM}entry")) == count
            assert feed.find(f"{ATOM}updated") is not None
        assert (await client.get("/feeds/servers/999.atom", auth=("", secret))).status_code == 404


async def test_metrics_tell_of_the_outbox_and_alerts(services: Services, api: httpx2.AsyncClient) -> None:
    await add(api, "ci")
    world = World(services)
    await world.change(await world.server())
    await world.raise_due()
    text = (await api.get("http://driftwatch.test/metrics")).text
    assert 'driftwatch_outbox_depth{channel="ci"} 1.0' in text
    assert 'driftwatch_alerts{kind="drift",state="open"} 1.0' in text
    await outbox.deliver_due(services)
    text = (await api.get("http://driftwatch.test/metrics")).text
    assert 'driftwatch_deliveries{channel="ci",outcome="transient"} 1.0' in text
    assert 'driftwatch_channel_enabled{channel="ci"} 1.0' in text
