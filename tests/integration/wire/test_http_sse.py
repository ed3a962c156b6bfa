"""The transport of 2024-11-05, played by hand and by the mcp SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from integration.wire.hostile import TOOL, Call, Played, event, serving, sse
from mcp.server import MCPServer
from starlette.responses import Response, StreamingResponse

from driftwatch.wire.eras import detect
from driftwatch.wire.errors import WireError
from driftwatch.wire.facts import Era, Session, Target, Transport
from driftwatch.wire.walk import walk

LEGACY = frozenset({Era.LEGACY})


class OldServer:
    """One stream at a time: what is POSTed is answered on it."""

    def __init__(self, endpoint: bytes | None = None, extra: tuple[bytes, ...] = ()) -> None:
        self.played: Played
        self._endpoint = endpoint
        self._extra = extra
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()

    def __call__(self, call: Call) -> Response:
        if call.http == "GET":
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        if call.modern or self.played.calls[-1].headers.get("authorization") != "Bearer s":
            return Response(status_code=404)
        if "id" in call.body and len([c for c in self.played.calls if c.http == "GET"]) == 0:
            return Response(status_code=405)
        for frame in self._answers(call):
            self._frames.put_nowait(frame)
        return Response("Accepted", status_code=202)

    def _answers(self, call: Call) -> list[bytes]:
        if call.method == "initialize":
            result = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old"}}
            return [event(call.message(result))]
        if call.method == "tools/list":
            page = call.params.get("cursor")
            more = {} if page else {"nextCursor": "2"}
            return [*self._extra, event(call.message({"tools": [{**TOOL, "name": f"t{page}"}], **more}))]
        return []

    async def _stream(self) -> AsyncIterator[bytes]:
        endpoint = self._endpoint or self.played.url.encode()
        yield b"event: endpoint\r\ndata: " + endpoint + b"\r\n\r\n"
        while True:
            yield await self._frames.get()


def play(hostile, **more):
    server = OldServer(**more)
    server.played = hostile.play(server)
    return server.played, Target(server.played.url, {"authorization": "Bearer s"})


async def test_detection_and_walk_over_one_stream(client, hostile):
    played, target = play(hostile)
    detection = await detect(client, target)
    assert {era.value: error.code for era, error in detection.problems.items()} == {"modern": "era-not-spoken"}
    facts = detection.found[Era.LEGACY]
    assert facts.session == Session(None, "2024-11-05", Transport.HTTP_SSE)
    del played.calls[:]
    listing = await walk(client, target, facts, polls_survived=9)
    assert played.methods() == ["GET", "initialize", "notifications/initialized", "tools/list", "tools/list"]
    assert [call.body.get("id") for call in played.calls[1:]] == [1, None, 2, 3]
    assert all(call.headers["authorization"] == "Bearer s" for call in played.calls)
    assert (len(listing.tools), listing.pages) == (2, 2)
    assert (listing.session, listing.session_replaced, listing.restarts) == (facts.session, False, ())


async def test_what_the_stream_says_beside_is_tolerated_and_is_start_up_noise(client, hostile):
    beside = (
        event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        event({"jsonrpc": "2.0", "id": 2, "method": "roots/list"}),
        b": ping\n\n",
    )
    _, target = play(hostile, extra=beside)
    facts = (await detect(client, target, LEGACY)).found[Era.LEGACY]
    listing = await walk(client, target, facts)
    assert len(listing.tools) == 2
    assert listing.list_changed_at == ()


@pytest.mark.parametrize(
    ("endpoint", "code"),
    [
        (b"http://169.254.169.254/m", "redirected"),
        (b"https://evil.example/m", "redirected"),
        (b"http://127.0.0.1:1/m", "not-found"),  # no address at all: what initialize said stands
    ],
)
async def test_credentials_never_follow_an_endpoint_to_another_origin(client, hostile, endpoint, code):
    played, target = play(hostile, endpoint=endpoint)
    detection = await detect(client, target, LEGACY)
    assert detection.found == {}
    assert detection.problems[Era.LEGACY].code == code
    assert played.methods() == ["initialize", "GET"]


@pytest.mark.parametrize(
    "stream",
    [
        lambda: sse(event({"jsonrpc": "2.0"})),
        lambda: sse(b": ping\n\n"),
        lambda: Response("hello"),
        lambda: Response(status_code=405),
    ],
)
async def test_a_get_without_an_endpoint_is_no_such_server(client, hostile, stream):
    played = hostile.play(lambda call: stream() if call.http == "GET" else Response(status_code=405))
    problem = (await detect(client, Target(played.url), LEGACY)).problems[Era.LEGACY]
    assert (problem.code, problem.status) == ("not-found", 405)


async def test_a_stream_that_ends_in_the_middle_is_unreachable(client, hostile):
    _, target = play(hostile)
    facts = (await detect(client, target, LEGACY)).found[Era.LEGACY]
    broken = hostile.play(
        lambda call: (
            sse(b"event: endpoint\ndata: " + broken.url.encode() + b"\n\n", 0.1)
            if call.http == "GET"
            else Response(status_code=202)
        )
    )
    with pytest.raises(WireError) as caught:
        await walk(client, Target(broken.url), facts)
    assert caught.value.code == "unreachable"


async def test_a_real_sse_server_of_the_sdk(client):
    server = MCPServer("old")
    server.add_tool(lambda text: text, name="shout", description="Shout")
    with serving(server.sse_app()) as origin:
        target = Target(f"{origin}/sse")
        detection = await detect(client, target)
        assert detection.found.keys() == {Era.LEGACY}
        facts = detection.found[Era.LEGACY]
        assert facts.session.transport is Transport.HTTP_SSE
        first = await walk(client, target, facts)
        second = await walk(client, target, first.facts, fresh_connection=True)
    assert first.body_sha256 == second.body_sha256
    assert b'"name":"shout"' in first.tools[0]
