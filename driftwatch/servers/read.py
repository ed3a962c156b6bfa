"""The read side of servers for API and pages: servers with their open profiles, in pages by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import exists, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers import credential_store, store
from driftwatch.servers.credential_state import CredentialView
from driftwatch.servers.tables import Profile, Server


@dataclass(frozen=True, slots=True)
class ServerView:
    """A server with its open profiles and how its credential stands."""

    server: Server
    profiles: tuple[tuple[Profile, ProfileState], ...] = ()
    credential: CredentialView | None = None


@dataclass(frozen=True, slots=True)
class ServerFilter:
    """Which servers: all conditions must hold; ``text`` is looked for in name, URL and owner."""

    tag: str | None = None
    owner: str | None = None
    state: str | None = None
    era: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ServerPage:
    """Some servers in the order of their ids; ``next``: continue after this id, None at the end."""

    items: tuple[ServerView, ...] = field(default=())
    next: int | None = None


async def load_server(session: AsyncSession, server_id: int) -> ServerView:
    """One server. Raises ServerNotFoundError."""
    return (await _with_profiles(session, [await store.get_server(session, server_id)]))[0]


async def list_servers(
    session: AsyncSession, wanted: ServerFilter | None = None, *, after: int | None = None, limit: int = 100
) -> ServerPage:
    """Servers that fit, by key."""
    wanted = wanted or ServerFilter()
    query = select(Server).where(col(Server.state) != "deleted").order_by(col(Server.id)).limit(limit + 1)
    if after is not None:
        query = query.where(col(Server.id) > after)
    if wanted.tag is not None:
        query = query.where(col(Server.tags).contains([wanted.tag]))
    if wanted.owner is not None:
        query = query.where(col(Server.owner) == wanted.owner)
    if wanted.state is not None:
        query = query.where(col(Server.state) == wanted.state)
    if wanted.era is not None:
        open_profile = exists().where(
            col(Profile.server_id) == Server.id, col(Profile.era) == wanted.era, col(Profile.closed_at).is_(None)
        )
        query = query.where(open_profile)
    if wanted.text:
        places = (Server.name, Server.url, Server.owner)
        query = query.where(or_(*(col(place).icontains(wanted.text, autoescape=True) for place in places)))
    found = (await session.exec(query)).all()
    shown = found[:limit]
    more = shown[-1].id if len(found) > limit else None
    return ServerPage(tuple(await _with_profiles(session, shown)), more)


async def _with_profiles(session: AsyncSession, servers: Sequence[Server]) -> list[ServerView]:
    ids = [store.id_of(server) for server in servers]
    profiles: defaultdict[int, list[tuple[Profile, ProfileState]]] = defaultdict(list)
    joined = (
        select(Profile, ProfileState)
        .join(ProfileState, col(ProfileState.profile_id) == col(Profile.id))
        .where(col(Profile.server_id).in_(ids), col(Profile.closed_at).is_(None))
        .order_by(col(Profile.id))
    )
    for profile, state in await session.exec(joined):
        profiles[profile.server_id].append((profile, state))
    states = {i: [state.state for _, state in profiles[i]] for i in ids}
    credentials = await credential_store.credential_views(session, states)
    return [ServerView(server, tuple(profiles[i]), credentials.get(i)) for i, server in zip(ids, servers, strict=True)]
