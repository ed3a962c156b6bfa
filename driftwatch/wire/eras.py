"""Which eras a server speaks: ask as a modern client, then as a legacy one. Outages are never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from driftwatch.errors import WireError
from driftwatch.wire import http_sse, messages, session
from driftwatch.wire.channels import LegacyChannel, ModernChannel
from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import (
    BadJsonError,
    BadResultError,
    BadTargetError,
    BlockedAddressError,
    EndpointNotFoundError,
    EraNotSpokenError,
    NotMcpError,
    RateLimitedError,
    RefusedError,
    RpcError,
    UnsupportedVersionError,
)
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Target
from driftwatch.wire.pages import SERVER_INFO
from driftwatch.wire.session import mapping, text
from driftwatch.wire.streamable import Answer

UNSUPPORTED_VERSION: Final = -32022
# Errors only a modern server knows: header and body differ; a client capability is missing.
_MODERN_EVIDENCE: Final = (-32020, -32021)
_NO_SUCH_ERA: Final = (NotMcpError, EndpointNotFoundError, BadJsonError, BadResultError, RpcError)
_TRY_HTTP_SSE: Final = (400, 404, 405)
# The other era would meet the very same.
_SAME_FOR_BOTH: Final = (BlockedAddressError, BadTargetError, RefusedError, RateLimitedError)


@dataclass(frozen=True, slots=True)
class Detection:
    """What was found, and for every wanted era that was not, why.

    A legacy era that was found comes with the session the detection opened: keep it for polling, or close it.
    """

    found: dict[Era, EraFacts] = field(default_factory=dict)
    problems: dict[Era, WireError] = field(default_factory=dict)

    @property
    def failure(self) -> WireError | None:
        """The problem to tell when nothing was found: an outage or a refusal before "not spoken". Else None."""
        if self.found:
            return None
        told = sorted(self.problems.values(), key=lambda error: (isinstance(error, EraNotSpokenError), _absent(error)))
        return told[0] if told else None


async def detect(
    client: WireClient, target: Target, wanted: frozenset[Era] | None = None, *, seconds: float | None = None
) -> Detection:
    """Find the eras ``target`` speaks, of those wanted (default: both), within ``seconds`` (default: the setting).

    Raises nothing of the wire: every failure is a problem of the era it happened in. ``era-not-spoken``, ``not-mcp``
    and ``not-found`` say that the era is absent; everything else (``unauthorized``, ``timeout``, ``server-error`` …)
    that we could not know.
    """
    eras = [era for era in (Era.MODERN, Era.LEGACY) if wanted is None or era in wanted]
    limit = (client.settings.poll_timeout_seconds if seconds is None else seconds) / max(len(eras), 1)
    detection = Detection()
    for position, era in enumerate(eras):
        try:
            async with client.deadline(limit):
                detection.found[era] = await (_discover if era is Era.MODERN else _initialize)(client, target)
        except _SAME_FOR_BOTH as error:
            detection.problems.update(dict.fromkeys(eras[position:], error))
            break
        except WireError as error:
            detection.problems[era] = error
    return detection


async def _discover(client: WireClient, target: Target) -> EraFacts:
    answer, version = await _ask_discover(client, target, LATEST_MODERN), LATEST_MODERN
    if answer.failure is not None and (mutual := mutual_version(answer.failure)) is not None:
        answer, version = await _ask_discover(client, target, mutual), mutual
    return modern_facts(answer, version)


async def _ask_discover(client: WireClient, target: Target, version: str) -> Answer:
    try:
        answer = await ModernChannel(client, target, version, client.budget()).ask("server/discover", {})
    except _NO_SUCH_ERA as error:
        raise EraNotSpokenError(f"No modern era: {error.message}", status=error.status) from error
    await session.close_stray(client, target, answer)
    return answer


def mutual_version(failure: messages.RpcFailure) -> str | None:
    """The newest modern version in a -32022 error that we know as well. Pure."""
    if failure.code != UNSUPPORTED_VERSION:
        return None
    supported = _supported(failure.data)
    return next((version for version in reversed(MODERN_PROTOCOL_VERSIONS) if version in supported), None)


def modern_facts(answer: Answer, version: str) -> EraFacts:
    """The facts in the answer to server/discover. Pure.

    Raises EraNotSpokenError, or UnsupportedVersionError where only versions are spoken that we do not know.
    A server that refuses discover with an error of the modern era is modern; it declares nothing to a client like us.
    """
    if answer.failure is not None:
        return _facts_of_failure(answer.failure, answer.status, version)
    fields = messages.value(answer.result or b"null")
    supported = _strings(fields.get("supportedVersions")) if isinstance(fields, dict) else []
    mutual = [known for known in MODERN_PROTOCOL_VERSIONS if known in supported]
    if not mutual:
        raise _no_mutual(supported)
    meta = mapping(fields.get("_meta")) or {}
    return EraFacts(
        era=Era.MODERN,
        protocol_version=version if version in mutual else mutual[-1],
        server_info=mapping(meta.get(SERVER_INFO)) or mapping(fields.get("serverInfo")),
        capabilities=mapping(fields.get("capabilities")) or {},
        instructions=text(fields.get("instructions")),
    )


def _facts_of_failure(failure: messages.RpcFailure, status: int, version: str) -> EraFacts:
    if failure.code in _MODERN_EVIDENCE and status == 400:
        return EraFacts(era=Era.MODERN, protocol_version=version, server_info=None, capabilities={})
    if failure.code == UNSUPPORTED_VERSION:
        raise _no_mutual(_supported(failure.data))
    raise EraNotSpokenError(f"No modern era: server/discover failed: {failure.message}", status=status)


def _no_mutual(supported: list[str]) -> WireError:
    newer = [version for version in supported if version not in HANDSHAKE_PROTOCOL_VERSIONS]
    if newer and not set(newer) & set(MODERN_PROTOCOL_VERSIONS):
        return UnsupportedVersionError(f"The server speaks only {messages.shown(', '.join(newer))}.")
    return EraNotSpokenError("No modern era: the server names no modern protocol version.")


async def _initialize(client: WireClient, target: Target) -> EraFacts:
    budget = client.budget()
    try:
        answer = await session.handshake(LegacyChannel(client, target, None, budget))
    except _NO_SUCH_ERA as error:
        if error.status in _TRY_HTTP_SSE:
            return await _initialize_http_sse(client, target, error)
        raise
    if answer.failure is None:
        return await session.open_session(client, target, answer, budget)
    refused = EraNotSpokenError(f"No legacy era: initialize failed: {answer.failure.message}", status=answer.status)
    if answer.status in _TRY_HTTP_SSE:
        return await _initialize_http_sse(client, target, refused)
    raise refused


async def _initialize_http_sse(client: WireClient, target: Target, refused: WireError) -> EraFacts:
    """Try the transport of 2024-11-05; where that is not spoken either, the first refusal is told."""
    try:
        async with http_sse.open_stream(client, target, client.budget()) as channel:
            return await http_sse.initialize(channel)
    except _NO_SUCH_ERA as error:
        raise refused from error


def _supported(data: Any) -> list[str]:
    return _strings(data.get("supported")) if isinstance(data, Mapping) else []


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _absent(error: WireError) -> bool:
    return isinstance(error, _NO_SUCH_ERA)
