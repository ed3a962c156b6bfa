"""The connection pools of the shared client: a small one per origin.

A poll must cost the same with 10 or 10 000 servers; httpcore's single pool probes every idle connection on every
request.
"""

from __future__ import annotations

import ssl
from collections import OrderedDict
from types import TracebackType
from typing import Self

import httpcore2
import httpx2

from driftwatch.wire.guard import GuardedBackend

MAX_IDLE_ORIGINS = 256
KEEPALIVE_SECONDS = 75.0
IDLE_PER_ORIGIN = 8

_Key = tuple[bytes, bytes, int | None]


class OriginPools:
    """Pools by origin, all behind one guard and one TLS context; the least recently used idle ones are closed."""

    def __init__(self, guard: GuardedBackend, tls: ssl.SSLContext, *, max_origins: int = MAX_IDLE_ORIGINS) -> None:
        self._guard = guard
        self._tls = tls
        self._max_origins = max_origins
        self._pools: OrderedDict[_Key, httpcore2.AsyncConnectionPool] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pools)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        """Send the request over its origin's pool."""
        return await (await self._pool_of(request.url)).handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.aclose()

    async def _pool_of(self, url: httpcore2.URL) -> httpcore2.AsyncConnectionPool:
        key = (url.scheme, url.host, url.port)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = httpcore2.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=None,
                max_keepalive_connections=IDLE_PER_ORIGIN,
                keepalive_expiry=KEEPALIVE_SECONDS,
                network_backend=self._guard,
            )
            await self._close_surplus(key)
        self._pools.move_to_end(key)
        return pool

    async def _close_surplus(self, keep: _Key) -> None:
        surplus = len(self._pools) - self._max_origins
        idle = [k for k, p in self._pools.items() if k != keep and all(c.is_idle() for c in p.connections)]
        for pool in [self._pools.pop(key) for key in idle[: max(surplus, 0)]]:
            await pool.aclose()


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx's transport over our pools instead of its own."""

    def __init__(self, pools: OriginPools) -> None:
        # Only the pool is httpx's state; everything else its constructor builds (a TLS context, proxies) is unwanted.
        self._pool = pools  # type: ignore[assignment]  # the part of a pool's interface that the transport uses
