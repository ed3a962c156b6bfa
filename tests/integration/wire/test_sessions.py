"""Legacy sessions over streamable HTTP: kept, lost, replaced once, closed."""

from __future__ import annotations

import itertools

import pytest
from integration.wire.hostile import TOOL, event, sse
from starlette.responses import Response

from driftwatch.wire.errors import WireError
from driftwatch.wire.facts import Era, EraFacts, Session, Target, Transport
from driftwatch.wire.session import close_session
from driftwatch.wire.walk import walk

KEPT = Session("kept", "2025-11-25")
FACTS = EraFacts(Era.LEGACY, "2025-11-25", {"name": "h"}, {"tools": {}}, None, KEPT)
NEW = EraFacts(Era.LEGACY, "2025-11-25", None, {})


async def failure(client, url, facts=FACTS, **more) -> WireError:
    with pytest.raises(WireError) as caught:
        await walk(client, Target(url), facts, **more)
    return caught.value


def knowing(*sessions, status=404):
    """A server that knows some sessions and opens new ones; others are answered with ``status``."""
    known, names = set(sessions), itertools.count(1)

    def behaviour(call):
        if call.method == "initialize":
            known.add(name := f"s{next(names)}")
            return call.polite(session=name)
        if call.http == "POST" and call.headers.get("mcp-session-id") not in known:
            return Response(status_code=status)
        if call.http == "DELETE":
            known.discard(call.headers["mcp-session-id"])
        return call.polite()

    return behaviour


async def test_a_kept_session_is_used_and_nothing_else_is_sent(client, hostile):
    played = hostile.play(knowing("kept"))
    listing = await walk(client, Target(played.url), FACTS)
    assert played.methods() == ["tools/list"]
    headers = played.calls[0].headers
    assert (headers["mcp-session-id"], headers["mcp-protocol-version"]) == ("kept", "2025-11-25")
    assert "_meta" not in played.calls[0].params
    assert (listing.session, listing.session_replaced, listing.restarts) == (KEPT, False, ())
    assert (listing.ttl_ms, listing.cache_scope) == (None, None)


async def test_without_a_session_one_is_opened_first(client, hostile):
    played = hostile.play(knowing())
    listing = await walk(client, Target(played.url), NEW)
    assert played.methods() == ["initialize", "notifications/initialized", "tools/list"]
    assert played.calls[0].params["capabilities"] == {}
    assert "mcp-session-id" not in played.calls[0].headers
    assert [call.headers["mcp-session-id"] for call in played.calls[1:]] == ["s1", "s1"]
    assert listing.session == Session("s1", "2025-11-25")
    assert listing.session_replaced
    assert listing.facts.server_info == {"name": "h"}


@pytest.mark.parametrize("status", [400, 401, 404, 410, 503])
async def test_a_lost_session_is_replaced_once(client, hostile, status):
    played = hostile.play(knowing(status=status))
    listing = await walk(client, Target(played.url), FACTS, polls_survived=3)
    assert played.methods() == ["tools/list", "initialize", "notifications/initialized", "tools/list"]
    assert listing.session_replaced
    assert listing.session == Session("s1", "2025-11-25")
    assert [(restart.kind, restart.detail) for restart in listing.restarts] == [("session-lost", f"HTTP {status}")]


async def test_a_young_sessions_loss_is_no_restart(client, hostile):
    played = hostile.play(knowing())
    assert (await walk(client, Target(played.url), FACTS, polls_survived=2)).restarts == ()


async def test_a_lost_session_in_the_middle_of_the_pages_starts_the_list_again(client, hostile):
    def behaviour(call):
        if call.method == "initialize":
            return call.polite(session="s1")
        page = call.params.get("cursor")
        if page and call.headers["mcp-session-id"] == "kept":
            return call.error(-32001, "Session not found", 404)
        return call.polite([{**TOOL, "name": f"t{page}"}], nextCursor=None if page else "2")

    listing = await walk(client, Target(hostile.play(behaviour).url), FACTS)
    assert len(listing.tools) == listing.pages == 2
    assert listing.session_replaced


@pytest.mark.parametrize("status", [402, 403, 405, 409, 429, 500, 502])
async def test_other_statuses_lose_no_session(client, hostile, status):
    played = hostile.play(lambda call: Response(status_code=status))
    await failure(client, played.url)
    assert played.methods() == ["tools/list"]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "session-lost"),
        (404, "session-lost"),
        (410, "session-lost"),
        (401, "unauthorized"),
        (503, "server-error"),
    ],
)
async def test_a_session_lost_twice_decides(client, hostile, status, code):
    """Requests land on replicas that do not share sessions, or the status meant what it says."""

    def behaviour(call):
        if call.method == "initialize":
            return call.polite(session="s1")
        return call.polite() if call.method != "tools/list" else Response(status_code=status)

    played = hostile.play(behaviour)
    error = await failure(client, played.url, polls_survived=9)
    assert error.code == code
    assert played.methods().count("initialize") == 1
    assert played.calls[-1].http == "DELETE"  # nobody would keep the session this poll opened
    assert played.calls[-1].headers["mcp-session-id"] == "s1"
    assert error.restart_kind == {"session-lost": "session-lost", "server-error": "http-503"}.get(code)


