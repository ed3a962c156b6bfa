"""Which eras a server speaks, for every kind of server wire.md names."""

from __future__ import annotations

import pytest
from integration.wire.hostile import event, sse
from starlette.responses import HTMLResponse, JSONResponse, Response

from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient
from driftwatch.wire.eras import detect
from driftwatch.wire.facts import LATEST_MODERN, Era, Session, Target

BOTH = {Era.MODERN, Era.LEGACY}


def codes(detection):
    return {era.value: error.code for era, error in detection.problems.items()}


def only_legacy(refusal):
    """A legacy server that answers anything before initialize with ``refusal(call)``."""
    return lambda call: call.polite(session="s1") if not call.modern else refusal(call)


async def test_both_eras_are_found_and_the_legacy_session_is_ready(client, hostile):
    played = hostile.play(lambda call: call.polite(session="s1"))
    detection = await detect(client, Target(played.url))
    assert detection.found.keys() == BOTH
    assert detection.problems == {}
    assert detection.failure is None
    assert detection.found[Era.MODERN].session is None
    assert detection.found[Era.MODERN].protocol_version == LATEST_MODERN
    assert detection.found[Era.LEGACY].session == Session("s1", "2025-11-25")
    assert played.methods() == ["server/discover", "initialize", "notifications/initialized"]


async def test_only_wanted_eras_are_tried(client, hostile):
    played = hostile.play(lambda call: call.polite())
    assert (await detect(client, Target(played.url), frozenset({Era.MODERN}))).found.keys() == {Era.MODERN}
    assert played.methods() == ["server/discover"]
    assert (await detect(client, Target(played.url), frozenset({Era.LEGACY}))).found.keys() == {Era.LEGACY}
    assert played.methods()[1:] == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize(
    "refusal",
    [
        lambda call: call.error(-32601, "Method not found", 200),
        lambda call: call.error(-32601, "Method not found", 404),
        lambda call: call.error(-32600, "Bad Request: Missing session ID", 400),
        lambda call: call.error(-32000, "Bad Request: Server not initialized", 400),
        lambda call: call.error(-32602, "Invalid request parameters"),
        lambda call: call.error(-32603, "odd"),
        lambda call: call.error(-32022, "no", 400, {"supported": ["2025-11-25"], "requested": LATEST_MODERN}),
        lambda call: call.error(-32020, "odd", 200),
        lambda call: call.ok({"supportedVersions": ["2025-11-25", "2025-06-18"], "capabilities": {}}),
        lambda call: call.ok({}),
        lambda call: HTMLResponse("<html>", 404),
        lambda call: HTMLResponse("<html>", 400),
        lambda call: HTMLResponse("<html>", 200),
        lambda call: Response(status_code=405),
        lambda call: Response(status_code=202),
        lambda call: Response(b"", 200),
        lambda call: Response(b"odd", 200, media_type="application/json"),
        lambda call: sse(b": nothing\n\n"),
    ],
)
async def test_any_other_refusal_means_legacy(client, hostile, refusal):
    detection = await detect(client, Target(hostile.play(only_legacy(refusal)).url))
    assert detection.found.keys() == {Era.LEGACY}
    assert codes(detection) == {"modern": "era-not-spoken"}


async def test_a_mutual_version_is_tried_once_more(client, hostile):
    def behaviour(call):
        if call.method == "server/discover" and len(played.calls) == 1:
            return call.error(-32022, "Unsupported", 400, {"supported": [LATEST_MODERN], "requested": "x"})
        return call.polite()

    played = hostile.play(behaviour)
    assert (await detect(client, Target(played.url), frozenset({Era.MODERN}))).found.keys() == {Era.MODERN}
    assert played.methods() == ["server/discover"] * 2


async def test_a_server_that_refuses_its_own_version_is_asked_twice_and_no_more(client, hostile):
    played = hostile.play(
        lambda call: call.error(-32022, "Unsupported", 400, {"supported": [LATEST_MODERN], "requested": "x"})
    )
    detection = await detect(client, Target(played.url), frozenset({Era.MODERN}))
    assert codes(detection) == {"modern": "era-not-spoken"}
    assert played.methods() == ["server/discover"] * 2


