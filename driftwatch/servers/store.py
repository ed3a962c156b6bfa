"""SQL of the servers room: servers and profiles. Never commits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import func, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers import credential_store
from driftwatch.servers.errors import NameTakenError, ServerNotFoundError
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.tables import Credential, Profile, Server
from driftwatch.wire.facts import Era
from driftwatch.wire.urls import checked_url, origin

#: a default name gets a number when it is taken; nobody registers one host this often without naming it
MOST_NUMBERED: Final = 1000

_LOCK_PROFILES = text("""
SELECT 1 FROM profile_state s JOIN profile p ON p.id = s.profile_id
WHERE p.server_id = :server ORDER BY s.profile_id FOR UPDATE OF s
""")

_MAKE_DUE = text("""
UPDATE profile_state s SET next_due_at = clock_timestamp(), due_reason = :reason
FROM profile p JOIN server v ON v.id = p.server_id
WHERE p.id = s.profile_id AND p.server_id = :server AND p.closed_at IS NULL AND NOT v.pushed
RETURNING s.profile_id
""")

_NOT_DUE = text("""
UPDATE profile_state s SET next_due_at = NULL
FROM profile p WHERE p.id = s.profile_id AND p.server_id = :server
""")

# Without its claim an in-flight poll can no longer write; a waiting difference is forgotten, not judged.
_CLOSE = text("""
WITH closed AS (
    UPDATE profile SET closed_at = now() WHERE id = ANY(:ids) AND closed_at IS NULL RETURNING id
), dropped AS (
    DELETE FROM candidate WHERE profile_id = ANY(:ids)
)
UPDATE profile_state SET next_due_at = NULL, claim_token = NULL, claimed_until = NULL, session = NULL
WHERE profile_id = ANY(:ids)
""")


#: what stands for the host of a server that nobody connects to
NO_HOST: Final = "pushed"


def host_of(url: str) -> str:
    """host:port: what a batch and its limit keep together."""
    _, host, port = origin(checked_url(url))
    return f"{host}:{port}"


async def get_server(session: AsyncSession, server_id: int, *, lock: bool = False) -> Server:
    """The server, locked for a change when asked. Raises ServerNotFoundError; a tombstone is not found.

    Its profiles are locked before it, as polls do: the other order could deadlock with one.
    """
    if lock:
        await run_sql(session, _LOCK_PROFILES, {"server": server_id})
    query = select(Server).where(col(Server.id) == server_id, col(Server.state) != "deleted")
    server = (await session.exec(query.with_for_update() if lock else query)).first()
    if server is None:
        raise ServerNotFoundError(server_id)
    return server


async def server_named(session: AsyncSession, name: str) -> Server | None:
    """The server of this name."""
    return (await session.exec(select(Server).where(col(Server.name) == name))).first()


async def free_name(session: AsyncSession, spec: ServerSpec) -> str:
    """The name to register under: the given one, or one made from the URL's host. Raises NameTakenError."""
    if spec.name is not None:
        if await server_named(session, spec.name) is not None:
            raise _taken(spec.name)
        return spec.name
    base = origin(checked_url(spec.url))[1]
    candidates = [base, *(f"{base}-{n}" for n in range(2, MOST_NUMBERED))]
    taken = set(await session.exec(select(Server.name).where(col(Server.name).in_(candidates))))
    free = next((name for name in candidates if name not in taken), None)
    if free is None:
        raise NameTakenError(f"{MOST_NUMBERED} servers are named after {base}.", hint="Give this one a name.")
    return free


async def add_server(session: AsyncSession, spec: ServerSpec, *, interval: int) -> Server:
    """A new server row under the first free name. Raises NameTakenError.

    Two registrations may find the same name free; the one that comes second here looks for another.
    """
    columns = {
        "url": spec.url,
        "owner": spec.owner,
        "tags": list(spec.tags),
        "interval_seconds": interval,
        "eras": None if spec.eras is None else sorted(spec.eras),
        "listen": spec.listen,
        "mode": spec.mode,
        "transitive": spec.transitive,
        "pushed": spec.pushed,
        "state": "active",
    }
    while True:
        row = insert(Server).values(name=await free_name(session, spec), **columns)
        added = (
            await session.exec(row.on_conflict_do_nothing(index_elements=["name"]).returning(col(Server.id)))
        ).first()
        if added is not None:
            return await session.get_one(Server, added[0])


