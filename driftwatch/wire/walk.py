"""One poll: every page of tools/list, in one profile's era, inside one deadline."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from driftwatch.errors import WireError
from driftwatch.wire import http_sse, restarts, session
from driftwatch.wire.channels import Channel, LegacyChannel, ModernChannel
from driftwatch.wire.client import Budget, WireClient
from driftwatch.wire.errors import (
    SessionLostError,
)
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart, Session, Target, Transport
from driftwatch.wire.listing import read_pages, rpc_error
from driftwatch.wire.pages import Pages

# A list_changed this soon after initialize is the server's own start, not an announcement.
STARTUP_NOISE: Final = timedelta(seconds=5)
# What servers answer for a session they no longer know; 404 is the right one.
_LOST_SESSION: Final = frozenset({400, 401, 404, 410, 503})
# Without a session id there is nothing to lose, but a server may still want its handshake again.
_WANTS_HANDSHAKE: Final = frozenset({400})


@dataclass(slots=True)
class _Walk:
    """A walk under way: what it has seen so far beside the pages."""

    client: WireClient
    target: Target
    facts: EraFacts
    budget: Budget
    started: float = field(default_factory=time.perf_counter)
    initialized_at: datetime | None = None
    list_changed_at: list[datetime] = field(default_factory=list)
    restarts: tuple[Restart, ...] = ()
    kept: Session | None = field(init=False)

    def __post_init__(self) -> None:
        self.kept = self.facts.session


async def walk(
    client: WireClient,
    target: Target,
    facts: EraFacts,
    *,
    polls_survived: int = 0,
    fresh_connection: bool = False,
    seconds: float | None = None,
) -> Listing:
    """Read the whole tool list as a client of ``facts.era`` sees it, or raise a WireError: never a part of it.

    ``facts`` come from detection or the last Listing; their session is used and, when the server lost it, replaced
    once (``session_replaced``; store the Listing's facts and session). ``polls_survived``: polls this session has
    answered; its loss is restart evidence from three on. ``fresh_connection``: on a new TCP connection, which may
    reach another replica. ``seconds``: deadline of the whole walk (default: the setting).
    """
    lane = client.fresh() if fresh_connection else client
    state = _Walk(lane, target, facts, client.budget())
    try:
        async with lane.deadline(seconds):
            return await _walk(state, polls_survived)
    except WireError:
        await _close_unwanted(state)
        raise
    finally:
        if lane is not client:
            await lane.aclose()


async def _walk(state: _Walk, polls_survived: int) -> Listing:
    if state.facts.era is Era.MODERN:
        version = state.facts.protocol_version
        return await _list(state, ModernChannel(state.client, state.target, version, state.budget))
    if state.facts.session is not None and state.facts.session.transport is Transport.HTTP_SSE:
        async with http_sse.open_stream(state.client, state.target, state.budget) as channel:
            _adopt(state, await http_sse.initialize(channel))
            return await _list(state, channel)
    return await _walk_legacy(state, polls_survived)


async def _walk_legacy(state: _Walk, polls_survived: int) -> Listing:
    """With the kept session; once more with a new one where there is none or the server lost it."""
    kept = state.facts.session
    if kept is not None:
        try:
            return await _list(state, _legacy_channel(state))
        except WireError as error:
            if error.status not in (_LOST_SESSION if _has_id(kept) else _WANTS_HANDSHAKE):
                raise
            if _has_id(kept):
                state.restarts += restarts.lost_session(state.client.clock.now(), error.status, polls_survived)
    await _reinitialize(state)
    try:
        return await _list(state, _legacy_channel(state))
    except WireError as error:
        if _has_id(state.facts.session) and error.status in (400, 404, 410):
            raise SessionLostError(
                f"A new session was lost at once: {error.message}",
                status=error.status,
                restart_kind="session-lost" if state.restarts else None,
            ) from error
        raise


def _has_id(kept: Session | None) -> bool:
    return kept is not None and kept.id is not None


async def _reinitialize(state: _Walk) -> None:
    answer = await session.handshake(LegacyChannel(state.client, state.target, None, state.budget))
    if answer.failure is not None:
        raise rpc_error("initialize", answer.failure, answer.status)
    _adopt(state, await session.open_session(state.client, state.target, answer, state.budget))


def _adopt(state: _Walk, facts: EraFacts) -> None:
    now = state.client.clock.now()
    state.restarts += restarts.compare_facts(state.facts, facts, now)
    state.facts = facts
    state.initialized_at = now


def _legacy_channel(state: _Walk) -> LegacyChannel:
    return LegacyChannel(state.client, state.target, state.facts.session, state.budget)


async def _list(state: _Walk, channel: Channel) -> Listing:
    settings, clock = state.client.settings, state.client.clock
    pages = Pages(settings.max_pages, settings.max_tools)
    sent_at = clock.now()
    await read_pages(channel, pages, state.facts, state.list_changed_at)
    return _listing(state, pages, sent_at, clock.now())


def _listing(state: _Walk, pages: Pages, sent_at: datetime, arrived_at: datetime) -> Listing:
    facts = state.facts
    if facts.era is Era.MODERN and pages.server_info is not None and pages.server_info != facts.server_info:
        newer = replace(facts, server_info=pages.server_info)
        state.restarts += restarts.compare_facts(facts, newer, arrived_at)
        facts = newer
    modern = facts.era is Era.MODERN
    return Listing(
        era=facts.era,
        facts=facts,
        sent_at=sent_at,
        arrived_at=arrived_at,
        tools=tuple(pages.tools),
        results=tuple(pages.results),
        body_sha256=pages.sha256,
        pages=pages.count,
        size_bytes=state.budget.used,
        duration_ms=(time.perf_counter() - state.started) * 1000,
        # A modern list that does not say is stale at once and private.
        ttl_ms=pages.ttl_ms or 0 if modern else pages.ttl_ms,
        cache_scope=pages.cache_scope or "private" if modern else pages.cache_scope,
        session=facts.session,
        session_replaced=facts.session != state.kept,
        list_changed_at=tuple(at for at in state.list_changed_at if not _noise(at, state.initialized_at)),
        restarts=state.restarts,
        flaws=tuple(sorted(pages.flaws)) if modern else (),
    )


def _noise(at: datetime, initialized_at: datetime | None) -> bool:
    return initialized_at is not None and at - initialized_at < STARTUP_NOISE


async def _close_unwanted(state: _Walk) -> None:
    """A failed walk leaves nobody to keep the session it opened."""
    opened = state.facts.session
    if opened is not None and opened != state.kept:
        await session.close_session(state.client, state.target, opened)
