"""The read side of tools: what a server has, a tool's versions, how often it changed. Nothing here writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, Row, case, cast, func, text
from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import ToolDefinition
from driftwatch.db.engine import run_sql
from driftwatch.db.stored import row_id, when
from driftwatch.errors import NotFoundError
from driftwatch.history.definitions import load_definition
from driftwatch.history.tables import Change, SnapshotRow, Tool, ToolInterval, ToolVersion
from driftwatch.history.views import IntervalView, ListView, ToolView, VersionView, WeekView
from driftwatch.servers.tables import Profile

_WEEK_SECONDS = 7 * 86400

# one index look-up a tool, however long its history is
_LAST_CHANGES = text("""
SELECT t.id AS tool_id, c.id, c.recorded_at, c.verdict, c.via, c.from_version_id
FROM tool t JOIN profile p ON p.id = t.profile_id
CROSS JOIN LATERAL (
  SELECT id, recorded_at, verdict, via, from_version_id FROM change WHERE tool_id = t.id ORDER BY id DESC LIMIT 1
) c
WHERE p.server_id = :server AND p.closed_at IS NULL
""")


async def version_number(session: AsyncSession, tool_id: int, number: int) -> tuple[int, ToolDefinition]:
    """(version id, definition) of a tool's n-th version. Raises NotFoundError."""
    query = select(ToolVersion.id).where(ToolVersion.tool_id == tool_id, ToolVersion.number == number)
    found = (await session.exec(query)).first()
    if found is None:
        raise NotFoundError(f"Tool {tool_id} has no version {number}.", hint="Look at the versions of the tool.")
    return found, await load_definition(session, found)


async def tool_versions(
    session: AsyncSession, tool_id: int, *, below: int | None = None, limit: int | None = None
) -> list[VersionView]:
    """Versions of a tool, the newest number first, with the times each was current. Raises NotFoundError.

    ``below``: only smaller numbers; ``limit``: at most so many; without either, every version.
    """
    query = select(ToolVersion).where(ToolVersion.tool_id == tool_id).order_by(col(ToolVersion.number).desc())
    if below is not None:
        query = query.where(col(ToolVersion.number) < below)
    versions = (await session.exec(query.limit(limit))).all()
    if not versions and below is None:
        raise NotFoundError(f"There is no tool {tool_id}.", hint="Look at the tools of a server.")
    spans: defaultdict[int | None, list[IntervalView]] = defaultdict(list)
    rows = select(ToolInterval).where(ToolInterval.tool_id == tool_id).order_by(col(ToolInterval.id))
    if limit is not None:
        rows = rows.where(col(ToolInterval.version_id).in_([one.id for one in versions]))
    for row in (await session.exec(rows)).all():
        spans[row.version_id].append(IntervalView(row.window_start, row.valid_from, row.valid_to))
    return [
        VersionView(
            id=row_id(one.id),
            number=one.number,
            created_at=when(one.created_at),
            part_shas=one.part_shas,
            invalid=one.invalid,
            findings=tuple(one.findings or ()),
            intervals=tuple(spans[one.id]),
        )
        for one in versions
    ]


async def current_version(session: AsyncSession, tool_id: int) -> int | None:
    """The number of the version that is current; None: the tool is absent now."""
    now = select(ToolInterval.version_id).where(ToolInterval.tool_id == tool_id, col(ToolInterval.valid_to).is_(None))
    query = select(ToolVersion.number).where(col(ToolVersion.id).in_(now))
    return (await session.exec(query)).first()


async def server_tools(session: AsyncSession, server_id: int, *, absent: bool = True) -> list[ToolView]:
    """The tools of a server's open profiles by name, modern era first; without ``absent`` only those listed now."""
    last = {row.tool_id: row for row in (await run_sql(session, _LAST_CHANGES, {"server": server_id})).all()}
    query = (
        select(Tool, Profile.era, ToolVersion)
        .join(Profile, col(Profile.id) == col(Tool.profile_id))
        .join(ToolInterval, (col(ToolInterval.tool_id) == col(Tool.id)) & col(ToolInterval.valid_to).is_(None))
        .outerjoin(ToolVersion, col(ToolVersion.id) == col(ToolInterval.version_id))
        .where(col(Profile.server_id) == server_id, col(Profile.closed_at).is_(None))
        .order_by(col(Tool.name), col(Profile.era).desc())
    )
    counts = await _version_counts(session, server_id)
    rows: Sequence[tuple[Tool, str, ToolVersion | None]] = (await session.exec(query)).all()
    return [
        _tool(tool, era, version, counts.get(row_id(tool.id), 0), last.get(row_id(tool.id)))
        for tool, era, version in rows
        if absent or version is not None
    ]


