"""Signed events over the guarded wire, against receivers that behave in every way. Loopback only."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from driftwatch.alerts.channels import config as configs
from driftwatch.alerts.channels.answer import Answer, Sending
from driftwatch.alerts.channels.config import HookConfig
from driftwatch.alerts.channels.webhook.transport import Webhooks
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.errors import InputError
from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient

SECRET = configs.new_secret()
MESSAGE = Message("title", "title", (Paragraph("text", "\ud800 changed"),), (Link("https://d.example/1", "Open"),))


@dataclass
class Receiver:
    """Answers with these bytes and keeps what came."""

    answer: bytes = b"HTTP/1.1 204 No Content\r\n\r\n"
    url: str = ""
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        raw = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests.append(({k.lower(): v for k, v in raw.items()}, body))
        writer.write(self.answer)
        with suppress(ConnectionError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        self.done.set()


@asynccontextmanager
async def receiver(answer: bytes | None = None) -> AsyncIterator[Receiver]:
    found = Receiver() if answer is None else Receiver(answer)
    async with await asyncio.start_server(found.handle, "127.0.0.1", 0) as server:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        yield found
        async with asyncio.timeout(60):
            await found.done.wait()


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def send(hook: HookConfig, *, allow: tuple[str, ...] = ("127.0.0.0/8",), timeout: float = 5) -> Answer:
    async with WireClient(Settings(allow_networks=allow), Clock()) as wire:
        sending = Sending(MESSAGE, "dlv_7", event="drift.opened", data={"x": 1})
        return await Webhooks(wire, timeout=timeout).send(msgspec.json.encode(hook), sending)


async def test_the_receiver_can_verify_it() -> None:
    async with receiver() as found:
        answer = await send(HookConfig(found.url, SECRET))
    assert (answer.outcome, answer.status) == ("delivered", 204)
    ((headers, body),) = found.requests
    verified = Webhook(SECRET).verify(body, headers)
    assert (verified["type"], verified["version"], verified["data"]) == ("drift.opened", 1, {"x": 1})
    assert headers["webhook-id"] == "dlv_7"
    with pytest.raises(WebhookVerificationError):
        Webhook(configs.new_secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body + b" ", headers)


async def test_during_a_rotation_both_secrets_verify_and_afterwards_one() -> None:
    old = msgspec.json.encode(HookConfig("", SECRET))
    for until, both in ((timedelta(hours=1), True), (timedelta(hours=-1), False)):
        async with receiver() as found:
            rotated = msgspec.json.decode(configs.rotated(old, until=datetime.now(UTC) + until), type=HookConfig)
            await send(HookConfig(found.url, rotated.secret, rotated.previous, rotated.previous_until))
        ((headers, body),) = found.requests
        Webhook(rotated.secret).verify(body, headers)
        if both:
            Webhook(SECRET).verify(body, headers)
        else:
            with pytest.raises(WebhookVerificationError):
                Webhook(SECRET).verify(body, headers)


def http(status: str, *headers: str, body: str = "") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", body]).encode()


@pytest.mark.parametrize(
    ("answer", "outcome", "error", "retry_after"),
    [
        (http("200 OK", body="thanks"), "delivered", None, None),
        (http("429 Slow", "retry-after: 1.5"), "transient", "http-429", 1.5),
        (http("503 Busy"), "transient", "http-503", None),
        (http("400 Bad"), "message-permanent", "http-400", None),
        (http("401 Who"), "message-permanent", "http-401", None),
        (http("410 Gone"), "channel-permanent", "gone", None),
        (http("307 Over there", "location: http://169.254.169.254/"), "channel-permanent", "redirected", None),
        (b"", "transient", "unreachable", None),
    ],
)
async def test_answers(answer: bytes, outcome: str, error: str | None, retry_after: float | None) -> None:
    async with receiver(answer) as found:
        read = await send(HookConfig(found.url, SECRET))
    assert (read.outcome, read.error, read.retry_after) == (outcome, error, retry_after)
    assert len(found.requests) == 1, "sent once: retries belong to the outbox, redirects are not followed"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest",
        "http://[::ffff:127.0.0.1]:1/",
        "http://[64:ff9b::7f00:1]/",
        "http://2130706433/",
        "http://localhost:1/",
    ],
)
async def test_internal_addresses_are_not_asked(url: str) -> None:
    answer = await send(HookConfig(url, SECRET), allow=())
    assert answer.outcome == "channel-permanent"
    assert answer.error in {"blocked-address", "bad-target"}


async def test_a_slow_receiver_is_tried_again_later() -> None:
    gone = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1000):
            pass  # until the sender hangs up
        writer.close()
        await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(never, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        answer = await send(HookConfig(url, SECRET), timeout=0.2)
        async with asyncio.timeout(60):
            await gone.wait()
    assert (answer.outcome, answer.error) == ("transient", "timeout")


async def test_a_huge_answer_is_cut() -> None:
    async with receiver(http("200 OK", body="x" * 1_000_000)) as found:
        answer = await send(HookConfig(found.url, SECRET))
    assert answer.outcome == "delivered"
    assert len(answer.body or "") <= 64 * 1024


def test_text_of_servers_is_sent_as_what_any_receiver_can_read() -> None:
    from driftwatch.alerts.events import body_of

    body = json.dumps(body_of(Sending(MESSAGE, "d", event="test"), datetime.now(UTC)))
    assert "\\ud800" not in body
    assert "u{D800}" in body.upper().replace("U{", "u{")


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("webhook", {}),
        ("webhook", {"url": "https://x.example", "secret": "whsec_" + base64.b64encode(b"short").decode()}),
        ("webhook", {"url": "https://x.example", "secret": "whsec_!!"}),
        ("slack-app", {"token": "xoxp-1", "conversation": "C012"}),
        ("slack-app", {"token": "xoxb-1", "conversation": "#alerts"}),
        ("slack-webhook", {"url": " "}),
        ("pager", {"url": "https://x.example"}),
    ],
)
def test_configurations_that_cannot_work_are_refused(kind: str, given: dict[str, str]) -> None:
    with pytest.raises(InputError):
        configs.read(kind, given)
