"""Slack's incoming webhooks through slack-sdk, over one shared aiohttp session.

The guard of the wire room sits below httpcore2 and does not cover aiohttp, so it is set up again here: only Slack's
hosts (and those an operator listed), only vetted addresses, no redirects, no proxies from the environment.
"""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from slack_sdk.webhook.async_client import AsyncWebhookClient

from driftwatch.alerts.channels.answer import Answer, Form
from driftwatch.alerts.channels.slack import answers, blocks
from driftwatch.alerts.message import Message
from driftwatch.errors import InputError, WireError
from driftwatch.settings import Settings
from driftwatch.wire.addresses import AddressPolicy, host_key
from driftwatch.wire.guard import Resolver, system_resolver, vet
from driftwatch.wire.urls import checked_url

KIND: Final = "slack-webhook"
SLACK_HOSTS: Final = frozenset({"hooks.slack.com", "slack.com"})
#: seconds for one attempt, connection included; well below the outbox's lease
TIMEOUT: Final = 10.0
_LARGEST_ANSWER: Final = 64 * 1024

# slack-sdk logs URLs and bodies at debug level; a webhook's URL is its password
_MUTE: Final = logging.Logger("driftwatch.slack-sdk", level=logging.CRITICAL)


class SlackWebhooks:
    """The transport of every channel of kind ``slack-webhook``. ``resolve`` is for tests."""

    def __init__(self, settings: Settings, *, resolve: Resolver = system_resolver, timeout: float = TIMEOUT) -> None:
        self._extra_hosts = frozenset(host_key(h) for h in settings.slack_allow_hosts)
        self._policy = AddressPolicy(settings.slack_allow_hosts)
        self._resolver = _VettedResolver(self._policy, resolve)
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def send(self, config: bytes, message: Message, *, delivery_id: str, form: Form) -> Answer:
        """POST a message to the webhook URL in ``config``, once. Retries belong to the outbox."""
        url = config.decode()
        try:
            self.check(url)
        except InputError as error:
            return Answer("channel-permanent", error="blocked-host", body=error.message)
        client = AsyncWebhookClient(url, session=self._open(), retry_handlers=[], logger=_MUTE)
        client.proxy = None  # the constructor takes one from the environment
        try:
            response = await client.send_dict(blocks.render(message, delivery_id=delivery_id, form=form))
        except _RedirectedError as error:
            return answers.read(error.status, "", None)
        except (aiohttp.ClientError, TimeoutError, OSError, WireError, UnicodeError) as error:
            # the exception's own text may hold the URL
            return Answer("transient", error=_word(error))
        return answers.read(response.status_code, response.body, response.headers.get("Retry-After"))

    def check(self, url: str) -> None:
        """Raises InputError unless messages may go to this URL: Slack over TLS, or a listed host."""
        try:
            parsed = checked_url(url)
        except WireError as error:
            raise InputError(error.message, hint="Copy the webhook URL from Slack.") from None
        host = host_key(parsed.host)
        listed = host in self._extra_hosts
        if not listed and (host not in SLACK_HOSTS or parsed.scheme != "https"):
            raise InputError(
                "Slack messages go to https://hooks.slack.com only.",
                hint="List another receiver in DRIFTWATCH_SLACK_ALLOW_HOSTS.",
            )
        if _is_literal(host) and not self._policy.allows(host, host=host):
            raise InputError("Messages may not be sent to this address.")

    async def close(self) -> None:
        """Close the shared session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=self._resolver, use_dns_cache=False, limit=50),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                middlewares=(_plain_answers,),
            )
        return self._session


class _RedirectedError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"answered with a redirect ({status}), not followed")
        self.status = status


async def _plain_answers(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Refuses what a webhook never answers: slack-sdk follows redirects and reads bodies of any size."""
    response = await handler(request)
    if 300 <= response.status < 400:
        response.close()
        raise _RedirectedError(response.status)
    if (response.content_length or 0) > _LARGEST_ANSWER:
        response.close()
        raise aiohttp.ClientPayloadError("answer too large")
    return response


class _VettedResolver(AbstractResolver):
    """Resolution as aiohttp wants it: every address of a host vetted, or none given."""

    def __init__(self, policy: AddressPolicy, resolve: Resolver) -> None:
        self._policy = policy
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = await vet(host, port, self._policy, self._resolve)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _is_literal(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):
            socket.inet_pton(family, host)
            return True
    return False


def _word(error: BaseException) -> str:
    """A stable word for a failed attempt."""
    if isinstance(error, WireError):
        return error.code
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return "bad-certificate"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "unreachable"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | aiohttp.ClientOSError):
        return "connection-closed"
    return type(error).__name__
