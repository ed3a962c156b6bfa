"""SQL that only pages need: a server, how its polls go, what a tool page is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.stored import row_id, when
from driftwatch.errors import NotFoundError
from driftwatch.history.tables import Tool
from driftwatch.scheduler.tables import PollEvent, PollRollup, ProfileState
from driftwatch.servers.credential_state import CredentialView
from driftwatch.servers.credential_store import credential_views
from driftwatch.servers.tables import Profile, Server
from driftwatch.web.pages.models import (
    PollEventLine,
    Polls,
    ProfileLine,
    ServerLine,
    ToolHead,
)


async def now(session: AsyncSession) -> datetime:
    """The database's clock."""
    moment: datetime = (await session.exec(select(func.clock_timestamp()))).one()
    return moment


async def server_names(session: AsyncSession) -> dict[int, str]:
    """The name of every server by its id."""
    rows = await session.exec(select(Server.id, Server.name).where(Server.state != "deleted"))
    return {found: name for found, name in rows.all() if found is not None}


async def server_line(session: AsyncSession, server_id: int) -> ServerLine:
    """One server. Raises NotFoundError, for a deleted one too."""
    row = (await session.exec(select(Server).where(Server.id == server_id, Server.state != "deleted"))).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no server {server_id}", hint="the overview lists what is watched")
    using = select(ProfileState.state).join(Profile, col(Profile.id) == col(ProfileState.profile_id))
    states = await session.exec(using.where(Profile.server_id == server_id, col(Profile.closed_at).is_(None)))
    credentials = await credential_views(session, {server_id: states.all()})
    return _server(row, credentials.get(server_id))


async def profile_lines(session: AsyncSession, server_ids: Sequence[int]) -> dict[int, list[ProfileLine]]:
    """The open profiles of each server with the state of their polls, modern ones first."""
    query = (
        select(Profile, ProfileState)
        .outerjoin(ProfileState, col(ProfileState.profile_id) == Profile.id)
        .where(col(Profile.server_id).in_(server_ids), col(Profile.closed_at).is_(None))
        .order_by(col(Profile.era).desc(), col(Profile.id))
    )
    found = defaultdict[int, list[ProfileLine]](list)
    rows: Iterable[tuple[Profile, ProfileState | None]] = (await session.exec(query)).all()
    for profile, state in rows:
        known = ProfileState(profile_id=row_id(profile.id), host="") if state is None else state
        found[profile.server_id].append(_profile(profile, known))
    return found


async def polls(session: AsyncSession, server_id: int) -> Polls:
    """How the polls of a server went since yesterday began (UTC)."""
    query = (
        select(
            func.coalesce(func.sum(PollRollup.polls), 0),
            func.coalesce(func.sum(PollRollup.unchanged), 0),
            func.coalesce(func.sum(PollRollup.errors), 0),
            func.coalesce(func.sum(PollRollup.ms_sum), 0.0),
        )
        .add_columns(func.max(PollRollup.ms_max))
        .join(Profile, col(Profile.id) == PollRollup.profile_id)
        .where(col(Profile.server_id) == server_id, col(PollRollup.day) >= func.current_date() - 1)
    )
    total, unchanged, errors, spent, longest = (await session.execute(query)).one()
    walked = total - errors
    return Polls(total, unchanged, errors, spent / walked if walked else None, longest)


async def poll_events(
    session: AsyncSession, server_id: int, *, before: int | None = None, limit: int = 10
) -> list[PollEventLine]:
    """When polls of a server began to end differently, newest first; ``before``: the last one already seen."""
    query = (
        select(PollEvent, Profile.era)
        .join(Profile, col(Profile.id) == PollEvent.profile_id)
        .where(Profile.server_id == server_id)
        .order_by(col(PollEvent.id).desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(col(PollEvent.id) < before)
    return [
        PollEventLine(row_id(event.id), when(event.at), era, event.outcome, _message(event.detail))
        for event, era in (await session.exec(query)).all()
    ]


async def tool_head(session: AsyncSession, tool_id: int) -> ToolHead:
    """What a tool page is about. Raises NotFoundError."""
    row = (await session.execute(_heads().where(col(Tool.id) == tool_id))).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no tool {tool_id}", hint="the server's page lists its tools")
    return _head(row)


async def same_tool(session: AsyncSession, head: ToolHead) -> list[ToolHead]:
    """The tool of that name in each open profile of its server, this one included."""
    query = _heads().where(
        col(Profile.server_id) == head.server_id, col(Tool.name) == head.name, col(Profile.closed_at).is_(None)
    )
    return [_head(row) for row in (await session.execute(query.order_by(col(Profile.era).desc()))).all()]


def _heads() -> Select[Any]:
    return (
        select(Tool.id, Tool.name, Profile.id, Profile.era)
        .add_columns(col(Server.id), col(Server.name), col(Server.owner), col(Server.mode))
        .join(Profile, col(Profile.id) == Tool.profile_id)
        .join(Server, col(Server.id) == Profile.server_id)
    )


def _head(row: Sequence[Any]) -> ToolHead:
    tool_id, name, profile_id, era, server_id, server, owner, mode = row
    return ToolHead(tool_id, name, server_id, server, owner, mode, era, profile_id)


def _message(detail: Any) -> str | None:
    found = detail.get("message") if isinstance(detail, dict) else None
    return found if isinstance(found, str) else None


def _server(row: Server, credential: CredentialView | None) -> ServerLine:
    return ServerLine(
        id=row_id(row.id),
        name=row.name,
        url=row.url,
        owner=row.owner,
        tags=tuple(row.tags),
        interval_seconds=row.interval_seconds,
        mode=row.mode,
        transitive=row.transitive,
        state=row.state,
        created_at=when(row.created_at),
        pushed=row.pushed,
        credential=credential,
    )


def _profile(profile: Profile, state: ProfileState) -> ProfileLine:
    return ProfileLine(
        id=row_id(profile.id),
        server_id=profile.server_id,
        era=profile.era,
        state=state.state,
        protocol_version=state.protocol_version,
        server_info=state.server_info,
        list_changed_declared=state.list_changed_declared,
        tool_count=state.tool_count,
        last_poll_at=state.last_poll_at,
        next_due_at=state.next_due_at,
        failing_since=state.failing_since,
        failures=state.failures,
        last_error=state.last_error,
        duration_ms=state.duration_ms,
        polls_survived=state.polls_survived,
        order_moves=state.order_moves,
        order_moved_at=state.order_moved_at,
        ttl_ms=state.ttl_ms,
        cache_scope=state.cache_scope,
    )
