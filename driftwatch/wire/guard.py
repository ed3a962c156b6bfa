"""Every connection driftwatch opens to a server goes through here: resolve, vet ALL answers, connect to a vetted one.

TLS still verifies the host name of the URL, so a name that is rebound between two look-ups gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpcore2

from driftwatch.safe_text import safe_text
from driftwatch.wire.addresses import AddressPolicy, allowed
from driftwatch.wire.errors import BlockedAddressError, RefusedError, UnreachableError
from driftwatch.wire.urls import checked_url

__all__ = ["AddressPolicy", "GuardedBackend", "Resolver", "allowed", "checked_url", "system_resolver", "vet"]

# With more than one vetted address, one that swallows packets must not eat the whole deadline.
_CONNECT_SECONDS = 4.0

Resolver = Callable[[str, int], Awaitable[Iterable[str]]]
"""Answers all addresses of a host, as text; raises OSError when there is none."""


# Not asyncio's own few threads: a handful of names that hang would keep every other server from being looked up.
_LOOKUPS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="driftwatch-dns")


async def system_resolver(host: str, port: int) -> list[str]:
    """Addresses as the operating system resolves them, in its order of preference."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    infos = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, look_up)
    return [str(info[4][0]) for info in infos]


async def vet(host: str, port: int, policy: AddressPolicy, resolve: Resolver = system_resolver) -> tuple[str, ...]:
    """The addresses of ``host`` that may be connected to, for any client that can pin them (aiohttp as well).

    Raises BlockedAddressError when even one answer is not allowed, UnreachableError when there is no answer.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        addresses = await _resolved(host, port, resolve)
    else:
        addresses = (host,)
    for address in addresses:
        if not policy.allows(address, host=host):
            where = "" if address == host else f" resolves to {_shown(address)}, which"
            raise BlockedAddressError(f"{_shown(host)}{where} is not a public address.")
    return addresses


async def _resolved(host: str, port: int, resolve: Resolver) -> tuple[str, ...]:
    try:
        addresses = tuple(dict.fromkeys(await resolve(host, port)))
    except (OSError, UnicodeError):
        raise UnreachableError(f"The name {_shown(host)} does not resolve.") from None
    if not addresses:
        raise UnreachableError(f"The name {_shown(host)} has no address.")
    return addresses


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """httpcore's network, behind the policy. Unix sockets do not exist here."""

    def __init__(self, policy: AddressPolicy, resolve: Resolver = system_resolver) -> None:
        self._policy = policy
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to a vetted address of ``host``; TLS on top keeps using the name."""
        addresses = await vet(host, port, self._policy, self._resolve)
        for address in addresses[:-1]:
            try:
                return await self._connect(address, port, timeout or _CONNECT_SECONDS, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        try:
            return await self._connect(addresses[-1], port, timeout, local_address, socket_options)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise connect_failure(error, host, port) from error

    async def _connect(
        self, address: str, port: int, seconds: float | None, local_address: str | None, options: Iterable[Any] | None
    ) -> httpcore2.AsyncNetworkStream:
        return await self._network.connect_tcp(
            address, port, timeout=seconds, local_address=local_address, socket_options=options
        )

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refused: no watched server is reached through a file."""
        raise BlockedAddressError("Unix sockets may not be watched.")

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore does between its own retries."""
        await asyncio.sleep(seconds)


def connect_failure(error: BaseException, host: str, port: int) -> UnreachableError:
    """RefusedError when somebody actively said no, else UnreachableError."""
    where = f"{_shown(host)}:{port}"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes(error)):
        return RefusedError(f"{where} refuses connections.", restart_kind="refused")
    return UnreachableError(f"{where} cannot be reached.")


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and everything that led to it, members of exception groups included."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        current = todo.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        todo += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            todo += current.exceptions


def _shown(text: str) -> str:
    return safe_text(text, keep_newlines=False)[:200]
