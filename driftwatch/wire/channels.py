"""One way to ask a server, whatever its era and transport: a Channel adds the era's headers and envelope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from driftwatch.wire import streamable
from driftwatch.wire.client import Budget, WireClient
from driftwatch.wire.facts import Session, Target
from driftwatch.wire.streamable import Answer

CLIENT_INFO = {"name": "driftwatch", "version": "0.1.0"}
# Frozen: server-everything lists 12, 13 or 16 tools depending on what a client declares.
CLIENT_CAPABILITIES: Mapping[str, Any] = {}


class Channel(Protocol):
    """Requests and notifications to one server."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request and wait for its answer."""

    async def tell(self, method: str) -> None:
        """Send a notification."""


class ModernChannel:
    """Stateless requests of the modern era."""

    def __init__(self, client: WireClient, target: Target, version: str, budget: Budget) -> None:
        self._client = client
        self._target = target
        self._version = version
        self._budget = budget

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request with the envelope every modern request carries."""
        headers = modern_headers(self._target, self._version, method)
        params = modern_params(self._version, params)
        return await streamable.ask(self._client, self._target.url, headers, method, params, self._budget)

    async def tell(self, method: str) -> None:
        """Send a notification; the modern core has none that a poller needs."""
        headers = modern_headers(self._target, self._version, method)
        await streamable.tell(self._client, self._target.url, headers, method)


class LegacyChannel:
    """Requests of the legacy era over streamable HTTP; before initialize, ``session`` is None."""

    def __init__(self, client: WireClient, target: Target, session: Session | None, budget: Budget) -> None:
        self._client = client
        self._target = target
        self._headers = legacy_headers(target, session)
        self._budget = budget

    async def ask(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request inside the session."""
        return await streamable.ask(self._client, self._target.url, self._headers, method, params, self._budget)

    async def tell(self, method: str) -> None:
        """Send a notification inside the session."""
        await streamable.tell(self._client, self._target.url, self._headers, method)


def modern_headers(target: Target, version: str, method: str) -> dict[str, str]:
    """Headers of a modern request."""
    return {**streamable.base_headers(target), "mcp-protocol-version": version, "mcp-method": method}


def modern_params(version: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in the envelope every modern request carries."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": CLIENT_CAPABILITIES,
    }
    return {**params, "_meta": meta}


def legacy_headers(target: Target, session: Session | None) -> dict[str, str]:
    """Headers of a request inside a legacy session."""
    headers = streamable.base_headers(target)
    if session is not None:
        headers["mcp-protocol-version"] = session.protocol_version
        if session.id is not None:
            headers["mcp-session-id"] = session.id
    return headers
