"""The read side of history for pages, the API and messages. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.stored import row_id, when
from driftwatch.errors import NotFoundError
from driftwatch.history.change_filter import ChangeFilter, filtered
from driftwatch.history.definitions import load_definition
from driftwatch.history.details import load_judgements, load_parts
from driftwatch.history.tables import Change, Changeset, Tool, ToolVersion
from driftwatch.history.tool_read import (
    newest_lists,
    server_tools,
    tool_era,
    tool_versions,
    version_number,
    weekly_counts,
)
from driftwatch.history.views import ChangeView
from driftwatch.servers.tables import Profile, Server

__all__ = [
    "ChangeFilter",
    "changeset_ids",
    "definition",
    "load_change",
    "load_changes",
    "load_changeset",
    "load_changesets",
    "newest_lists",
    "server_tools",
    "tool_era",
    "tool_versions",
    "version_number",
    "weekly_counts",
]


async def load_change(session: AsyncSession, change_id: int) -> ChangeView:
    """One change. Raises NotFoundError."""
    found = await _changes(session, _query().where(col(Change.id) == change_id))
    if not found:
        raise NotFoundError(f"There is no change {change_id}.", hint="Look at the changelog.")
    return found[0]


async def load_changes(
    session: AsyncSession,
    *,
    server_id: int | None = None,
    tool_id: int | None = None,
    tool: str | None = None,
    verdict: str | None = None,
    announcement: str | None = None,
    direction: str | None = None,
    era: str | None = None,
    rule: str | None = None,
    tag: str | None = None,
    since: datetime | None = None,
    ids: Sequence[int] | None = None,
    changesets: Sequence[int] | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> list[ChangeView]:
    """Changes that pass every given filter, newest first.

    ``tool`` is an exact name, ``direction`` input or output (a change whose newest assessment has that part),
    ``rule`` the id of a finding's rule, ``tag`` one of the server's tags, ``since`` the earliest recording time,
    ``cursor`` the id of the last change already seen.
    """
    wanted = ChangeFilter(server_id, tool_id, tool, verdict, announcement, direction, era, rule, tag, since)
    query = await filtered(session, _query(), wanted)
    if cursor is not None:
        query = query.where(col(Change.id) < cursor)
    if ids is not None:
        query = query.where(col(Change.id).in_(ids))
    if changesets is not None:
        query = query.where(col(Change.changeset_id).in_(changesets))
    query = query.order_by(col(Change.id).desc()).limit(limit)
    return await _changes(session, query)


async def load_changeset(session: AsyncSession, changeset_id: int) -> list[ChangeView]:
    """The changes of a changeset in the order they were recorded. Raises NotFoundError."""
    found = await _changes(session, _query().where(col(Change.changeset_id) == changeset_id).order_by(col(Change.id)))
    if not found:
        raise NotFoundError(f"There is no changeset {changeset_id}.", hint="Look at the changelog.")
    return found


async def load_changesets(
    session: AsyncSession, *, server_id: int | None = None, cursor: int | None = None, limit: int = 20
) -> list[list[ChangeView]]:
    """Changesets, newest first, each with its changes as recorded; ``cursor`` is the last one already seen."""
    query = select(Changeset.id).order_by(col(Changeset.id).desc()).limit(limit)
    if server_id is not None:
        query = query.where(col(Changeset.server_id) == server_id)
    if cursor is not None:
        query = query.where(col(Changeset.id) < cursor)
    ids = [row_id(found) for found in (await session.exec(query)).all()]
    changes = await _changes(session, _query().where(col(Change.changeset_id).in_(ids)).order_by(col(Change.id)))
    by_changeset: dict[int, list[ChangeView]] = {found: [] for found in ids}
    for change in changes:
        by_changeset[change.changeset_id].append(change)
    return [found for found in by_changeset.values() if found]


async def definition(session: AsyncSession, version_id: int) -> bytes:
    """The bytes of a version as the server sent them. Raises NotFoundError."""
    return (await load_definition(session, version_id)).verbatim


async def changeset_ids(
    session: AsyncSession, wanted: ChangeFilter, *, cursor: int | None = None, limit: int = 20
) -> list[int]:
    """Changesets with a change that fits, newest first; ``cursor`` is the last one already seen."""
    chosen = select(Change.changeset_id).join(Server, col(Server.id) == col(Change.server_id))
    chosen = chosen.join(Profile, col(Profile.id) == col(Change.profile_id)).join(Tool, col(Tool.id) == Change.tool_id)
    query = await filtered(session, chosen, wanted)
    if cursor is not None:
        query = query.where(col(Change.changeset_id) < cursor)
    # a server's own changes are few: "+ 0" keeps the planner from walking everybody's changesets in order instead
    newest = col(Change.changeset_id) if wanted.server_id is None else col(Change.changeset_id) + 0
    query = query.group_by(col(Change.changeset_id)).order_by(newest.desc()).limit(limit)
    return list((await session.exec(query)).all())


_FROM = aliased(ToolVersion)
_TO = aliased(ToolVersion)


def _query() -> Any:
    return (
        select(Change, Server.name, Profile.era, Tool.name)
        .add_columns(col(_FROM.number), col(_TO.number))
        .join(Server, col(Server.id) == col(Change.server_id))
        .join(Profile, col(Profile.id) == col(Change.profile_id))
        .join(Tool, col(Tool.id) == col(Change.tool_id))
        .outerjoin(_FROM, col(_FROM.id) == col(Change.from_version_id))
        .outerjoin(_TO, col(_TO.id) == col(Change.to_version_id))
    )


async def _changes(session: AsyncSession, query: Any) -> list[ChangeView]:
    rows = (await session.exec(query)).all()
    ids = [row_id(row[0].id) for row in rows]
    parts, judgements = await load_parts(session, ids), await load_judgements(session, ids)
    return [
        ChangeView(
            id=row_id(change.id),
            changeset_id=change.changeset_id,
            server_id=change.server_id,
            server=server,
            profile_id=change.profile_id,
            era=era,
            tool_id=change.tool_id,
            tool=tool,
            kind=change.kind,
            from_version=before,
            to_version=after,
            verdict=change.verdict,
            via=change.via,
            part=change.part,
            announcement=change.announcement,
            announcement_reason=change.announcement_reason,
            window=(change.window_start, change.window_end),
            recorded_at=when(change.recorded_at),
            state=change.state,
            facts=change.facts or {},
            parts=tuple(parts.get(row_id(change.id), ())),
            judgement=judgements.get(row_id(change.id)),
        )
        for change, server, era, tool, before, after in rows
    ]