async def weekly_counts(
    session: AsyncSession, server_ids: Sequence[int], *, weeks: int = 13
) -> dict[int, list[WeekView]]:
    """Changes of each server per week, newest week first; weeks and servers without changes are left out."""
    ago = cast(func.floor(func.extract("epoch", func.now() - Change.recorded_at) / _WEEK_SECONDS), Integer)
    strict = (col(Change.verdict) == "breaking") & (col(Change.via) != "declared")
    word = case((strict, "strict"), else_=func.coalesce(Change.verdict, "none"))
    query: Any = (
        select(Change.server_id, func.count())
        .add_columns(ago.label("week"), word.label("word"))
        .where(
            col(Change.server_id).in_(server_ids),
            col(Change.recorded_at) > func.now() - func.make_interval(0, 0, weeks),
        )
        .group_by(col(Change.server_id), text("week"), text("word"))
    )
    found: defaultdict[int, defaultdict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for server_id, count, week, verdict in (await session.exec(query)).all():
        found[server_id][max(week, 0)][verdict] = count
    return {
        server_id: [WeekView(week, verdicts) for week, verdicts in sorted(by_week.items())]
        for server_id, by_week in found.items()
    }


async def newest_lists(session: AsyncSession, server_id: int) -> list[ListView]:
    """The newest list of each open profile of a server, with what is to be known about the list itself."""
    query = (
        select(SnapshotRow, Profile.era)
        .join(Profile, col(Profile.id) == col(SnapshotRow.profile_id))
        .where(col(Profile.server_id) == server_id, col(Profile.closed_at).is_(None))
        .ext(distinct_on(col(SnapshotRow.profile_id)))
        .order_by(col(SnapshotRow.profile_id), col(SnapshotRow.id).desc())
    )
    return [
        ListView(
            profile_id=row.profile_id,
            era=era,
            first_seen_at=row.first_seen_at,
            protocol_version=row.protocol_version,
            server_info=row.server_info,
            tool_count=row.tool_count,
            findings=tuple(row.findings or ()),
            instructions=row.instructions,
        )
        for row, era in (await session.exec(query)).all()
    ]


async def _version_counts(session: AsyncSession, server_id: int) -> dict[int, int]:
    query = (
        select(ToolVersion.tool_id, func.count())
        .join(Tool, col(Tool.id) == col(ToolVersion.tool_id))
        .join(Profile, col(Profile.id) == col(Tool.profile_id))
        .where(col(Profile.server_id) == server_id)
        .group_by(col(ToolVersion.tool_id))
    )
    return dict((await session.exec(query)).all())


def _tool(tool: Tool, era: str, version: ToolVersion | None, versions: int, last: Row[Any] | None) -> ToolView:
    return ToolView(
        id=row_id(tool.id),
        profile_id=tool.profile_id,
        era=era,
        name=tool.name,
        version_id=version.id if version else None,
        version=version.number if version else None,
        versions=versions,
        declares_output=bool(version and version.part_shas.get("output")),
        invalid=version.invalid if version else None,
        findings=tuple(version.findings or ()) if version else (),
        last_change_id=last.id if last else None,
        last_change_at=last.recorded_at if last else None,
        last_verdict=last.verdict if last else None,
        last_via=last.via if last else None,
        last_from_id=last.from_version_id if last else None,
        part_shas=version.part_shas if version else {},
        semantic_shas=version.semantic_shas if version else {},
    )


async def tool_era(session: AsyncSession, tool_id: int) -> str:
    """The era of the profile a tool belongs to. Raises NotFoundError."""
    query = select(Profile.era).join(Tool, col(Tool.profile_id) == col(Profile.id)).where(col(Tool.id) == tool_id)
    era = (await session.exec(query)).one_or_none()
    if era is None:
        raise NotFoundError(f"There is no tool {tool_id}.", hint="Look at the tools of a server.")
    return era