async def test_an_outage_while_replacing_is_the_failure(client, hostile):
    def behaviour(call):
        return Response(status_code=503 if call.method == "initialize" else 404)

    error = await failure(client, hostile.play(behaviour).url)
    assert (error.code, error.restart_kind) == ("server-error", "http-503")


async def test_initialize_may_fail_by_name(client, hostile):
    played = hostile.play(lambda call: call.error(-32603, "backend down"))
    assert (await failure(client, played.url, NEW)).code == "server-error"
    played = hostile.play(lambda call: call.error(-32600, "no"))
    assert (await failure(client, played.url, NEW)).code == "rpc-error"


async def test_a_stateless_server_needs_no_handshake(client, hostile):
    stateless = EraFacts(Era.LEGACY, "2025-11-25", None, {}, None, Session(None, "2025-11-25"))
    played = hostile.play(lambda call: call.polite())
    listing = await walk(client, Target(played.url), stateless)
    assert played.methods() == ["tools/list"]
    assert "mcp-session-id" not in played.calls[0].headers
    assert not listing.session_replaced


async def test_a_401_without_a_session_is_an_authorization_problem(client, hostile):
    stateless = EraFacts(Era.LEGACY, "2025-11-25", None, {}, None, Session(None, "2025-11-25"))
    played = hostile.play(lambda call: Response(status_code=401))
    assert (await failure(client, played.url, stateless)).code == "unauthorized"
    assert played.methods() == ["tools/list"]


async def test_a_server_without_sessions_may_want_its_handshake_again(client, hostile):
    ready = []

    def behaviour(call):
        if call.method == "notifications/initialized":
            ready.append(True)
        if call.method == "tools/list" and not ready:
            return call.error(-32000, "Bad Request: Server not initialized", 400)
        return call.polite()

    stateless = EraFacts(Era.LEGACY, "2025-11-25", None, {}, None, Session(None, "2025-11-25"))
    listing = await walk(client, Target(hostile.play(behaviour).url), stateless, polls_survived=9)
    assert (len(listing.tools), listing.session_replaced, listing.restarts) == (1, False, ())


async def test_a_server_without_sessions_that_refuses_is_not_called_a_lost_session(client, hostile):
    played = hostile.play(lambda call: call.error(-32600, "no", 400) if call.method == "tools/list" else call.polite())
    stateless = EraFacts(Era.LEGACY, "2025-11-25", None, {}, None, Session(None, "2025-11-25"))
    assert (await failure(client, played.url, stateless)).code == "rpc-error"


async def test_a_new_session_that_shows_another_server_is_restart_evidence(client, hostile):
    def behaviour(call):
        if call.method == "initialize":
            info = {"name": "h", "version": "2"}
            return call.ok({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info})
        return call.polite()

    old = EraFacts(Era.LEGACY, "2025-11-25", {"name": "h", "version": "1"}, {})
    listing = await walk(client, Target(hostile.play(behaviour).url), old)
    assert [restart.kind for restart in listing.restarts] == ["server-info-changed", "versions-changed"]
    assert listing.facts.protocol_version == listing.session.protocol_version == "2025-06-18"


async def test_list_changed_right_after_initialize_is_noise(client, hostile):
    def behaviour(call):
        if call.method != "tools/list":
            return call.polite(session="s1")
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        return sse(event(changed), event(call.message({"tools": []})))

    played = hostile.play(behaviour)
    first = await walk(client, Target(played.url), NEW)
    assert first.list_changed_at == ()
    second = await walk(client, Target(played.url), first.facts)
    assert len(second.list_changed_at) == 1


async def test_a_refused_initialized_closes_the_session(client, hostile):
    def behaviour(call):
        if call.method == "notifications/initialized":
            return Response(status_code=500)
        return call.polite(session="s1")

    played = hostile.play(behaviour)
    assert (await failure(client, played.url, NEW)).code == "server-error"
    assert played.methods() == ["initialize", "notifications/initialized", "DELETE"]


async def test_close_session_never_fails(client, hostile):
    played = hostile.play(lambda call: Response(status_code=405))
    await close_session(client, Target(played.url, {"authorization": "Bearer s"}), KEPT)
    (call,) = played.calls
    assert (call.http, call.headers["mcp-session-id"], call.headers["authorization"]) == ("DELETE", "kept", "Bearer s")
    await close_session(client, Target("http://127.0.0.1:9999/gone"), KEPT)
    await close_session(client, Target(played.url), Session(None, "2025-11-25"))
    await close_session(client, Target(played.url), Session(None, "2024-11-05", Transport.HTTP_SSE))
    assert len(played.calls) == 1
