"""One aiohttp session for everything that goes to Slack, guarded.

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

from driftwatch.alerts.channels.answer import Answer
from driftwatch.alerts.channels.slack import answers
from driftwatch.errors import InputError, WireError
from driftwatch.settings import Settings
from driftwatch.wire.addresses import AddressPolicy, host_key
from driftwatch.wire.guard import Resolver, system_resolver, vet
from driftwatch.wire.urls import checked_url

SLACK_HOSTS: Final = frozenset({"hooks.slack.com", "slack.com"})
#: seconds for one attempt, connection included; well below the outbox's lease
TIMEOUT: Final = 10.0
_LARGEST_ANSWER: Final = 64 * 1024

#: what a request through the session may raise; the exceptions' own texts may hold a URL, and a URL is a password
FAILURES: Final = (aiohttp.ClientError, TimeoutError, OSError, WireError, UnicodeError)

# slack-sdk logs URLs and bodies at debug level; a webhook's URL is its password
MUTE: Final = logging.Logger("driftwatch.slack-sdk", level=logging.CRITICAL)


class SlackSession:
    """The session, and which URLs may be asked. ``resolve`` is for tests."""

    def __init__(self, settings: Settings, *, resolve: Resolver = system_resolver, timeout: float = TIMEOUT) -> None:
        self._extra_hosts = frozenset(host_key(h) for h in settings.slack_allow_hosts)
        self._policy = AddressPolicy(settings.slack_allow_hosts)
        self._resolver = _VettedResolver(self._policy, resolve)
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

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

    def open(self) -> aiohttp.ClientSession:
        """The shared session."""
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


class RedirectedError(Exception):
    """An answer was a redirect; it is not followed."""

    def __init__(self, status: int) -> None:
        super().__init__(f"answered with a redirect ({status}), not followed")
        self.status = status


async def _plain_answers(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Refuses what a webhook never answers: slack-sdk follows redirects and reads bodies of any size."""
    response = await handler(request)
    if 300 <= response.status < 400:
        response.close()
        raise RedirectedError(response.status)
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


def failed(error: BaseException) -> Answer:
    """The answer that stands for a request without one."""
    if isinstance(error, RedirectedError):
        return answers.read(error.status, "", None)
    return Answer("transient", error=_word(error))


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
