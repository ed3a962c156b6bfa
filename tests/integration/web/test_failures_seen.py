"""Each way a channel can fail, on every kind of channel: the alert is not lost, and what happened can be seen.

One alert goes to an incoming Slack webhook, a Slack app and a signed webhook; all three answer in the same wrong way.
What is left is looked up through the API and on the page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from browser.world import World as Names
from builders.world import World
from integration.web.conftest import ORIGIN, Visitor

from driftwatch.alerts import channel_actions, outbox
from driftwatch.alerts.actions import By
from driftwatch.alerts.channels.answer import Transport
from driftwatch.alerts.channels.slack.app import SlackApps
from driftwatch.alerts.channels.slack.session import SlackSession
from driftwatch.alerts.channels.slack.webhook import SlackWebhooks
from driftwatch.alerts.channels.webhook.transport import Webhooks
from driftwatch.app import Services
from driftwatch.testing.fake_slack import FakeSlack, serve
from driftwatch.web.app import create_app
from driftwatch.web.auth import tokens

KINDS = ("slack-webhook", "slack-app", "webhook")
SLACK = KINDS[:2]
Query = Callable[..., Awaitable[list[dict[str, Any]]]]


@dataclass
class Told:
    """What was left of one alert on each kind of channel."""

    fake: FakeSlack
    page: str
    channels: dict[str, dict[str, Any]]
    deliveries: dict[str, dict[str, Any]]
    logs: dict[str, str]

    def of(self, kind: str) -> tuple[str, str, str | None]:
        """The channel's state, the first delivery's state, and the error word of its last attempt."""
        delivery = self.deliveries[kind]
        return self.channels[kind]["state"], delivery["state"], delivery["attempts"][-1]["error"]


@asynccontextmanager
async def transports(services: Services, seconds: float) -> AsyncIterator[Mapping[str, Transport]]:
    """The real ones; nobody is waited for longer than these seconds."""
    slack = SlackSession(services.settings, timeout=seconds)
    yield {
        "slack-webhook": SlackWebhooks(slack),
        "slack-app": SlackApps(slack, services.settings.slack_api_url),
        "webhook": Webhooks(services.wire, timeout=seconds),
    }
    await slack.close()


@pytest.fixture
async def tell(services: Services) -> AsyncIterator[Callable[..., Awaitable[Told]]]:
    """Tell three channels of one alert while each of them fails once (or ``times``) in the given way."""
    fake = FakeSlack()
    async with serve(fake) as url:
        inbox = url.partition("/services/")[0]
        update = {"slack_api_url": f"{inbox}/api/", "slack_allow_hosts": ("127.0.0.1",)}
        settings = type(services.settings).model_validate({**services.settings.model_dump(), **update})
        found = replace(services, settings=settings)
        given = {
            "slack-webhook": {"url": url},
            "slack-app": {"token": "xoxb-fake", "conversation": "C0ALERTS"},
            "webhook": {"url": f"{inbox}/services/hook"},
        }

        async def run(*, kinds: tuple[str, ...] = KINDS, seconds: float = 60, times: int = 1, **answer: Any) -> Told:
            async with found.db.transaction() as session:
                for kind in kinds:
                    add = channel_actions.add
                    await add(
                        session, settings, found.secrets, By("mei"), name=f"the {kind}", kind=kind, given=given[kind]
                    )
            world = World(found)
            await world.change(await world.server())
            await world.raise_due()
            fake.answer_next(times=times * len(kinds), **answer)
            async with transports(found, seconds) as wires:
                await outbox.deliver_due(found, transports=wires)
            return await look(found, fake)

        yield run


async def look(services: Services, fake: FakeSlack) -> Told:
    async with services.db.transaction() as session:
        token = await tokens.issue_admin_token(session)
    transport = httpx2.ASGITransport(app=create_app(services))
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        api = {"authorization": f"Bearer {token}"}
        channels = {c["kind"]: c for c in (await client.get("/api/v1/channels", headers=api)).json()}
        visitor = Visitor(client, Names(services, datetime.now(UTC), token))
        await visitor.sign_in()
        deliveries, logs = {}, {}
        for kind, channel in channels.items():
            listed = await client.get(f"/api/v1/channels/{channel['id']}/deliveries", headers=api)
            deliveries[kind] = listed.json()["items"][-1]
            logs[kind] = await visitor.get(f"/settings/channels?log={channel['id']}")
        return Told(fake, await visitor.get("/settings/channels"), channels, deliveries, logs)


def wait(delivery: dict[str, Any]) -> float:
    """Seconds between the last attempt and the next."""
    last = datetime.fromisoformat(delivery["attempts"][-1]["at"])
    return (datetime.fromisoformat(delivery["next_try_at"]) - last).total_seconds()


async def test_a_rate_limit_with_a_fraction_of_a_second(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(status=429, body='{"ok": false, "error": "ratelimited"}', retry_after=900.5)
    for kind in KINDS:
        state, delivery, error = told.of(kind)
        assert (state, delivery, error) == ("enabled", "queued", "http-429" if kind == "webhook" else "ratelimited")
        assert 900.5 <= wait(told.deliveries[kind]) < 960, kind
        assert told.channels[kind]["paused_until"] is not None
        assert told.channels[kind]["waiting"] >= 1
        assert "next in 1" in told.logs[kind]
    assert told.page.count("asked us to wait until") == 3
    assert not told.fake.messages


async def test_a_server_error(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(status=503, body="upstream is away")
    for kind in KINDS:
        assert told.of(kind) == ("enabled", "queued", "http-503")
        assert told.channels[kind]["paused_until"] is None, "the next message may fare better"
        assert "HTTP 503" in told.logs[kind]
        assert "1 try" in told.logs[kind]


async def test_slack_says_that_it_is_not_ok(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(kinds=SLACK, body='{"ok": false, "error": "fatal_error"}')
    for kind in SLACK:
        assert told.of(kind) == ("enabled", "queued", "fatal_error")
        assert "fatal_error" in told.logs[kind]


async def test_blocks_that_slack_refuses(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(kinds=SLACK, body='{"ok": false, "error": "invalid_blocks"}')
    for kind in SLACK:
        assert told.of(kind) == ("enabled", "delivered", None)
        assert [a["error"] for a in told.deliveries[kind]["attempts"]] == ["invalid_blocks", None]
        assert told.deliveries[kind]["form"] == "minimal"
        assert "shortened" in told.logs[kind]
    shortened = [m for m in told.fake.messages if m.thread is None]
    assert ["blocks" in m.body for m in shortened] == [False, False]
    assert all("http" in str(m.body["text"]) for m in shortened), "the link is still there"


async def test_a_message_that_is_refused_even_when_short(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(kinds=SLACK[:1], times=2, status=400, body="msg_too_long")
    assert told.of("slack-webhook") == ("enabled", "dead", "msg_too_long")
    assert "Send again" in told.logs["slack-webhook"]


async def test_a_receiver_that_refuses_the_event(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(kinds=("webhook",), status=422, body="no such type")
    assert told.of("webhook") == ("enabled", "dead", "http-422")
    assert "no such type" in told.deliveries["webhook"]["attempts"][0]["body"]
    assert "Send again" in told.logs["webhook"]


async def test_a_socket_that_closes_in_the_middle_of_the_answer(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(cut=True)
    for kind in KINDS:
        state, delivery, error = told.of(kind)
        assert (state, delivery) == ("enabled", "queued")
        assert error in {"connection-closed", "unreachable"}, kind
        assert str(error) in told.logs[kind]


async def test_nobody_answers_in_time(tell: Callable[..., Awaitable[Told]]) -> None:
    told = await tell(delay=600, seconds=3)
    for kind in KINDS:
        assert told.of(kind) == ("enabled", "queued", "timeout")
        assert "timeout" in told.logs[kind]


async def test_a_redirect_to_an_internal_address_is_not_followed(
    tell: Callable[..., Awaitable[Told]], query: Query
) -> None:
    told = await tell(status=302, body="", headers={"location": "http://127.0.0.1/services/inside"})
    for kind in KINDS:
        assert told.of(kind) == ("disabled", "queued", "redirected")
        assert told.channels[kind]["disabled_reason"] == "redirected (HTTP 302)"
        assert f"the {kind} is out of service:" in told.page
    assert told.fake.posts == 3, "one request each, and none to where they pointed"
    rows = await query("SELECT object, after FROM audit_log WHERE action = 'channel.disabled' ORDER BY object")
    assert [row["object"] for row in rows] == [f"channel the {kind}" for kind in sorted(KINDS)]
    assert "127.0.0.1" not in str(rows)


@pytest.mark.parametrize(
    ("kind", "answer", "reason"),
    [
        ("slack-app", {"body": '{"ok": false, "error": "token_revoked"}'}, "token_revoked (HTTP 200)"),
        ("slack-webhook", {"status": 403, "body": "invalid_token"}, "invalid_token (HTTP 403)"),
        ("webhook", {"status": 410, "body": "moved away"}, "gone (HTTP 410)"),
    ],
)
async def test_access_that_was_revoked(
    tell: Callable[..., Awaitable[Told]], kind: str, answer: dict[str, Any], reason: str
) -> None:
    told = await tell(kinds=(kind,), **answer)
    assert told.channels[kind]["disabled_reason"] == reason
    assert told.deliveries[kind]["state"] == "queued", (
        "what waits stays, and goes out once somebody repairs the channel"
    )
    assert f"the {kind} is out of service:" in told.page
    assert "waiting; they go out once it is enabled" in told.page
    assert ">Enable<" in told.page
