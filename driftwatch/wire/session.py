"""Legacy sessions over streamable HTTP: initialize, initialized, and the DELETE that ends one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from driftwatch.errors import WireError
from driftwatch.wire import messages
from driftwatch.wire.channels import CLIENT_CAPABILITIES, CLIENT_INFO, Channel, LegacyChannel, legacy_headers
from driftwatch.wire.client import Budget, WireClient
from driftwatch.wire.errors import BadResultError, UnsupportedVersionError
from driftwatch.wire.facts import LATEST_LEGACY, Era, EraFacts, Session, Target, Transport
from driftwatch.wire.streamable import Answer, short_body

CLOSE_SECONDS: Final = 3.0
_MAX_SESSION_ID: Final = 1024


def initialize_params() -> dict[str, Any]:
    """What we say of ourselves: the newest legacy version and no capabilities at all."""
    return {
        "protocolVersion": LATEST_LEGACY,
        "capabilities": CLIENT_CAPABILITIES,
        "clientInfo": CLIENT_INFO,
    }


async def handshake(channel: Channel) -> Answer:
    """Ask ``initialize``; the answer may still be a JSON-RPC failure."""
    return await channel.ask("initialize", initialize_params())


async def open_session(client: WireClient, target: Target, answer: Answer, budget: Budget) -> EraFacts:
    """Complete a handshake that was answered: read the facts and send ``notifications/initialized``."""
    facts = facts_of(answer, Transport.STREAMABLE_HTTP)
    try:
        await LegacyChannel(client, target, facts.session, budget).tell("notifications/initialized")
    except WireError:
        if facts.session is not None:
            await close_session(client, target, facts.session)
        raise
    return facts


async def close_stray(client: WireClient, target: Target, answer: Answer) -> None:
    """End a session that a server opened for a request it refused: it would be kept for nobody. Never fails."""
    with contextlib.suppress(BadResultError):
        if (stray := _session_id(answer)) is not None:
            await close_session(client, target, Session(stray, LATEST_LEGACY))


async def close_session(client: WireClient, target: Target, session: Session) -> None:
    """End a session we opened. Never fails: a server may refuse DELETE, or be gone."""
    if session.id is None or session.transport is not Transport.STREAMABLE_HTTP:
        return
    with contextlib.suppress(WireError, TimeoutError):
        async with (
            asyncio.timeout(CLOSE_SECONDS),
            client.open("DELETE", target.url, legacy_headers(target, session)) as response,
        ):
            await short_body(response)


def facts_of(answer: Answer, transport: Transport) -> EraFacts:
    """The facts in an initialize result. Pure. Raises BadResultError, UnsupportedVersionError."""
    fields = messages.value(answer.result or b"null")
    version = fields.get("protocolVersion") if isinstance(fields, dict) else None
    if not isinstance(version, str):
        raise BadResultError("The initialize result has no protocolVersion.", status=answer.status)
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise UnsupportedVersionError(f"The server chose the protocol version {messages.shown(version)!r}.")
    return EraFacts(
        era=Era.LEGACY,
        protocol_version=version,
        server_info=mapping(fields.get("serverInfo")),
        capabilities=mapping(fields.get("capabilities")) or {},
        instructions=text(fields.get("instructions")),
        session=Session(_session_id(answer), version, transport),
    )


def mapping(value: Any) -> Mapping[str, Any] | None:
    """The value where it is a JSON object, else None."""
    return value if isinstance(value, dict) else None


def text(value: Any) -> str | None:
    """The value where it is a string, else None."""
    return value if isinstance(value, str) else None


def _session_id(answer: Answer) -> str | None:
    """The session id; an empty one, or one that is no visible ASCII of sane length, could not be sent back."""
    name = answer.session_id
    if not name:
        return None
    if len(name) > _MAX_SESSION_ID or not all(0x21 <= ord(character) <= 0x7E for character in name):
        raise BadResultError("The session id is longer than 1024 characters or not visible ASCII.")
    return name