async def rename(session: AsyncSession, server: Server, name: str) -> None:
    """Give the server another name. Raises NameTakenError."""
    server.name = name
    session.add(server)
    try:
        async with session.begin_nested():
            await session.flush()
    except IntegrityError:
        raise _taken(name) from None


def _taken(name: str) -> NameTakenError:
    return NameTakenError(f"A server named {name!r} is watched already.", hint="Choose another name.")


async def open_profile(
    session: AsyncSession,
    server: Server,
    era: Era,
    *,
    credential: Credential | None,
    succeeds: int | None = None,
    token: UUID | None = None,
) -> int:
    """A new profile, due at once (or claimed under ``token``); answers its id."""
    profile = Profile(server_id=id_of(server), era=era, succeeds_profile_id=succeeds)
    if credential is not None:
        profile.credential_id = credential.id
        profile.scopes = list((credential.settings or {}).get("scopes", ()))
    session.add(profile)
    await session.flush()
    if profile.id is None:
        raise TypeError("a flushed profile has an id")
    host = NO_HOST if server.pushed else host_of(server.url)
    state = ProfileState(profile_id=profile.id, host=host, due_reason="first", claim_token=token)
    session.add(state)
    await session.flush()
    now = func.now()
    due = {"next_due_at": now} if token is None else {"next_due_at": now, "claimed_until": now + text("'1 minute'")}
    await session.exec(update(ProfileState).where(col(ProfileState.profile_id) == profile.id).values(**due))
    await session.refresh(state)
    return profile.id


async def watched_profiles(session: AsyncSession, server_id: int) -> Sequence[tuple[Profile, ProfileState]]:
    """The server's open profiles with their state, oldest first."""
    query = (
        select(Profile, ProfileState)
        .join(ProfileState, col(ProfileState.profile_id) == col(Profile.id))
        .where(col(Profile.server_id) == server_id, col(Profile.closed_at).is_(None))
        .order_by(col(Profile.id))
    )
    return [(profile, state) for profile, state in await session.exec(query)]


async def close_profiles(session: AsyncSession, profile_ids: Collection[int]) -> None:
    """Stop polling these profiles for good; their history stays."""
    if profile_ids:
        await run_sql(session, _CLOSE, {"ids": list(profile_ids)})


async def make_due(session: AsyncSession, server_id: int, reason: str) -> list[int]:
    """Let every open profile of the server be polled now; answers their ids."""
    return list((await run_sql(session, _MAKE_DUE, {"server": server_id, "reason": reason})).scalars())


async def make_not_due(session: AsyncSession, server_id: int) -> None:
    """Let no profile of the server be polled."""
    await run_sql(session, _NOT_DUE, {"server": server_id})


async def save_detection(session: AsyncSession, server_id: int, detection: Mapping[str, Any]) -> None:
    """Keep what an era detection found, and when."""
    values = {"detection": dict(detection), "detected_at": func.now()}
    await session.exec(update(Server).where(col(Server.id) == server_id).values(**values))


async def detect_again(session: AsyncSession, server_ids: Collection[int]) -> None:
    """Let the next poll of these servers find their eras anew."""
    if server_ids:
        await session.exec(update(Server).where(col(Server.id).in_(server_ids)).values(detected_at=None))


async def touch(session: AsyncSession, server: Server) -> None:
    """Write the server's changed fields and when that was."""
    session.add(server)
    await session.flush()
    await session.exec(update(Server).where(col(Server.id) == server.id).values(updated_at=func.now()))


async def bury(session: AsyncSession, server: Server) -> None:
    """Make the server a tombstone: secrets wiped, sessions forgotten, profiles closed, the name free."""
    server_id = id_of(server)
    await close_profiles(session, [state.profile_id for _, state in await watched_profiles(session, server_id)])
    await credential_store.wipe_credentials(session, server_id)
    server.name, server.state, server.detection = f"{server.name} (deleted {server_id})", "deleted", None
    session.add(server)
    await session.flush()
    await session.exec(update(Server).where(col(Server.id) == server_id).values(deleted_at=func.now()))


def id_of(server: Server) -> int:
    """The id of a stored server."""
    if server.id is None:
        raise TypeError("a stored server has an id")
    return server.id


def described(server: Server) -> dict[str, Any]:
    """What the audit log keeps of a server: no secrets."""
    names = (
        "name",
        "url",
        "owner",
        "tags",
        "interval_seconds",
        "eras",
        "listen",
        "mode",
        "transitive",
        "pushed",
        "state",
    )
    return {name: getattr(server, name) for name in names}
