"""The read side of history for pages, the API and messages. Nothing here writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import select as sql_select
from sqlalchemy.orm import aliased
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import NotFoundError
from driftwatch.history.change_filter import ChangeFilter, filtered
from driftwatch.history.changelog_store import changeset_ids
from driftwatch.history.definitions import load_definition
from driftwatch.history.details import load_facts, load_judgements, load_parts
from driftwatch.history.tables import Change, Tool, ToolVersion
from driftwatch.history.tool_read import (
    current_version,
    newest_lists,
    server_tools,
    tool_era,
    tool_versions,
    version_number,
    weekly_counts,
)
from driftwatch.history.views import ChangeView, JudgementView, PartView
from driftwatch.servers.tables import Profile, Server

__all__ = [
    "ChangeFilter",
    "current_version",
    "definition",
    "load_change",
    "load_changelog",
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

#: changes of one page of a changelog; a deploy of all tools of a large server, seen by two kinds of clients, fits
_MOST: Final = 5_000


async def load_change(session: AsyncSession, change_id: int) -> ChangeView:
    """One change. Raises NotFoundError."""
    found = await _changes(session, _query().where(col(Change.id) == change_id))
    if not found:
        raise NotFoundError(f"There is no change {change_id}.", hint="Look at the changelog.")
    return found[0]


async def load_changes(
    session: AsyncSession,
    wanted: ChangeFilter | None = None,
    *,
    ids: Sequence[int] | None = None,
    cursor: int | None = None,
    limit: int = 50,
    brief: bool = False,
) -> list[ChangeView]:
    """Changes that fit, newest first; ``ids``: only these; ``cursor``: the id of the last change already seen.

    ``brief``: parts, judgements, facts and version numbers only of changesets about one tool; of many tools a list
    says how many, not what.
    """
    query = await filtered(session, _brief() if brief else _query(), wanted or ChangeFilter())
    if cursor is not None:
        query = query.where(col(Change.id) < cursor)
    if ids is not None:
        query = query.where(col(Change.id).in_(ids))
    query = query.order_by(col(Change.id).desc()).limit(limit)
    return await (_filled(session, query) if brief else _changes(session, query))


async def load_changeset(session: AsyncSession, changeset_id: int, *, brief: bool = False) -> list[ChangeView]:
    """The changes of a changeset in the order they were recorded; ``brief`` as above. Raises NotFoundError."""
    query = (_brief() if brief else _query()).where(col(Change.changeset_id) == changeset_id).order_by(col(Change.id))
    found = await (_filled(session, query) if brief else _changes(session, query))
    if not found:
        raise NotFoundError(f"There is no changeset {changeset_id}.", hint="Look at the changelog.")
    return found


async def load_changesets(
    session: AsyncSession, wanted: ChangeFilter, *, cursor: int | None = None, limit: int = 20
) -> list[list[ChangeView]]:
    """Changesets with a change that fits, newest first, each with all its changes as recorded.

    ``cursor`` is the last changeset already seen.
    """
    ids = await changeset_ids(session, wanted, cursor=cursor, limit=limit)
    changes = await _changes(session, _query().where(col(Change.changeset_id).in_(ids)).order_by(col(Change.id)))
    by_changeset: dict[int, list[ChangeView]] = {found: [] for found in ids}
    for change in changes:
        by_changeset[change.changeset_id].append(change)
    return [found for found in by_changeset.values() if found]


async def load_changelog(
    session: AsyncSession, wanted: ChangeFilter, *, cursor: int | None = None, limit: int = 20, brief: bool = True
) -> tuple[list[ChangeView], int | None]:
    """The fitting changes of up to ``limit`` changesets, newest first, and the changeset the next page is below."""
    sets = await changeset_ids(session, wanted, cursor=cursor, limit=limit + 1)
    query = await filtered(session, _brief() if brief else _query(), wanted)
    query = query.where(col(Change.changeset_id).in_(sets[:limit])).order_by(col(Change.id).desc()).limit(_MOST)
    found = await (_filled(session, query) if brief else _changes(session, query))
    return found, sets[limit - 1] if len(sets) > limit else None


async def definition(session: AsyncSession, version_id: int) -> bytes:
    """The bytes of a version as the server sent them. Raises NotFoundError."""
    return (await load_definition(session, version_id)).verbatim


_FROM = aliased(ToolVersion)
_TO = aliased(ToolVersion)
_NO_FACTS: Final[Mapping[str, Any]] = {}

# columns, not entities: a page of the changelog may be thousands of rows
_COLUMNS: Final = (
    *(Change.id, Change.changeset_id, Change.server_id, Change.profile_id, Change.tool_id, Change.kind),
    *(Change.window_start, Change.window_end, Change.state, Change.recorded_at),
    *(Change.verdict, Change.via, Change.part, Change.announcement, Change.announcement_reason),
)


def _brief() -> Any:
    return (
        sql_select(*(col(column) for column in _COLUMNS))
        .add_columns(col(Server.name).label("server"), col(Profile.era), col(Tool.name).label("tool"))
        .join(Server, col(Server.id) == col(Change.server_id))
        .join(Profile, col(Profile.id) == col(Change.profile_id))
        .join(Tool, col(Tool.id) == col(Change.tool_id))
    )


def _query() -> Any:
    return (
        _brief()
        .add_columns(col(_FROM.number).label("from_version"), col(_TO.number).label("to_version"))
        .outerjoin(_FROM, col(_FROM.id) == col(Change.from_version_id))
        .outerjoin(_TO, col(_TO.id) == col(Change.to_version_id))
    )


async def _filled(session: AsyncSession, query: Any) -> list[ChangeView]:
    """The changes of a brief query, those of changesets about one tool in full."""
    rows = (await session.execute(query)).all()
    tools: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        tools[row.changeset_id].add(row.tool)
    lone = [row.id for row in rows if len(tools[row.changeset_id]) == 1]
    whole = {one.id: one for one in await _changes(session, _query().where(col(Change.id).in_(lone)))} if lone else {}
    return [whole.get(row.id) or _view(row) for row in rows]


async def _changes(session: AsyncSession, query: Any) -> list[ChangeView]:
    rows = (await session.execute(query)).all()
    ids = [row.id for row in rows]
    parts, judgements = await load_parts(session, ids), await load_judgements(session, ids)
    facts = await load_facts(session, ids)
    return [
        _view(
            row,
            from_version=row.from_version,
            to_version=row.to_version,
            facts=facts.get(row.id) or {},
            parts=tuple(parts.get(row.id, ())),
            judgement=judgements.get(row.id),
        )
        for row in rows
    ]


def _view(
    row: Any,
    *,
    from_version: int | None = None,
    to_version: int | None = None,
    facts: Mapping[str, Any] = _NO_FACTS,
    parts: tuple[PartView, ...] = (),
    judgement: JudgementView | None = None,
) -> ChangeView:
    return ChangeView(
        id=row.id,
        changeset_id=row.changeset_id,
        server_id=row.server_id,
        server=row.server,
        profile_id=row.profile_id,
        era=row.era,
        tool_id=row.tool_id,
        tool=row.tool,
        kind=row.kind,
        from_version=from_version,
        to_version=to_version,
        verdict=row.verdict,
        via=row.via,
        part=row.part,
        announcement=row.announcement,
        announcement_reason=row.announcement_reason,
        window=(row.window_start, row.window_end),
        recorded_at=row.recorded_at,
        state=row.state,
        facts=facts,
        parts=parts,
        judgement=judgement,
    )
