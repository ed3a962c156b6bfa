"""The one HTTP client of a process: shared, guarded, capped. It knows HTTP's dangers and nothing of MCP."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Final, Protocol, Self

import httpcore2
import httpx2

from driftwatch.settings import Settings
from driftwatch.wire.addresses import AddressPolicy
from driftwatch.wire.errors import (
    BadTargetError,
    CompressedError,
    PollTimeoutError,
    RedirectedError,
    TlsError,
    TooLargeError,
    UnreachableError,
)
from driftwatch.wire.guard import GuardedBackend, Resolver, causes, system_resolver
from driftwatch.wire.pools import GuardedTransport, OriginPools
from driftwatch.wire.urls import checked_url, redirect_target, shown_origin

MAX_REDIRECTS: Final = 3
_LEAST_MEAN_PIECE: Final = 64
# No time-outs per operation: a dripping server never trips them. The caller's deadline is the only one.
_NO_TIMEOUTS: Final = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"))}


class Clock(Protocol):
    """The database's clock, as the wire sees it."""

    def now(self) -> datetime:
        """The current time, timezone-aware."""


class Budget:
    """The bytes one poll may still read, over all its pages."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._pieces = 0

    def take(self, count: int) -> None:
        """Count one received piece. Raises TooLargeError over the limit, and for crumbs, which cost more than bytes."""
        self.used += count
        self._pieces += 1
        if self.used > self.limit:
            raise TooLargeError(f"The answer has more than {self.limit} bytes.")
        if self._pieces > self.limit // _LEAST_MEAN_PIECE:
            raise TooLargeError(f"The answer comes in more than {self._pieces - 1} pieces.")


class WireClient:
    """An async context manager around one httpx transport: guarded connections, no proxies, no cookies, no decoding.

    ``resolve`` and ``tls`` replace the system's resolver and trust store, for tests and private authorities.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        resolve: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.policy = AddressPolicy(settings.allow_networks)
        self._resolve = resolve
        self._tls = tls or httpcore2.default_ssl_context()
        self._pools = OriginPools(GuardedBackend(self.policy, resolve), self._tls)
        # A transport alone knows no cookies, which would carry one profile's identity into another's poll, no proxies
        # and no redirects; and it logs no URLs, which may hold secrets.
        self._transport = GuardedTransport(self._pools)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pools.aclose()

    def fresh(self) -> WireClient:
        """A client of the same policy without any open connection: what it requests travels on new ones."""
        return WireClient(self.settings, self.clock, resolve=self._resolve, tls=self._tls)

    def budget(self) -> Budget:
        """The byte cap of one poll."""
        return Budget(self.settings.max_body_bytes)

    @asynccontextmanager
    async def deadline(self, seconds: float | None = None) -> AsyncIterator[None]:
        """All of one poll. Raises PollTimeoutError after ``seconds`` (default: the setting)."""
        limit = self.settings.poll_timeout_seconds if seconds is None else seconds
        try:
            async with asyncio.timeout(limit) as timer:
                yield
        except TimeoutError:
            if not timer.expired():
                raise
            raise PollTimeoutError(f"No complete answer within {limit:g} s.") from None

    @asynccontextmanager
    async def open(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """One response, its body still unread, after at most three same-origin 307 or 308.

        Raises BadTargetError, BlockedAddressError, UnreachableError (RefusedError, TlsError), RedirectedError,
        CompressedError; the same while the body is read inside.
        """
        address = checked_url(url)
        try:
            response = await self._follow(method, address, headers, content)
            try:
                refuse_compression(response)
                yield response
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise unreachable(error, address) from error

    async def _follow(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes | None
    ) -> httpx2.Response:
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send(method, url, headers, content)
            if not 300 <= response.status_code < 400:
                return response
            await response.aclose()
            url = redirect_target(url, response.status_code, response.headers.get("location"))
        raise RedirectedError("The server redirects in circles.", status=response.status_code)

    async def _send(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes | None
    ) -> httpx2.Response:
        """Send once; once more when a kept connection turned out to be dead before an answer began."""
        try:
            return await self.send(request(method, url, headers, content))
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return await self.send(request(method, url, headers, content))

    async def send(self, sent: httpx2.Request) -> httpx2.Response:
        """Send this very request once; close the response, whose body is still unread."""
        response = await self._transport.handle_async_request(sent)
        response.request = sent
        return response


async def read_body(response: httpx2.Response, budget: Budget) -> bytes:
    """The whole body, counted against the budget while it streams. Raises TooLargeError."""
    declared = response.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > budget.limit - budget.used:
        raise TooLargeError(f"The answer announces more than {budget.limit} bytes.")
    chunks = []
    async for chunk in response.aiter_raw():
        budget.take(len(chunk))
        chunks.append(chunk)
    return b"".join(chunks)


def request(method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes | None) -> httpx2.Request:
    """A request as it is sent, without a client's defaults. Raises BadTargetError for a header that cannot be sent."""
    # Not AsyncClient.build_request: it would merge the client's cookies and default headers.
    try:
        return httpx2.Request(method, url, headers=headers, content=content, extensions=dict(_NO_TIMEOUTS))
    except (UnicodeError, ValueError):
        raise BadTargetError("A header of the registration is not plain ASCII.") from None


def refuse_compression(response: httpx2.Response) -> None:
    """Raises CompressedError: compressed bytes could be a bomb."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise CompressedError("The answer is compressed although identity was asked for.", status=response.status_code)


def unreachable(error: httpx2.HTTPError, url: httpx2.URL) -> UnreachableError | BadTargetError:
    """What a failed exchange is called, without anything of the URL but its origin."""
    where = shown_origin(url)
    if isinstance(error, httpx2.LocalProtocolError):
        return BadTargetError(f"The request to {where} cannot be sent: a header is malformed.")
    failed = next((cause for cause in causes(error) if isinstance(cause, ssl.SSLError)), None)
    if failed is not None:
        return TlsError(f"TLS with {where} failed: {getattr(failed, 'verify_message', None) or failed.reason}.")
    return UnreachableError(f"The connection to {where} broke.")
