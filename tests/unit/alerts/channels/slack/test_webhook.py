"""slack-sdk over the guarded session, against the fake and against sockets that misbehave. Loopback only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from driftwatch.alerts.channels.answer import Sending
from driftwatch.alerts.channels.slack.session import SlackSession
from driftwatch.alerts.channels.slack.webhook import SlackWebhooks
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.errors import InputError
from driftwatch.settings import Settings
from driftwatch.testing.fake_slack import FakeSlack, serve

MESSAGE = Message("title", "fallback", (Paragraph("text", "`a` changed"),), (Link("https://d.example/1", "Open"),))
SECRET = "https://hooks.slack.com/services/T0/B0/s3cret"


@asynccontextmanager
async def transport(
    *hosts: str, resolve: Callable[[str, int], Awaitable[list[str]]] | None = None, timeout: float = 5
) -> AsyncIterator[SlackWebhooks]:
    settings = Settings(slack_allow_hosts=hosts)
    slack = SlackWebhooks(SlackSession(settings, timeout=timeout, **({"resolve": resolve} if resolve else {})))
    yield slack
    await slack.close()


@asynccontextmanager
async def raw(answer: bytes) -> AsyncIterator[str]:
    """A server that reads a request, writes these bytes, and closes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/services/x"


async def test_a_message_arrives() -> None:
    fake = FakeSlack()
    async with serve(fake) as url, transport("127.0.0.1") as slack:
        answer = await slack.send(url.encode(), Sending(MESSAGE, "dlv_1", form="full"))
        assert (answer.outcome, answer.status, answer.body) == ("delivered", 200, "ok")
        again = await slack.send(url.encode(), Sending(MESSAGE, "dlv_1", form="minimal"))
        assert again.outcome == "delivered"
    assert [m.delivery_id for m in fake.messages] == ["dlv_1", "dlv_1"]
    assert ["blocks" in m.body for m in fake.messages] == [True, False]
    assert fake.messages[0].channel == "#test"


@pytest.mark.parametrize(
    ("behaviour", "outcome", "error", "kept"),
    [
        ({"status": 429, "body": "ratelimited", "retry_after": 1.5}, "transient", "ratelimited", 0),
        ({"status": 500, "body": "oops"}, "transient", "http-500", 0),
        ({"body": '{"ok": false, "error": "invalid_blocks"}'}, "message-permanent", "invalid_blocks", 0),
        ({"status": 404, "body": "no_service"}, "channel-permanent", "no_service", 0),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}, "channel-permanent", "redirected", 0),
        ({"delay": 600, "taken_after": 0}, "transient", "timeout", 1),
        ({"delay": 600}, "transient", "timeout", 0),
        ({"cut": True}, "transient", "connection-closed", 0),
        ({"cut": True, "keep": True}, "transient", "connection-closed", 1),
        ({"body": "x" * 100_000}, "transient", "connection-closed", 0),
    ],
)  # fmt: skip
async def test_answers_that_are_not_ok(behaviour: dict[str, object], outcome: str, error: str, kept: int) -> None:
    fake = FakeSlack()
    fake.answer_next(**behaviour)  # type: ignore[arg-type]  # one dict for differently typed arguments
    async with serve(fake) as url, transport("127.0.0.1", timeout=3.0 if "delay" in behaviour else 60.0) as slack:
        answer = await slack.send(url.encode(), Sending(MESSAGE, "d", form="full"))
    assert (answer.outcome, answer.error) == (outcome, error)
    assert answer.retry_after == behaviour.get("retry_after")
    assert (fake.posts, len(fake.messages)) == (1, kept)


@pytest.mark.parametrize("answer", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nok"])
async def test_sockets_that_close(answer: bytes) -> None:
    async with raw(answer) as url, transport("127.0.0.1") as slack:
        read = await slack.send(url.encode(), Sending(MESSAGE, "d", form="full"))
    assert read.outcome == "transient"
    assert read.error


async def test_nobody_listens() -> None:
    async with transport("127.0.0.1") as slack:
        answer = await slack.send(b"http://127.0.0.1:1024/services/x", Sending(MESSAGE, "d", form="full"))
    assert (answer.outcome, answer.error) == ("transient", "unreachable")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.slack.com/services/x",
        "https://hooks.slack.com.evil.example/services/x",
        "https://evil.example/services/x",
        "https://hooks.slack.com@evil.example/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://2130706433/x",
        "https://169.254.169.254/latest",
        "ftp://hooks.slack.com/x",
        "file:///etc/passwd",
        "not a url",
    ],
)
async def test_messages_go_to_slack_only(url: str) -> None:
    async with transport() as slack:
        with pytest.raises(InputError):
            slack._session.check(url)
        answer = await slack.send(url.encode(), Sending(MESSAGE, "d", form="full"))
    assert (answer.outcome, answer.error) == ("channel-permanent", "blocked-host")


async def test_slack_itself_and_listed_hosts_are_fine() -> None:
    async with transport("Chat.Example") as slack:
        slack._session.check(SECRET)
        slack._session.check("http://chat.example:8065/hooks/x")


async def test_metadata_stays_closed_even_when_listed() -> None:
    async with transport("169.254.169.254") as slack:
        with pytest.raises(InputError):
            slack._session.check("http://169.254.169.254/latest")


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.7"], ["3.4.5.6", "169.254.169.254"], ["::ffff:127.0.0.1"]]
)
async def test_slacks_name_that_leads_inside_is_not_followed(addresses: list[str]) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        assert host == "hooks.slack.com"
        return addresses

    async with transport(resolve=resolve) as slack:
        answer = await slack.send(SECRET.encode(), Sending(MESSAGE, "d", form="full"))
    assert (answer.outcome, answer.error) == ("transient", "blocked-address")


async def test_a_proxy_from_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeSlack()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with serve(fake) as url, transport("127.0.0.1") as slack:
        assert (await slack.send(url.encode(), Sending(MESSAGE, "d", form="full"))).outcome == "delivered"


async def test_the_webhooks_url_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    fake = FakeSlack()
    with caplog.at_level(logging.DEBUG):
        async with serve(fake) as url, transport("127.0.0.1") as slack:
            secret = url.replace("/test", "/s3cret")
            await slack.send(secret.encode(), Sending(MESSAGE, "d", form="full"))
            failed = await slack.send(b"http://127.0.0.1:1024/s3cret", Sending(MESSAGE, "d", form="full"))
    assert "s3cret" not in caplog.text
    assert "s3cret" not in str(failed)
