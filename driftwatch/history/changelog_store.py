"""SQL of the changelog: which changesets, newest first, however long the histories and however rare what fits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.history.change_filter import ChangeFilter, filtered
from driftwatch.history.tables import Change, Changeset, Tool
from driftwatch.servers.tables import Profile, Server

#: up to so many servers their changesets are looked up; above, everybody's are walked and most of them fit
FEW: Final = 500


async def changeset_ids(
    session: AsyncSession, wanted: ChangeFilter, *, cursor: int | None = None, limit: int = 20
) -> list[int]:
    """Changesets with a change that fits, newest first; ``cursor`` is the last one already seen."""
    if wanted.server_id is None and wanted.tag is None and wanted.era is None:
        return await _of_everybody(session, wanted, cursor, limit)
    servers = [wanted.server_id] if wanted.server_id is not None else await _servers(session, wanted)
    return await _of_servers(session, servers, wanted, cursor, limit) if servers else []


async def _of_everybody(session: AsyncSession, wanted: ChangeFilter, cursor: int | None, limit: int) -> list[int]:
    """Straight from the changes: verdict and announcement have an index that is in the order of changesets."""
    newest = col(Change.changeset_id)
    query: Any = select(Change.changeset_id)
    if wanted.tool is not None:
        query = query.join(Tool, col(Tool.id) == col(Change.tool_id))
    query = await filtered(session, query, wanted)
    if cursor is not None:
        query = query.where(newest < cursor)
    return list((await session.exec(query.group_by(newest).order_by(newest.desc()).limit(limit))).all())


async def _of_servers(
    session: AsyncSession, servers: Collection[int], wanted: ChangeFilter, cursor: int | None, limit: int
) -> list[int]:
    """From the changesets, which are far fewer than the changes; each has to hold a change that fits."""
    fits: Any = select(Change.id).where(col(Change.changeset_id) == col(Changeset.id)).correlate(Changeset)
    if wanted.era is not None:
        fits = fits.join(Profile, col(Profile.id) == col(Change.profile_id))
    if wanted.tool is not None:
        fits = fits.join(Tool, col(Tool.id) == col(Change.tool_id))
    fits = await filtered(session, fits, replace(wanted, server_id=None, tag=None))
    query = select(Changeset.id).where(col(Changeset.server_id).in_(servers), fits.exists())
    if cursor is not None:
        query = query.where(col(Changeset.id) < cursor)
    # "+ 0": a few servers' changesets are sorted, not picked out of everybody's in order
    newest = col(Changeset.id) + 0 if len(servers) <= FEW else col(Changeset.id)
    found: Sequence[int | None] = (await session.exec(query.order_by(newest.desc()).limit(limit))).all()
    return [key for key in found if key is not None]


async def _servers(session: AsyncSession, wanted: ChangeFilter) -> list[int]:
    """The servers that can have what fits."""
    query: Any = select(Server.id)
    if wanted.tag is not None:
        query = query.where(col(Server.tags).contains([wanted.tag]))
    if wanted.era is not None:
        seen = select(Profile.id).where(col(Profile.server_id) == col(Server.id), col(Profile.era) == wanted.era)
        query = query.where(seen.exists())
    return list((await session.exec(query)).all())
