"""SQL of the overview: every server in few columns, and the costly columns for the lines that are shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import false, func, or_, text
from sqlalchemy.orm import aliased
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.history import search_store, tool_read
from driftwatch.history.doubt_store import restless_tools
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.web.pages import spark, store
from driftwatch.web.pages.models import NOT_FAILING, FleetRow, LastChange, ServerLine, Watched

# one index look-up a server: the newest change of each, however long the histories are
_LAST = text(
    "SELECT s.id AS server_id, c.id, c.verdict, c.via, c.window_end FROM unnest(CAST(:ids AS bigint[])) AS s(id) "
    "CROSS JOIN LATERAL (SELECT id, verdict, via, window_end FROM change "
    "WHERE server_id = s.id ORDER BY id DESC LIMIT 1) AS c"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the URL asks for; an empty string asks for nothing. ``state`` is how a server stands (fleet.Standing)."""

    q: str = ""
    tag: str = ""
    owner: str = ""
    era: str = ""
    state: str = ""


async def stands(session: AsyncSession, wanted: Wanted, *, hits: Collection[int] = ()) -> list[Watched]:
    """Every server that fits, by name, with the little that tells how it stands.

    ``hits``: servers whose tools or fields fit ``q``.
    """
    failing = func.bool_or(col(ProfileState.state).not_in(NOT_FAILING))
    query: Any = (
        select(Server.id, Server.name, Server.state, func.coalesce(failing, false()))
        .add_columns(func.max(ProfileState.last_poll_at))
        .outerjoin(Profile, (col(Profile.server_id) == col(Server.id)) & col(Profile.closed_at).is_(None))
        .outerjoin(ProfileState, col(ProfileState.profile_id) == col(Profile.id))
        .where(col(Server.state) != "deleted")
        .group_by(col(Server.id))
        .order_by(col(Server.name))
    )
    if wanted.tag:
        query = query.where(col(Server.tags).contains([wanted.tag]))
    if wanted.owner:
        query = query.where(col(Server.owner) == wanted.owner)
    if wanted.era:
        seen = aliased(Profile)
        has = select(seen.id).where(
            col(seen.server_id) == col(Server.id), col(seen.era) == wanted.era, col(seen.closed_at).is_(None)
        )
        query = query.where(has.exists())
    if wanted.q:
        like = search_store.pattern(wanted.q)
        places = (Server.name, Server.url, Server.owner, func.array_to_string(Server.tags, " "))
        query = query.where(or_(*(func.lower(place).like(like) for place in places), col(Server.id).in_(list(hits))))
    restless = await _unsettled(session, await restless_tools(session))
    found = (await session.execute(query)).all()
    return [Watched(key, name, state, failing, at, key in restless) for key, name, state, failing, at in found]


async def rows(session: AsyncSession, ids: Sequence[int]) -> list[FleetRow]:
    """The servers of a table with all that their lines say, in no particular order."""
    query: Any = (
        select(Server.id, Server.name, Server.url, Server.owner)
        .add_columns(col(Server.tags), col(Server.interval_seconds), col(Server.mode), col(Server.state))
        .add_columns(col(Server.created_at))
        .where(col(Server.id).in_(ids))
    )
    servers = [
        ServerLine(key, name, url, owner, tuple(tags), interval, mode, state, created)
        for key, name, url, owner, tags, interval, mode, state, created in (await session.execute(query)).all()
    ]
    unsettled = await restless_tools(session)
    profiles = {
        server: [replace(line, unsettled=tuple(unsettled.get(line.id, ()))) for line in lines]
        for server, lines in (await store.profile_lines(session, ids)).items()
    }
    newest = (await run_sql(session, _LAST, {"ids": list(ids)})).all()
    last = {row.server_id: LastChange(row.id, row.verdict, row.via, row.window_end) for row in newest}
    weeks = await tool_read.weekly_counts(session, ids, weeks=spark.WEEKS)
    return [
        FleetRow(one, tuple(profiles.get(one.id, ())), last.get(one.id), tuple(weeks.get(one.id, ())))
        for one in servers
    ]


async def labels(session: AsyncSession) -> tuple[list[str], list[str]]:
    """Every tag and every owner, the most used first."""
    tags = (
        "SELECT tag FROM server, unnest(tags) AS tag WHERE state <> 'deleted' GROUP BY tag ORDER BY count(*) DESC, tag"
    )
    owners = (
        "SELECT owner FROM server WHERE state <> 'deleted' AND owner <> '' GROUP BY owner ORDER BY count(*) DESC, owner"
    )
    found = [list((await run_sql(session, text(query))).scalars()) for query in (tags, owners)]
    return found[0], found[1]


async def _unsettled(session: AsyncSession, profile_ids: Collection[int]) -> set[int]:
    """The servers of these open profiles."""
    query = select(Profile.server_id).where(col(Profile.id).in_(profile_ids), col(Profile.closed_at).is_(None))
    return set((await session.exec(query)).all()) if profile_ids else set()
