"""Sends signed events through the wire's guard: vetted addresses only, no redirects, no proxies, a capped answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec
from standardwebhooks import Webhook

import driftwatch
from driftwatch.alerts.channels.answer import Answer, Sending
from driftwatch.alerts.channels.config import HookConfig
from driftwatch.alerts.channels.webhook import answers
from driftwatch.alerts.events import body_of
from driftwatch.errors import WireError
from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import BlockedAddressError, TlsError
from driftwatch.wire.once import post_once

#: seconds for one attempt, connection included; well below the outbox's lease
TIMEOUT: Final = 15.0
_LARGEST_ANSWER: Final = 64 * 1024


class Webhooks:
    """The transport of every channel of kind ``webhook``."""

    def __init__(self, wire: WireClient, *, timeout: float = TIMEOUT) -> None:
        self._wire = wire
        self._timeout = timeout

    async def send(self, config: bytes, sending: Sending) -> Answer:
        """POST the event once. Retries belong to the outbox."""
        hook = msgspec.json.decode(config, type=HookConfig)
        now = datetime.now(UTC)
        body = json.dumps(body_of(sending, now), separators=(",", ":"))
        headers = signed(hook, sending.delivery_id, now, body)
        try:
            async with asyncio.timeout(self._timeout):
                status, text, received = await post_once(
                    self._wire, hook.url, headers, body.encode(), limit=_LARGEST_ANSWER
                )
        except TimeoutError:
            return Answer("transient", error="timeout")
        except BlockedAddressError as error:
            return Answer("channel-permanent", error=error.code, body=error.message)
        except WireError as error:
            permanent = error.permanent and not isinstance(error, TlsError)
            return Answer("channel-permanent" if permanent else "transient", error=error.code, status=error.status)
        return answers.read(status, text, received.get("retry-after"))

    async def close(self) -> None:
        """The wire's client belongs to whoever opened it."""


def signed(hook: HookConfig, delivery_id: str, now: datetime, body: str) -> Mapping[str, str]:
    """The headers of Standard Webhooks: one signature, two while a rotation is under way."""
    keys = [hook.secret]
    if hook.previous is not None and hook.previous_until is not None and now < hook.previous_until:
        keys.append(hook.previous)
    return {
        "content-type": "application/json",
        "accept": "*/*",
        "accept-encoding": "identity",
        "user-agent": f"driftwatch/{driftwatch.__version__}",
        "webhook-id": delivery_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(key).sign(delivery_id, now, body) for key in keys),
    }
