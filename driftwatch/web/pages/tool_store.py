"""SQL of tool pages: a server's tools, a tool's versions and where else it is seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import NotFoundError
from driftwatch.history.tables import Change, Tool, ToolInterval, ToolVersion
from driftwatch.servers.tables import Profile, Server
from driftwatch.web.pages.models import Interval, ToolHead, ToolLine, VersionLine
from driftwatch.web.pages.store import last_change, row_id


async def tool_lines(session: AsyncSession, server_id: int) -> list[ToolLine]:
    """Every tool of a server's open profiles, by name, absent ones too."""
    newest = (
        select(Change)
        .where(col(Change.server_id) == server_id)
        .distinct(col(Change.tool_id))
        .order_by(col(Change.tool_id), col(Change.id).desc())
    )
    last = {row.tool_id: last_change(row) for row in (await session.exec(newest)).all()}
    query = (
        select(Tool, Profile.era, ToolVersion)
        .join(Profile, col(Profile.id) == Tool.profile_id)
        .join(ToolInterval, (col(ToolInterval.tool_id) == Tool.id) & col(ToolInterval.valid_to).is_(None))
        .outerjoin(ToolVersion, col(ToolVersion.id) == ToolInterval.version_id)
        .where(col(Profile.server_id) == server_id, col(Profile.closed_at).is_(None))
        .order_by(Tool.name, col(Profile.era).desc())
    )
    rows: Iterable[tuple[Tool, str, ToolVersion | None]] = (await session.exec(query)).all()
    return [
        ToolLine(
            id=row_id(tool.id),
            name=tool.name,
            era=era,
            number=version.number if version else None,
            version_id=version.id if version else None,
            declares_output=bool(version and version.part_shas.get("output")),
            invalid=version.invalid if version else None,
            findings=tuple(version.findings or ()) if version else (),
            last_change=last.get(row_id(tool.id)),
        )
        for tool, era, version in rows
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


async def version_lines(session: AsyncSession, tool_id: int) -> list[VersionLine]:
    """The versions of a tool, newest number first, each with its intervals."""
    spans = defaultdict[int, list[Interval]](list)
    query = select(ToolInterval).where(ToolInterval.tool_id == tool_id).order_by(col(ToolInterval.valid_from).desc())
    for row in (await session.exec(query)).all():
        if row.version_id is not None:
            spans[row.version_id].append(Interval(row.valid_from, row.valid_to))
    versions = select(ToolVersion).where(ToolVersion.tool_id == tool_id).order_by(col(ToolVersion.number).desc())
    return [
        VersionLine(row_id(v.id), v.number, v.definition_sha.hex()[:8], v.invalid, tuple(spans.get(row_id(v.id), ())))
        for v in (await session.exec(versions)).all()
    ]


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
