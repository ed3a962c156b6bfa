"""SQL of the overview: every server in few columns, and the costly columns for the lines that are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import func, or_, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.history import search_store, tool_read
from driftwatch.history.doubt_store import restless_tools
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.web.pages import spark
from driftwatch.web.pages.models import FleetRow, LastChange, ProfileLine, ServerLine

# one index look-up a server: the newest change of each, however long the histories are
_LAST = text(
    "SELECT s.id AS server_id, c.id, c.verdict, c.via, c.window_end FROM unnest(CAST(:ids AS bigint[])) AS s(id) "
    "CROSS JOIN LATERAL (SELECT id, verdict, via, window_end FROM change "
    "WHERE server_id = s.id ORDER BY id DESC LIMIT 1) AS c"
)

_FEW: Final = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the URL asks for; an empty string asks for nothing. ``state`` is how a server stands (fleet.Standing)."""

    q: str = ""
    tag: str = ""
    owner: str = ""
    era: str = ""
    state: str = ""


async def rows(
    session: AsyncSession, wanted: Wanted, *, hits: Collection[int] = (), only: int | None = None
) -> list[FleetRow]:
    """Servers that fit, by name, without last change and weeks.

    ``hits``: servers whose tools or fields fit ``q``; ``only``: no other server than this one.
    """
    query: Any = (
        select(Server.id, Server.name, Server.url, Server.owner)
        .add_columns(col(Server.tags), col(Server.interval_seconds), col(Server.mode), col(Server.state))
        .add_columns(col(Server.created_at))
        .where(col(Server.state) != "deleted")
        .order_by(col(Server.name))
    )
    if only is not None:
        query = query.where(col(Server.id) == only)
    if wanted.tag:
        query = query.where(col(Server.tags).contains([wanted.tag]))
    if wanted.owner:
        query = query.where(col(Server.owner) == wanted.owner)
    if wanted.era:
        seen = select(Profile.id).where(
            col(Profile.server_id) == col(Server.id), col(Profile.era) == wanted.era, col(Profile.closed_at).is_(None)
        )
        query = query.where(seen.exists())
    if wanted.q:
        like = search_store.pattern(wanted.q)
        places = (Server.name, Server.url, Server.owner, func.array_to_string(Server.tags, " "))
        query = query.where(or_(*(func.lower(place).like(like) for place in places), col(Server.id).in_(list(hits))))
    servers = [
        ServerLine(key, name, url, owner, tuple(tags), interval, mode, state, created)
        for key, name, url, owner, tags, interval, mode, state, created in (await session.execute(query)).all()
    ]
    profiles = await _profiles(session, {server.id for server in servers})
    return [FleetRow(server, tuple(profiles.get(server.id, ())), None, ()) for server in servers]


async def filled(session: AsyncSession, shown: Sequence[FleetRow]) -> list[FleetRow]:
    """The same rows with their last change and their weeks."""
    ids = [row.server.id for row in shown]
    newest = (await run_sql(session, _LAST, {"ids": ids})).all()
    last = {row.server_id: LastChange(row.id, row.verdict, row.via, row.window_end) for row in newest}
    weeks = await tool_read.weekly_counts(session, ids, weeks=spark.WEEKS)
    return [
        replace(row, last_change=last.get(row.server.id), weeks=tuple(weeks.get(row.server.id, ()))) for row in shown
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


async def _profiles(session: AsyncSession, servers: Collection[int]) -> dict[int, list[ProfileLine]]:
    # a long list of ids costs more than reading every open profile
    few = [col(Profile.server_id).in_(servers)] if len(servers) <= _FEW else []
    query: Any = (
        select(Profile.id, Profile.server_id, Profile.era, ProfileState.state)
        .add_columns(col(ProfileState.tool_count), col(ProfileState.last_poll_at), col(ProfileState.next_due_at))
        .add_columns(col(ProfileState.failing_since), col(ProfileState.failures), col(ProfileState.last_error))
        .outerjoin(ProfileState, col(ProfileState.profile_id) == col(Profile.id))
        .where(col(Profile.closed_at).is_(None), *few)
        .order_by(col(Profile.era).desc(), col(Profile.id))
    )
    unsettled = await restless_tools(session)
    found = defaultdict[int, list[ProfileLine]](list)
    for key, server, era, state, tools, polled, due, since, failures, error in (await session.execute(query)).all():
        if server not in servers:
            continue
        found[server].append(
            ProfileLine(
                id=key,
                server_id=server,
                era=era,
                state=state or "new",
                protocol_version=None,
                server_info=None,
                list_changed_declared=None,
                tool_count=tools,
                last_poll_at=polled,
                next_due_at=due,
                failing_since=since,
                failures=failures or 0,
                last_error=error,
                duration_ms=None,
                polls_survived=0,
                unsettled=tuple(unsettled.get(key, ())),
            )
        )
    return found
