"""Change streams: what a hostile server may answer, and what real SDKs do."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import aclosing
from datetime import timedelta

import pytest
from integration.wire.hostile import MODERN, event, serving, sse
from mcp.server import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from starlette.responses import Response

from driftwatch.errors import WireError
from driftwatch.wire import streams
from driftwatch.wire.eras import detect
from driftwatch.wire.errors import BadResultError, PollTimeoutError, RpcError, ServerError, UnauthorizedError
from driftwatch.wire.facts import Era, EraFacts, Session, Target, Transport
from driftwatch.wire.stream_events import Acknowledged, Ended, Heard, Limited, Notified, Undeliverable
from driftwatch.wire.streams import listen

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
MODERN_FACTS = EraFacts(Era.MODERN, MODERN, None, {})
LEGACY_FACTS = EraFacts(Era.LEGACY, "2025-11-25", None, {}, session=Session("s1", "2025-11-25"))


def ack(**honoured):
    params = {"notifications": honoured}
    return event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})


async def heard(client, target, facts, *, limit=50):
    """Events until the stream ends, without their times."""
    found = []
    async with aclosing(listen(client, target, facts)) as events:
        async for one in events:
            found.append(one)
            if len(found) >= limit:
                break
    return found


def kinds(found):
    return [type(one).__name__ for one in found]


def play(hostile, handler):
    return Target(hostile.play(handler).url)


async def test_an_acknowledged_subscription_tells_keep_alives_and_changes_apart(client, hostile):
    done = event({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}})
    frames = [ack(toolsListChanged=True), 0.02, b": ping\r\n\r\n", 0.02, event(CHANGED), 0.02, done]
    played = hostile.play(lambda call: sse(*frames))
    found = await heard(client, Target(played.url), MODERN_FACTS)
    assert kinds(found) == ["Acknowledged", "Heard", "Heard", "Notified", "Heard", "Ended"]
    assert (found[-1].by, found[-1].why, found[-1].properly) == ("server", "finished", True)
    asked = played.calls[-1]
    assert asked.headers["mcp-method"] == "subscriptions/listen"
    assert asked.params["notifications"] == {"toolsListChanged": True}
    assert asked.params["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN


async def test_what_comes_with_or_before_the_acknowledgement_counts(client, hostile):
    both = [event(CHANGED) + ack(toolsListChanged=True) + event(CHANGED)]
    found = await heard(client, play(hostile, lambda call: sse(*both)), MODERN_FACTS)
    assert kinds(found) == ["Acknowledged", "Notified", "Notified", "Ended"]


async def test_a_ping_of_the_server_with_our_id_does_not_end_the_stream(client, hostile):
    ping = event({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    frames = [ack(toolsListChanged=True), 0.02, ping, 0.02, event(CHANGED)]
    found = await heard(client, play(hostile, lambda call: sse(*frames)), MODERN_FACTS)
    assert "Notified" in kinds(found)
    assert found[-1] == Ended(found[-1].at, "server", "closed")


async def test_frames_that_nobody_can_read_prove_only_that_the_stream_lives(client, hostile):
    frames = [ack(toolsListChanged=True), 0.02, b"data: {nonsense\n\n", 0.02, b'data: "x"\n\n', 0.02, event(CHANGED)]
    found = await heard(client, play(hostile, lambda call: sse(*frames)), MODERN_FACTS)
    assert kinds(found) == ["Acknowledged", "Heard", "Heard", "Heard", "Notified", "Ended"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda call: sse(*[ack()]), Undeliverable(None, "ack-omits-tools")),
        (lambda call: sse(*[ack(toolsListChanged=False)]), Undeliverable(None, "ack-omits-tools")),
        (lambda call: sse(*[ack(toolsListChanged=1)]), Undeliverable(None, "ack-omits-tools")),
        (lambda call: call.error(-32601, status=404), Undeliverable(None, "listen-404")),
        (lambda call: call.error(-32601), Undeliverable(None, "listen-404")),
        (lambda call: Response(status_code=404), Undeliverable(None, "listen-404")),
        (lambda call: Response(status_code=405), Undeliverable(None, "listen-404")),
        (lambda call: call.error(-32603, "Subscription limit reached"), Limited(None)),
        (lambda call: call.error(-32603, "Subscription limit reached", status=500), Limited(None)),
        (lambda call: sse(*[event({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}})]), Limited(None)),
    ],
)
async def test_what_cannot_be_subscribed_to(client, hostile, answer, expected):
    (found,) = await heard(client, play(hostile, answer), MODERN_FACTS)
    assert type(found) is type(expected)
    assert getattr(found, "reason", None) == getattr(expected, "reason", None)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda call: Response(status_code=401), UnauthorizedError),
        (lambda call: Response(status_code=503), ServerError),
        (lambda call: call.error(-32603, status=503), ServerError),
        (lambda call: call.error(-32602), RpcError),
        (lambda call: call.ok({}), BadResultError),
        (lambda call: sse(*[b": ping\n\n"]), BadResultError),
        (lambda call: sse(*[event({"jsonrpc": "2.0", "method": "notifications/message"})]), BadResultError),
    ],
)
async def test_what_says_nothing_about_abilities_is_an_error(client, hostile, answer, error):
    with pytest.raises(error):
        await heard(client, play(hostile, answer), MODERN_FACTS)


@pytest.mark.parametrize("facts", [MODERN_FACTS, LEGACY_FACTS], ids=["modern", "legacy"])
async def test_an_acknowledgement_is_not_waited_for_for_ever(client, hostile, monkeypatch, facts):
    monkeypatch.setattr(streams, "ACK_SECONDS", 0.2)

    async def never(call):
        await asyncio.sleep(3)
        return Response(status_code=200)

    with pytest.raises(PollTimeoutError):
        await heard(client, play(hostile, never), facts)


async def test_a_stream_that_says_too_much_is_ended_by_us(settings, clock, hostile):
    from driftwatch.wire.client import WireClient

    flood = [ack(toolsListChanged=True), 0.02, *[b":" + b"x" * 4000 + b"\n\n"] * 30]
    small = settings.model_copy(update={"max_body_bytes": 50_000})
    async with WireClient(small, clock) as client:
        found = await heard(client, play(hostile, lambda call: sse(*flood)), MODERN_FACTS)
    assert (found[-1].by, found[-1].why, found[-1].properly) == ("us", "too-large", False)


async def test_a_legacy_stream_is_the_get_of_the_kept_session(client, hostile):
    frames = [b": hello\n\n", 0.02, event(CHANGED)]
    played = hostile.play(lambda call: sse(*frames))
    found = await heard(client, Target(played.url, {"authorization": "Bearer s"}), LEGACY_FACTS)
    assert kinds(found) == ["Acknowledged", "Heard", "Heard", "Notified", "Ended"]
    asked = played.calls[-1]
    assert (asked.http, asked.headers["mcp-session-id"], asked.headers["accept"]) == ("GET", "s1", "text/event-stream")
    assert asked.headers["authorization"] == "Bearer s"


@pytest.mark.parametrize("session", [None, Session(None, "2025-11-25")])
@pytest.mark.parametrize(("status", "reason"), [(200, "no-session"), (404, "no-session"), (405, "get-405")])
async def test_without_a_session_id_nothing_can_arrive(client, hostile, session, status, reason):
    facts = EraFacts(Era.LEGACY, "2025-11-25", None, {}, session=session)
    (found,) = await heard(client, play(hostile, lambda call: sse(status=status)), facts)
    assert found.reason == reason


async def test_without_a_session_id_an_outage_is_still_no_verdict(client, hostile):
    facts = EraFacts(Era.LEGACY, "2025-11-25", None, {}, session=Session(None, "2025-11-25"))
    with pytest.raises(ServerError):
        await heard(client, play(hostile, lambda call: Response(status_code=502)), facts)


async def test_a_get_that_is_refused(client, hostile):
    (found,) = await heard(client, play(hostile, lambda call: Response(status_code=405)), LEGACY_FACTS)
    assert found == Undeliverable(found.at, "get-405")


@pytest.mark.parametrize("status", [400, 404, 409, 500, 503])
async def test_a_get_that_fails_is_no_verdict(client, hostile, status):
    with pytest.raises(WireError) as raised:
        await heard(client, play(hostile, lambda call: Response(status_code=status)), LEGACY_FACTS)
    assert raised.value.status == status


@contextlib.asynccontextmanager
async def sdk(**options):
    bus = InMemorySubscriptionBus()
    server = MCPServer("weather", subscriptions=bus if options.pop("subscriptions", True) else False)
    with serving(server.streamable_http_app(**options)) as origin:
        yield bus, Target(f"{origin}/mcp")


async def test_the_mcp_sdk_tells_of_a_published_change(client):
    async with sdk() as (bus, target):
        modern = (await detect(client, target)).found[Era.MODERN]
        assert modern.list_changed_declared
        async with aclosing(listen(client, target, modern)) as events:
            assert isinstance(await anext(events), Acknowledged)
            await bus.publish(ToolsListChanged())
            assert isinstance(await anext(events), Heard)
            assert isinstance(await anext(events), Notified)


async def test_the_mcp_sdk_without_subscriptions_cannot(client):
    async with sdk(subscriptions=False) as (_, target):
        modern = (await detect(client, target)).found[Era.MODERN]
        assert not modern.list_changed_declared
        (found,) = await heard(client, target, modern)
        assert found.reason == "listen-404"


async def test_the_mcp_sdks_limit_is_known(client):
    from mcp.server.subscriptions import ListenHandler

    async with contextlib.AsyncExitStack() as stack:
        bus = InMemorySubscriptionBus()
        server = MCPServer("weather", subscriptions=bus)
        handler = ListenHandler(bus, max_subscriptions=1)
        entry = server._lowlevel_server._request_handlers["subscriptions/listen"]
        server._lowlevel_server._request_handlers["subscriptions/listen"] = type(entry)(entry.params_type, handler)
        target = Target(stack.enter_context(serving(server.streamable_http_app())) + "/mcp")
        first = await stack.enter_async_context(aclosing(listen(client, target, MODERN_FACTS)))
        assert isinstance(await anext(first), Acknowledged)
        (second,) = await heard(client, target, MODERN_FACTS)
        assert isinstance(second, Limited)


async def test_the_mcp_sdks_legacy_get_is_held_on_the_kept_session(client):
    async with sdk() as (_, target):
        legacy = (await detect(client, target)).found[Era.LEGACY]
        async with aclosing(listen(client, target, legacy)) as events:
            assert isinstance(await anext(events), Acknowledged)
            with pytest.raises(WireError) as second:
                await heard(client, target, legacy)
            assert second.value.status == 409


async def test_the_oldest_transport_is_held_on_a_stream_of_its_own(client):
    server = MCPServer("weather")
    with serving(server.sse_app()) as origin:
        target = Target(f"{origin}/sse")
        legacy = (await detect(client, target)).found[Era.LEGACY]
        assert legacy.session.transport is Transport.HTTP_SSE
        async with aclosing(listen(client, target, legacy)) as events:
            acknowledged = await anext(events)
            assert isinstance(acknowledged, Acknowledged)
            assert acknowledged.noise_until - acknowledged.at == timedelta(seconds=5)


async def test_a_broken_stream_does_not_end_properly(client):
    async def cut(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        frame = ack(toolsListChanged=True)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%s\r\n" % (len(frame), frame))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    server = await asyncio.start_server(cut, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        found = await heard(client, Target(f"http://127.0.0.1:{port}/mcp"), MODERN_FACTS)
    assert kinds(found) == ["Acknowledged", "Ended"]
    assert (found[-1].by, found[-1].why, found[-1].properly) == ("server", "broken", False)