async def test_a_server_of_the_future_is_told_from_one_that_is_not_modern(client, hostile):
    def behaviour(call):
        return call.error(-32022, "Unsupported", 400, {"supported": ["2099-01-01"], "requested": LATEST_MODERN})

    detection = await detect(client, Target(hostile.play(behaviour).url))
    assert codes(detection) == {"modern": "unsupported-version", "legacy": "era-not-spoken"}
    assert detection.failure.code == "unsupported-version"


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_errors_of_the_modern_era_on_a_400_are_evidence(client, hostile, code):
    played = hostile.play(lambda call: call.error(code, "header mismatch", 400) if call.modern else call.polite())
    detection = await detect(client, Target(played.url))
    assert detection.found.keys() == BOTH


async def test_only_modern(client, hostile):
    def behaviour(call):
        return call.polite() if call.modern or call.http == "GET" else call.error(-32022, "no", 400, {"supported": []})

    detection = await detect(client, Target(hostile.play(behaviour).url))
    assert detection.found.keys() == {Era.MODERN}
    assert codes(detection) == {"legacy": "era-not-spoken"}


@pytest.mark.parametrize(
    ("status", "code", "tried"),
    [
        (401, "unauthorized", 2),
        (403, "forbidden", 2),
        (429, "rate-limited", 1),
        (500, "server-error", 2),
        (503, "server-error", 2),
    ],
)
async def test_outages_and_refusals_are_no_verdict(client, hostile, status, code, tried):
    played = hostile.play(lambda call: Response(status_code=status, headers={"retry-after": "9"}))
    detection = await detect(client, Target(played.url))
    assert detection.found == {}
    assert codes(detection) == {"modern": code, "legacy": code}
    assert detection.failure.code == code
    assert len(played.calls) == tried


async def test_one_era_may_be_down_while_the_other_is_found(client, hostile):
    played = hostile.play(lambda call: Response(status_code=502) if call.modern else call.polite())
    detection = await detect(client, Target(played.url))
    assert detection.found.keys() == {Era.LEGACY}
    assert codes(detection) == {"modern": "server-error"}


async def test_a_server_that_hangs_on_what_it_does_not_know_is_still_found(client, hostile):
    played = hostile.play(only_legacy(lambda call: sse(b": ping\n\n", 30.0)))
    detection = await detect(client, Target(played.url), seconds=1.0)
    assert detection.found.keys() == {Era.LEGACY}
    assert codes(detection) == {"modern": "timeout"}


async def test_a_web_page_is_not_mcp(client, hostile):
    detection = await detect(client, Target(hostile.play(lambda call: HTMLResponse("<html>hi</html>")).url))
    assert codes(detection) == {"modern": "era-not-spoken", "legacy": "not-mcp"}
    assert detection.failure.code == "not-mcp"
    missing = await detect(client, Target(hostile.play(lambda call: HTMLResponse("<html>", 404)).url))
    assert missing.failure.code == "not-found"
    assert missing.failure.status == 404


@pytest.mark.parametrize("version", ["2026-07-28", "1.0", ""])
async def test_an_unknown_legacy_version_is_named(client, hostile, version):
    played = hostile.play(lambda call: call.ok({"protocolVersion": version, "capabilities": {}}))
    assert codes(await detect(client, Target(played.url), frozenset({Era.LEGACY}))) == {"legacy": "unsupported-version"}


async def test_nothing_is_tried_twice_where_nothing_can_be_reached(client, clock):
    refused = await detect(client, Target("http://127.0.0.1:9999/mcp"))
    assert codes(refused) == {"modern": "refused", "legacy": "refused"}
    assert codes(await detect(client, Target("ftp://example.com/"))) == {"modern": "bad-target", "legacy": "bad-target"}
    async with WireClient(Settings(), clock) as strict:
        blocked = await detect(strict, Target("http://169.254.169.254/latest/meta-data"))
    assert codes(blocked) == {"modern": "blocked-address", "legacy": "blocked-address"}


async def test_a_stream_of_the_initialize_answer_is_read(client, hostile):
    def behaviour(call):
        if call.method != "initialize":
            return call.polite()
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "instructions": "hi"}
        answer = sse(event(call.message(result)))
        answer.headers["mcp-session-id"] = "s1"
        return answer

    detection = await detect(client, Target(hostile.play(behaviour).url), frozenset({Era.LEGACY}))
    assert detection.found[Era.LEGACY].session == Session("s1", "2025-06-18")
    assert detection.found[Era.LEGACY].instructions == "hi"


async def test_a_compressed_answer_is_a_problem_of_its_own(client, hostile):
    played = hostile.play(lambda call: JSONResponse({}, headers={"content-encoding": "gzip"}))
    assert codes(await detect(client, Target(played.url))) == {"modern": "compressed", "legacy": "compressed"}
