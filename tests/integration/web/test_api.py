"""The API from outside: shapes, refusals, cursors, scopes. Real Postgres, a real MCP server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from integration.wire.hostile import Call, HostileServer, serving
from starlette.responses import Response

from driftwatch.app import Services
from driftwatch.db.engine import Database
from driftwatch.testing.shop import Shop
from driftwatch.web.app import create_app
from driftwatch.web.auth import store, tokens

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


async def client_with(services: Services, *scopes: str) -> httpx2.AsyncClient:
    """A client whose token has these scopes; without any: no token."""
    headers = {}
    if scopes:
        secret = tokens.new_secret()
        async with services.db.transaction() as session:
            await store.add_token(
                session, name="mei", prefix=secret[:8], sha256=tokens.digest(secret), scopes=list(scopes)
            )
        headers["authorization"] = f"Bearer {secret}"
    transport = httpx2.ASGITransport(app=create_app(services))
    return httpx2.AsyncClient(transport=transport, base_url="http://driftwatch.test/api/v1", headers=headers)


@pytest.fixture
async def writer(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    async with await client_with(services, "write") as client:
        yield client


@pytest.fixture
async def watched(writer: httpx2.AsyncClient, shop: Shop) -> dict[str, Any]:
    """The shop, registered."""
    answer = await writer.post("/servers", json={"url": shop.url, "name": "shop", "tags": ["a"], "owner": "mei"})
    assert answer.status_code == 201, answer.text
    server: dict[str, Any] = answer.json()["server"]
    return server


def problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of a refusal, checked for what every one must have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["type"] == f"urn:driftwatch:problem:{code}"
    assert body["title"]
    assert body["detail"]
    return body


@pytest.mark.parametrize(
    ("scopes", "method", "path", "status", "code"),
    [
        ((), "GET", "/servers", 401, "unauthenticated"),
        ((), "POST", "/servers", 401, "unauthenticated"),
        (("read",), "POST", "/servers", 403, "forbidden"),
        (("read",), "DELETE", "/servers/1", 403, "forbidden"),
        (("read",), "POST", "/alerts/1/accept", 403, "forbidden"),
        (("check",), "GET", "/changes", 403, "forbidden"),
        (("read",), "GET", "/servers/999", 404, "server-not-found"),
        (("read",), "GET", "/changes/999", 404, "not-found"),
        (("read",), "GET", "/changesets/999", 404, "not-found"),
        (("read",), "GET", "/alerts/999", 404, "not-found"),
        (("read",), "GET", "/tools/999/versions", 404, "not-found"),
        (("read",), "GET", "/tools/999/diff?from=1&to=2", 404, "not-found"),
        (("read",), "GET", "/changes?cursor=nonsense", 422, "invalid-request"),
        (("read",), "GET", "/changes?verdict=fine", 422, "invalid-request"),
        (("read",), "GET", "/servers/99999999999999999999", 422, "invalid-request"),
        (("read",), "GET", "/nothing-here", 404, "not-found"),
        (("read",), "PUT", "/servers", 405, "method-not-allowed"),
    ],
)
async def test_refusals_are_problem_documents(
    services: Services, scopes: tuple[str, ...], method: str, path: str, status: int, code: str
) -> None:
    async with await client_with(services, *scopes) as client:
        answer = await client.request(method, path, json={} if method == "POST" else None)
        problem(answer, status, code)
        if status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_method_that_is_not_there_is_told_which_are(services: Services) -> None:
    async with await client_with(services, "read") as client:
        for path, methods in (
            ("/servers", "GET, POST"),
            ("/servers/1", "GET, PATCH, DELETE"),
            ("/servers/batch", "POST"),
        ):
            answer = await client.put(path)
            problem(answer, 405, "method-not-allowed")
            assert answer.headers["allow"] == methods


async def test_a_wrong_token_is_refused(services: Services) -> None:
    async with await client_with(services) as client:
        for value in ("Bearer dw_wrong", "Bearer ", "Basic YTpi", "dw_x", "Bearer " + "x" * 4000):
            problem(await client.get("/servers", headers={"authorization": value}), 401, "unauthenticated")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid-request"),
        ({"url": "https://mcp.example.com/", "intervall_seconds": 60}, 422, "invalid-request"),
        ({"url": "ftp://mcp.example.com/"}, 422, "bad-server"),
        ({"url": "http://user:secret@mcp.example.com/"}, 422, "bad-server"),
        ({"url": "http://169.254.169.254/latest"}, 422, "blocked-address"),
        ({"url": "http://10.0.0.1/mcp"}, 422, "blocked-address"),
        ({"url": "https://mcp.example.com/", "interval_seconds": 0}, 422, "invalid-request"),
        ({"url": "https://mcp.example.com/", "eras": []}, 422, "bad-server"),
        ({"url": "https://mcp.example.com/", "eras": ["old"]}, 422, "invalid-request"),
        ({"url": "https://mcp.example.com/", "headers": {"Host": "x"}}, 422, "bad-server"),
        ({"url": "https://mcp.example.com/", "name": "x\u202ey"}, 422, "bad-server"),
    ],
)
async def test_bad_registrations_are_refused(
    writer: httpx2.AsyncClient, body: dict[str, Any], status: int, code: str
) -> None:
    found = problem(await writer.post("/servers", json=body), status, code)
    assert "secret" not in json.dumps(found)


async def test_text_that_no_database_stores_is_refused_not_a_crash(writer: httpx2.AsyncClient) -> None:
    for field in ("name", "owner"):
        raw = b'{"url": "https://mcp.example.com/", "%s": "a\\u0000b"}' % field.encode()
        answer = await writer.post("/servers", content=raw, headers={"content-type": "application/json"})
        assert answer.status_code == 422, answer.text
    for path in ("/servers?tag=%00", "/servers?q=%00", "/servers?owner=%00", "/changes?tool=%00"):
        answer = await writer.get(path)
        if answer.status_code != 200:  # names of tools may hold anything: looking for one is no error
            problem(answer, 422, "invalid-request")


async def test_an_unreachable_server_is_refused_unless_forced(writer: httpx2.AsyncClient, free_url: str) -> None:
    body = problem(await writer.post("/servers", json={"url": free_url}), 422, "refused")
    assert "force=true" in body["hint"]
    forced = await writer.post("/servers?force=true", json={"url": free_url})
    assert forced.status_code == 201
    assert forced.json()["found"] == []
    assert forced.json()["problems"]


async def test_a_dry_run_stores_nothing(writer: httpx2.AsyncClient, shop: Shop, query: Query) -> None:
    answer = await writer.post("/servers?dry_run=true", json={"url": shop.url})
    assert answer.status_code == 200
    assert {era["era"] for era in answer.json()["eras"]} == {"legacy", "modern"}
    for table in ("server", "profile", "blob", "tool", "audit_log"):
        assert await query(f"SELECT 1 FROM {table}") == []


async def test_secrets_are_write_only(services: Services, writer: httpx2.AsyncClient, shop: Shop, query: Query) -> None:
    secret = "Bearer planted-secret-value"
    body = {"url": shop.url, "name": "secret", "headers": {"Authorization": secret}}
    answer = await writer.post("/servers", json=body)
    assert answer.status_code == 201
    server = answer.json()["server"]
    assert server["headers_set"] == ["Authorization"]
    for text in (answer.text, (await writer.get("/servers")).text, (await writer.get(f"/servers/{server['id']}")).text):
        assert "planted-secret-value" not in text
    stored = await query("SELECT ciphertext FROM credential")
    assert b"planted-secret-value" not in bytes(stored[0]["ciphertext"])
    audit = await query("SELECT before, after FROM audit_log")
    assert "planted-secret-value" not in str(audit)
    elsewhere = await writer.patch(f"/servers/{server['id']}", json={"url": "https://other.example.com/mcp"})
    problem(elsewhere, 422, "credential-needed")


async def test_servers_can_be_filtered_and_paged(writer: httpx2.AsyncClient, free_url: str) -> None:
    for number in range(5):
        body = {"url": free_url, "name": f"s{number}", "tags": ["even" if number % 2 == 0 else "odd"], "owner": "mei"}
        assert (await writer.post("/servers?force=true", json=body)).status_code == 201
    names: list[str] = []
    cursor = None
    while True:
        page = (await writer.get("/servers", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        names += [server["name"] for server in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert names == ["s0", "s1", "s2", "s3", "s4"]
    found = (await writer.get("/servers", params={"tag": "odd"})).json()["items"]
    assert [server["name"] for server in found] == ["s1", "s3"]
    assert [s["name"] for s in (await writer.get("/servers", params={"q": "S4"})).json()["items"]] == ["s4"]
    assert (await writer.get("/servers", params={"q": "%"})).json()["items"] == []
    assert len((await writer.get("/servers", params={"owner": "mei", "era": "legacy"})).json()["items"]) == 5


async def test_a_server_is_edited_paused_resumed_and_deleted(
    writer: httpx2.AsyncClient, watched: dict[str, Any], query: Query
) -> None:
    path = f"/servers/{watched['id']}"
    edited = (await writer.patch(path, json={"interval_seconds": 60, "owner": None, "tags": ["b"]})).json()
    assert (edited["interval_seconds"], edited["owner"], edited["tags"], edited["name"]) == (60, None, ["b"], "shop")
    assert (await writer.post(f"{path}/pause")).json()["state"] == "paused"
    problem(await writer.post(f"{path}/poll"), 409, "server-paused")
    assert (await writer.post(f"{path}/resume")).json()["state"] == "active"
    assert (await writer.post(f"{path}/poll")).status_code == 202
    problem(await writer.post("/servers?force=true", json={"url": watched["url"], "name": "shop"}), 409, "name-taken")
    assert (await writer.delete(path)).status_code == 204
    problem(await writer.get(path), 404, "server-not-found")
    problem(await writer.get(f"{path}/tools"), 404, "server-not-found")
    assert (await writer.get("/servers")).json()["items"] == []
    actions = [row["action"] for row in await query("SELECT action FROM audit_log ORDER BY id")]
    assert actions == ["register", "edit", "pause", "resume", "check-now", "delete"]


async def test_transitive_mode_of_one_tool(writer: httpx2.AsyncClient, watched: dict[str, Any], query: Query) -> None:
    async def modes() -> dict[tuple[str, str], bool | None]:
        tools = (await writer.get(f"/servers/{watched['id']}/tools")).json()
        return {(tool["name"], tool["era"]): tool["transitive"] for tool in tools}

    assert set((await modes()).values()) == {None}
    (tool,) = await query("SELECT min(id) AS id FROM tool WHERE name = 'get_order'")
    path = f"/tools/{tool['id']}"
    for chosen in (True, False):
        assert (await writer.patch(path, json={"transitive": chosen})).json()["transitive"] is chosen
        found = await modes()
        # for the name, whatever kind of client looks
        assert {key for key, mode in found.items() if mode is chosen} == {
            ("get_order", e) for e in ("modern", "legacy")
        }
    await writer.patch(path, json={"transitive": None})
    assert set((await modes()).values()) == {None}
    problem(await writer.patch("/tools/999", json={"transitive": True}), 404, "not-found")
    problem(await writer.patch(path, json={}), 422, "invalid-request")
    audit = await query("SELECT after FROM audit_log WHERE action = 'tool.edit' ORDER BY id")
    assert [json.loads(row["after"])["transitive"] for row in audit] == [True, False, None]


async def test_tools_and_versions_are_read(writer: httpx2.AsyncClient, watched: dict[str, Any]) -> None:
    tools = (await writer.get(f"/servers/{watched['id']}/tools")).json()
    assert len(tools) == 12
    order = next(tool for tool in tools if tool["name"] == "get_order" and tool["era"] == "modern")
    assert (order["current_version"], order["baseline_version"], order["declares_output"]) == (1, 1, True)
    version = (await writer.get(f"/tools/{order['id']}/versions/1")).json()
    assert version["definition"]["outputSchema"]["properties"]["status"]["type"] == "string"
    assert json.loads(version["verbatim"]) == version["definition"]
    assert set(version["part_sha256"]) >= {"input", "output", "text"}
    problem(await writer.get(f"/tools/{order['id']}/versions/2"), 404, "not-found")
    same = (await writer.get(f"/tools/{order['id']}/diff", params={"from": 1, "to": 1})).json()
    assert (same["verdict"], same["parts"]) == ("compatible", [])


@pytest.fixture
def strange() -> Iterator[str]:
    """A server whose definitions hold what UTF-8, doubles or JSON readers have no place for."""
    schema = b'{"type":"object","properties":{"n":{"maximum":%s}}}'
    tools = [
        b'{"name":"lone \\ud800","inputSchema":{"type":"object","properties":{"k\\udfff":{}}}}',
        b'{"name":"huge","inputSchema":%s}' % (schema % (b"9" * 5000)),
        b'{"name":"fine","inputSchema":%s}' % (schema % b"0.1000000000000000055"),
        b'{"name":"twice","inputSchema":{"type":"object"}}',
        b'{"name":"twice","inputSchema":{"type":"object","title":"other"}}',
    ]

    def behave(call: Call) -> Response:
        if call.method != "tools/list":
            return call.polite()
        body = b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}' % (call.body["id"], b",".join(tools))
        return Response(body, media_type="application/json")

    server = HostileServer()
    with serving(server.app) as server.origin:
        yield server.play(behave).url


async def test_definitions_that_json_can_hardly_hold_are_shown(writer: httpx2.AsyncClient, strange: str) -> None:
    dry = await writer.post("/servers?dry_run=true", json={"url": strange, "eras": ["modern"]})
    assert dry.status_code == 200, dry.text
    registered = await writer.post("/servers", json={"url": strange, "eras": ["modern"]})
    assert registered.status_code == 201, registered.text
    tools = {tool["name"]: tool for tool in (await writer.get("/servers/1/tools")).json()}
    assert set(tools) == {"lone \ud800", "huge", "fine", "twice"}
    found = {}
    for name, tool in tools.items():
        answer = await writer.get(f"/tools/{tool['id']}/versions/1")
        assert answer.status_code == 200, answer.text
        found[name] = answer.json()
    assert found["huge"]["definition"] is None
    assert found["huge"]["invalid"]["code"] == "number-out-of-range"
    assert "9" * 5000 in found["huge"]["verbatim"]
    assert found["lone \ud800"]["definition"] is None
    assert found["fine"]["definition"]["inputSchema"]["properties"]["n"]["maximum"] == 0.1
    assert "0.1000000000000000055" in found["fine"]["verbatim"]
    assert len(found["twice"]["definition"]) == 2


async def test_a_batch_answers_for_each_entry(writer: httpx2.AsyncClient, shop: Shop, free_url: str) -> None:
    entries = [{"url": shop.url, "name": "one"}, {"url": free_url}, {"url": shop.url, "name": "one"}]
    outcomes = (await writer.post("/servers/batch", json=entries)).json()
    assert sorted(outcome["status"] for outcome in outcomes) == ["exists", "refused", "registered"]
    assert outcomes[1]["problem"]["code"] == "refused"


async def test_a_client_configuration_is_imported(writer: httpx2.AsyncClient, shop: Shop) -> None:
    content = json.dumps({"mcpServers": {"shop": {"url": shop.url}, "local": {"command": "npx", "args": ["x"]}}})
    outcomes = (await writer.post("/servers/import", json={"content": content, "tags": ["team"]})).json()
    assert [(o["name"], o["status"]) for o in outcomes] == [("shop", "registered"), ("local", "skipped")]
    assert "stdio" in outcomes[1]["problem"]["message"]
    (server,) = (await writer.get("/servers", params={"tag": "team"})).json()["items"]
    assert server["name"] == "shop"
    problem(await writer.post("/servers/import", json={"content": "{"}), 422, "unreadable-import")


async def test_the_description_of_the_api_holds_its_examples(writer: httpx2.AsyncClient) -> None:
    document = (await writer.get("/openapi.json")).json()
    paths = document["paths"]
    for path in ("/servers", "/servers/batch", "/servers/{server_id}/poll", "/tools/{tool_id}/diff", "/changes"):
        assert f"/api/v1{path}" in paths
    assert document["components"]["schemas"]["ServerIn"]["examples"]
    for operations in paths.values():
        for operation in operations.values():
            assert operation["summary"]


async def test_every_answer_carries_the_security_headers(writer: httpx2.AsyncClient) -> None:
    answer = await writer.get("/servers")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"]


async def test_a_database_that_is_away_is_a_503(services: Services, writer: httpx2.AsyncClient, free_url: str) -> None:
    nowhere = Database(f"postgresql://driftwatch@{free_url.split('/')[2]}/driftwatch")
    lost = replace(services, db=nowhere)
    async with await client_with(services, "read") as known:
        transport = httpx2.ASGITransport(app=create_app(lost))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://driftwatch.test/api/v1", headers=known.headers
        ) as client:
            problem(await client.get("/servers"), 503, "database")
    await nowhere.dispose()
