"""What a server may answer, and the name driftwatch has for it."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from integration.wire.hostile import TOOL, event, sse
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import WireError
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Target
from driftwatch.wire.walk import walk

MODERN = EraFacts(Era.MODERN, LATEST_MODERN, None, {"tools": {}})


async def failure(client, url, facts=MODERN, **more) -> WireError:
    with pytest.raises(WireError) as caught:
        await walk(client, Target(url), facts, **more)
    return caught.value


async def test_a_modern_request_is_what_the_protocol_asks_for(client, hostile):
    def behaviour(call):
        answer = call.polite()
        answer.set_cookie("identity", "1")
        return answer

    played = hostile.play(behaviour)
    headers = {"Authorization": "Bearer s", "ACCEPT": "text/html", "Accept-Encoding": "gzip", "Mcp-Session-Id": "x"}
    for _ in range(2):
        await walk(client, Target(played.url, headers), MODERN)
    first, second = played.calls
    assert first.headers["authorization"] == "Bearer s"
    assert first.headers["accept"] == "application/json, text/event-stream"
    assert first.headers["accept-encoding"] == "identity"
    assert first.headers["content-type"] == "application/json"
    assert first.headers["mcp-protocol-version"] == LATEST_MODERN
    assert first.headers["mcp-method"] == "tools/list"
    assert first.params["_meta"]["io.modelcontextprotocol/protocolVersion"] == LATEST_MODERN
    assert first.params["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}
    assert first.params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "driftwatch"
    assert "mcp-session-id" not in first.headers
    assert "cookie" not in second.headers
    assert (first.body, first.headers) == (second.body, second.headers)


async def test_tools_come_verbatim(client, hostile):
    tools = (
        b'[ {"name":"a","x-rate": 1.0, "icons":[{"src":"\\u0041"}],"_meta":{"k":null}},null, {"name":"\\ud800"},true]'
    )
    body = b'{"jsonrpc":"2.0","id":1,"result":{"tools":' + tools + b',"ttlMs":300000,"cacheScope":"public"}}'
    played = hostile.play(lambda call: Response(body, media_type="application/json; charset=utf-8"))
    listing = await walk(client, Target(played.url), MODERN)
    assert b"[ " + listing.tools[0] + b"," + listing.tools[1] + b", " + listing.tools[2] + b",true]" == tools
    assert (listing.ttl_ms, listing.cache_scope, listing.pages) == (300000, "public", 1)
    assert listing.size_bytes == len(body)
    assert listing.sent_at < listing.arrived_at
    assert listing.duration_ms > 0
    assert (await walk(client, Target(played.url), MODERN)).body_sha256 == listing.body_sha256


async def test_a_list_that_does_not_say_is_stale_and_private(client, hostile):
    listing = await walk(client, Target(hostile.play(lambda call: call.polite()).url), MODERN)
    assert (listing.ttl_ms, listing.cache_scope) == (0, "private")


@pytest.mark.parametrize(
    ("status", "headers", "code", "restart", "wait"),
    [
        (401, {"www-authenticate": 'Bearer resource_metadata="http://169.254.169.254/"'}, "unauthorized", None, None),
        (403, {}, "forbidden", None, None),
        (404, {}, "not-found", None, None),
        (405, {}, "not-found", None, None),
        (410, {}, "not-found", None, None),
        (418, {}, "not-mcp", None, None),
        (429, {"retry-after": "7"}, "rate-limited", None, 7.0),
        (429, {}, "rate-limited", None, None),
        (500, {}, "server-error", None, None),
        (502, {}, "server-error", "http-502", None),
        (503, {"retry-after": "120"}, "server-error", "http-503", 120.0),
        (504, {}, "server-error", None, None),
        (301, {"location": "/elsewhere"}, "redirected", None, None),
        (302, {"location": "/login"}, "redirected", None, None),
        (303, {"location": "/login"}, "redirected", None, None),
        (307, {"location": "http://169.254.169.254/latest"}, "redirected", None, None),
        (307, {"location": "https://evil.example/"}, "redirected", None, None),
        (308, {}, "redirected", None, None),
    ],
)
async def test_statuses_are_named(client, hostile, status, headers, code, restart, wait):
    played = hostile.play(lambda call: HTMLResponse("<html>", status, headers))
    error = await failure(client, played.url)
    assert (error.code, error.status, error.restart_kind, error.retry_after) == (code, status, restart, wait)
    assert error.hint
    assert len(played.calls) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "unauthorized"), (403, "forbidden"), (429, "rate-limited"), (500, "server-error"), (503, "server-error")],
)
async def test_a_telling_status_is_believed_over_its_json_rpc_body(client, hostile, status, code):
    played = hostile.play(lambda call: call.error(-32601, "token expired", status))
    error = await failure(client, played.url, EraFacts(Era.MODERN, LATEST_MODERN, None, {}))
    assert (error.code, error.status) == (code, status)
    assert "token expired" in error.message


async def test_all_pages_are_walked_with_the_cursors_that_came(client, hostile):
    cursors = {None: "", "": "2 é", "2 é": None}

    def behaviour(call):
        cursor = call.params.get("cursor")
        return call.polite([{**TOOL, "name": f"t{cursor}"}], nextCursor=cursors[cursor])

    played = hostile.play(behaviour)
    listing = await walk(client, Target(played.url), MODERN)
    assert [json.loads(tool)["name"] for tool in listing.tools] == ["tNone", "t", "t2 é"]
    assert listing.pages == 3
    assert "cursor" not in played.calls[0].params
    assert all("_meta" in call.params for call in played.calls)


@pytest.mark.parametrize("error", [-32603, -32602, -32601])
async def test_a_page_that_fails_makes_the_walk_incomplete(client, hostile, error):
    played = hostile.play(
        lambda call: call.error(error, "boom") if call.params.get("cursor") else call.polite(nextCursor="2")
    )
    told = await failure(client, played.url, EraFacts(Era.MODERN, LATEST_MODERN, None, {}))
    assert told.code == "incomplete-walk"
    assert "boom" in told.message


async def test_a_list_that_never_ends_ends(client, hostile):
    same = hostile.play(lambda call: call.polite(nextCursor="same"))
    assert (await failure(client, same.url)).code == "repeated-cursor"
    assert len(same.calls) == 2
    more = hostile.play(lambda call: call.polite(nextCursor=str(len(more.calls))))
    assert (await failure(client, more.url)).code == "too-many-pages"
    assert len(more.calls) == 100


BODIES = {
    "not-mcp": [
        HTMLResponse("<html>hello</html>"),
        Response(b"", media_type="application/json"),
        Response(status_code=202),
        Response(status_code=204),
        Response(b'"hello"', media_type="application/json"),
        Response(b"plain", media_type="text/plain"),
    ],
    "bad-json": [
        Response(b'{"id":1,"result":{"tools":[NaN]}}', media_type="application/json"),
        Response(b'{"id":1,"result":{"tools":[]}', media_type="application/json"),
        Response(b"<html>", media_type="application/json"),
    ],
    "bad-result": [
        JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}}),
        JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"tools": {}}}),
        JSONResponse({"jsonrpc": "2.0", "id": 1, "result": None}),
        JSONResponse({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}),
        JSONResponse({"jsonrpc": "2.0", "id": True, "result": {"tools": []}}),
        JSONResponse({"jsonrpc": "2.0", "result": {"tools": []}}),
        JSONResponse({"jsonrpc": "2.0", "id": 1}),
        JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "nextCursor": 7}}),
        JSONResponse([]),
    ],
    "incomplete-walk": [JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required"}})],
    "compressed": [
        Response(gzip.compress(b"0" * 100_000), headers={"content-encoding": "gzip"}),
        Response(b"x", headers={"content-encoding": "br"}),
        Response(b"x", headers={"content-encoding": "identity, deflate"}),
    ],
    "too-deep": [
        Response(b'{"id":1,"result":{"tools":[' + b"[" * 100 + b"]" * 100 + b"]}}", media_type="application/json"),
        Response(b"[" * 1_000_000, media_type="application/json"),
        Response(b'{"id":1,"result":{"tools":[' + b"0," * 300_000 + b"0]}}", media_type="application/json"),
    ],
    "too-many-tools": [JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{}] * 2001}})],
    "too-large": [Response(b" " * (4 * 1024 * 1024 + 1), media_type="application/json")],
    "server-error": [JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "backend down"}})],
    "rpc-error": [
        JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}, 400),
        JSONResponse({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32601, "message": "no"}}, 404),
        JSONResponse({"jsonrpc": "2.0", "id": 1, "error": "odd"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "number"), [(code, number) for code, answers in BODIES.items() for number in range(len(answers))]
)
async def test_bodies_are_named(client, hostile, code, number):
    error = await failure(client, hostile.play(lambda call: BODIES[code][number]).url)
    assert error.code == code


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([b": ping\n\n"], "bad-result"),
        ([event({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})], "bad-result"),
        ([b"data: <html>\n\n"], "bad-json"),
        ([b"data: 7\n\n"], "not-mcp"),
        ([b"data: " + b"[" * 100 + b"]" * 100 + b"\n\n"], "too-deep"),
        ([b"data: " + b"x" * 100_000] * 50, "too-large"),
        ([b": ping\n\n" * 10_000] * 60, "too-large"),
        ([event({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}})], "server-error"),
    ],
)
async def test_streams_are_named(client, hostile, frames, code):
    assert (await failure(client, hostile.play(lambda call: sse(*frames)).url)).code == code


async def test_a_declared_length_over_the_cap_is_not_even_read(client, hostile):
    def behaviour(call):
        answer = sse(b" ", 20.0)
        answer.headers["content-type"] = "application/json"
        answer.headers["content-length"] = "9999999999"
        return answer

    started = time.monotonic()
    assert (await failure(client, hostile.play(behaviour).url)).code == "too-large"
    assert time.monotonic() - started < 2


async def test_the_cap_counts_all_pages(hostile, settings, clock):
    small = settings.model_copy(update={"max_body_bytes": 5000})

    def behaviour(call):
        number = int(call.params.get("cursor") or 0)
        return call.polite([{**TOOL, "description": "x" * 1000}], nextCursor=str(number + 1))

    played = hostile.play(behaviour)
    async with WireClient(small, clock) as client:
        assert (await failure(client, played.url)).code == "too-large"
    assert 3 < len(played.calls) < 6


@pytest.mark.parametrize(
    "frames",
    [
        [0.1, b"{"] * 100,
        [b"HTTP", 30.0],
        [b": ping\n\n", 0.05] * 200,
    ],
)
async def test_one_deadline_for_the_whole_poll(client, hostile, frames):
    """No single read takes long: only a deadline of the whole poll ends this."""
    played = hostile.play(lambda call: sse(*frames))
    started = time.monotonic()
    error = await failure(client, played.url, seconds=0.4)
    assert error.code == "timeout"
    assert 0.3 < time.monotonic() - started < 2


async def test_a_stream_with_everything_on_it(client, hostile):
    """Notifications, requests of the server and pings between; only our answer and list_changed count."""

    def behaviour(call):
        answer = event(call.message({"tools": [TOOL]}))
        changed = event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return sse(
            b"id: 0\ndata:\n\n",
            event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}),
            changed[:20], 0.01, changed[20:],
            b": ping\r\n\r\n",
            event({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}),
            event({"jsonrpc": "2.0", "id": 9, "method": "notifications/tools/list_changed"}),
            b"event: other\ndata: not json\n\n",
            answer[:50], 0.01, answer[50:],
            event(call.message({"tools": []})),
            changed,
        )  # fmt: skip

    listing = await walk(client, Target(hostile.play(behaviour).url), MODERN)
    assert [json.loads(tool) for tool in listing.tools] == [TOOL]
    assert len(listing.list_changed_at) == 2
    assert all(listing.sent_at <= at <= listing.arrived_at for at in listing.list_changed_at)


async def test_a_stream_that_stays_open_after_the_answer_does_not_hold_the_poll(client, hostile):
    played = hostile.play(lambda call: sse(event(call.message({"tools": [TOOL]})), 20.0))
    listing = await walk(client, Target(played.url), MODERN)
    assert len(listing.tools) == 1
    assert listing.duration_ms < 2000


async def test_a_batch_is_understood(client, hostile):
    played = hostile.play(
        lambda call: JSONResponse(
            [{"jsonrpc": "2.0", "method": "notifications/message"}, call.message({"tools": [TOOL]})]
        )
    )
    assert len((await walk(client, Target(played.url), MODERN)).tools) == 1


@pytest.mark.parametrize("status", [307, 308])
async def test_same_origin_redirects_are_followed_with_body_and_headers(client, hostile, status):
    played = hostile.play(lambda call: call.polite())
    door = hostile.play(lambda call: RedirectResponse(played.url, status))
    await walk(client, Target(door.url, {"authorization": "Bearer s"}), MODERN)
    (call,) = played.calls
    assert (call.method, call.headers["authorization"]) == ("tools/list", "Bearer s")


async def test_redirects_in_circles_end(client, hostile):
    played = hostile.play(lambda call: RedirectResponse(played.url, 307))
    assert (await failure(client, played.url)).code == "redirected"
    assert len(played.calls) == 4


async def test_no_tools_capability_and_no_method_is_a_state(client, hostile):
    played = hostile.play(lambda call: call.error(-32601, "Method not found", 404))
    nothing = EraFacts(Era.MODERN, LATEST_MODERN, None, {})
    assert (await failure(client, played.url, nothing)).code == "not-serving-tools"
    error = await failure(client, played.url)
    assert (error.code, error.rpc_code) == ("rpc-error", -32601)


async def test_a_server_that_renames_itself_was_restarted(client, hostile):
    info = {"name": "s", "version": "2"}
    played = hostile.play(lambda call: call.polite(_meta={"io.modelcontextprotocol/serverInfo": info}))
    first = await walk(client, Target(played.url), MODERN)
    assert first.facts.server_info == info
    assert first.restarts == ()
    older = EraFacts(Era.MODERN, LATEST_MODERN, {"name": "s", "version": "1"}, {})
    second = await walk(client, Target(played.url), older)
    assert [restart.kind for restart in second.restarts] == ["server-info-changed"]
    assert second.facts.server_info == info


async def test_server_text_in_errors_is_safe_and_short(client, hostile):
    played = hostile.play(lambda call: call.error(-32000, "\x1b[31m\u202e" + "long" * 1000))
    error = await failure(client, played.url)
    assert "\\u{1B}[31m\\u{202E}" in error.message
    assert len(error.message) < 500
