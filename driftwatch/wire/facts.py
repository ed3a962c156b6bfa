"""What the wire room hands on: facts about a server and the verbatim bytes of its tool list. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

LATEST_MODERN = "2026-07-28"
LATEST_LEGACY = "2025-11-25"


class Era(StrEnum):
    """Which of MCP's two protocols is spoken: ``legacy`` (up to 2025-11-25) or ``modern`` (2026-07-28 on)."""

    LEGACY = "legacy"
    MODERN = "modern"


class Transport(StrEnum):
    """How a server is reached: legacy ones in all three ways, modern ones not by HTTP+SSE."""

    STREAMABLE_HTTP = "streamable-http"
    HTTP_SSE = "http+sse"
    STDIO = "stdio"


@dataclass(frozen=True, slots=True)
class Target:
    """One endpoint as a poll addresses it. ``headers`` and ``token`` are secrets: never log or repr them.

    ``token``: an access token that is renewed now and then; a target with another one is the same target.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Session:
    """A legacy session we keep between polls (one per profile). ``id`` None: the server is stateless."""

    id: str | None = field(repr=False)
    protocol_version: str
    transport: Transport = Transport.STREAMABLE_HTTP


@dataclass(frozen=True, slots=True)
class EraFacts:
    """What detection or initialize learned about a server in one era."""

    era: Era
    protocol_version: str
    server_info: Mapping[str, Any] | None
    capabilities: Mapping[str, Any]
    instructions: str | None = None
    session: Session | None = None

    @property
    def list_changed_declared(self) -> bool:
        """True when ``capabilities.tools.listChanged`` is exactly true."""
        tools = self.capabilities.get("tools")
        return isinstance(tools, Mapping) and tools.get("listChanged") is True

    @property
    def beside_session(self) -> tuple[Any, ...]:
        """What the server says of itself, whatever session it said it in."""
        return (self.protocol_version, self.server_info, self.instructions, self.capabilities)

    @property
    def tools_declared(self) -> bool:
        """True when the server declares the tools capability at all."""
        return isinstance(self.capabilities.get("tools"), Mapping)


@dataclass(frozen=True, slots=True)
class Restart:
    """Restart evidence: refused, http-502, http-503, session-lost, server-info-changed, versions-changed.

    Of a command: process-started, process-exited.
    """

    at: datetime
    kind: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One complete walk of tools/list. Times are the database's clock.

    ``sent_at``: just before the first request; ``arrived_at``: after the last page.
    ``tools``: the verbatim JSON of each list entry, in order over all pages (an entry may be anything, even ``null``).
    ``results``: the result object of each page, verbatim.
    ``body_sha256``: sha256 over the result objects of all pages; equal hash means nothing to look at.
    ``list_changed_at``: list_changed notifications that came on reply streams during the walk.
    ``flaws``: what the specification demands around a modern list and some page left out or spelled wrongly, in words.
    """

    era: Era
    facts: EraFacts
    sent_at: datetime
    arrived_at: datetime
    tools: tuple[bytes, ...]
    body_sha256: bytes
    pages: int
    size_bytes: int
    duration_ms: float
    ttl_ms: int | None = None
    cache_scope: str | None = None
    session: Session | None = None
    session_replaced: bool = False
    results: tuple[bytes, ...] = field(default=(), repr=False)
    list_changed_at: tuple[datetime, ...] = ()
    restarts: tuple[Restart, ...] = ()
    flaws: tuple[str, ...] = ()
