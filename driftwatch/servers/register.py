"""Registration: look at a server, then keep it with its first snapshot as the baseline."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import DriftwatchError
from driftwatch.scheduler import first
from driftwatch.servers import credential_store, detection, store
from driftwatch.servers.authorization import Authorization
from driftwatch.servers.check import check
from driftwatch.servers.errors import UnwatchableError
from driftwatch.servers.model import Registered, ServerSpec
from driftwatch.servers.preview import Look, close_all, look
from driftwatch.servers.sealed import seal_token
from driftwatch.servers.tables import Credential, Server
from driftwatch.web.auth.store import write_audit
from driftwatch.wire.facts import Era
from driftwatch.wire.grants import Token

if TYPE_CHECKING:
    from driftwatch.app import Services

#: registrations of one import that look at their servers at the same time
TOGETHER: Final = 8


async def register(
    services: Services, spec: ServerSpec, *, actor: str, dry_run: bool = False, force: bool = False
) -> Registered:
    """Detect the eras, poll each once, and watch the server from now on; within one poll's deadline.

    ``dry_run`` answers the same and stores nothing. ``force`` keeps a server that cannot be read yet.

    Raises:
        BadServerError: a field is wrong.
        NameTakenError: the name belongs to another server.
        UnwatchableError: nothing could be read (its code is the wire's), without ``force``.
    """
    check(spec, services.settings)
    async with services.db.transaction() as session:
        name = await store.free_name(session, spec)
    way_in = Authorization(services.wire, spec.url, spec.way_in)
    seen, target = await look(services.wire, way_in, spec.eras)
    preview = seen.preview(spec.url)
    if dry_run or (seen.cause is not None and not force):
        await close_all(services.wire, target, seen.sessions)
        if seen.cause is not None and not force:
            raise UnwatchableError(seen.cause)
        return Registered(None, name, preview)
    try:
        server_id, name = await _keep(services, spec, seen, way_in.token, actor)
    except BaseException:
        await close_all(services.wire, target, seen.sessions)
        raise
    return Registered(server_id, name, preview)


async def _keep(services: Services, spec: ServerSpec, seen: Look, token: Token | None, actor: str) -> tuple[int, str]:
    async with services.db.transaction() as session:
        interval = services.settings.interval_seconds if spec.interval_seconds is None else spec.interval_seconds
        server = await store.add_server(session, spec, interval=interval)
        server_id = store.id_of(server)
        if seen.detection.found:
            await store.save_detection(session, server_id, detection.as_json(seen.detection))
        credential = await _keep_credential(session, services, server_id, spec, token)
        await _open_profiles(session, services, server, credential, seen)
        await write_audit(
            session, actor=actor, action="register", subject=f"server/{server_id}", after=store.described(server)
        )
    return server_id, server.name


async def _keep_credential(
    session: AsyncSession, services: Services, server_id: int, spec: ServerSpec, token: Token | None
) -> Credential | None:
    """The credential, with the token that the look has got already."""
    if spec.way_in is None:
        return None
    credential = await credential_store.add_credential(session, services.secrets, server_id, spec.way_in)
    sealed = credential_store.sealed(credential)
    if token is not None and sealed is not None:
        await credential_store.keep_token(session, sealed, token, seal_token(services.secrets, token))
    return credential


async def _open_profiles(
    session: AsyncSession, services: Services, server: Server, credential: Credential | None, seen: Look
) -> None:
    """One profile per era chosen (or found; nothing found: all), each with the poll just made as its first."""
    token = uuid4()
    chosen = None if server.eras is None else frozenset(Era(era) for era in server.eras)
    eras = chosen or seen.detection.found.keys() or frozenset(Era)
    profiles = {
        era: await store.open_profile(session, server, era, credential=credential, token=token) for era in sorted(eras)
    }
    await first.poll(session, services, token, profiles, seen)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of many registrations: ``registered``, or the ``error`` that stopped it."""

    spec: ServerSpec
    registered: Registered | None = None
    error: DriftwatchError | None = None


async def register_many(
    services: Services, specs: Sequence[ServerSpec], *, actor: str, dry_run: bool = False, force: bool = False
) -> list[Outcome]:
    """Register each one by itself, some at a time; answers in the order given. One refusal stops no other."""
    places = asyncio.Semaphore(TOGETHER)

    async def one(spec: ServerSpec) -> Outcome:
        async with places:
            try:
                registered = await register(services, spec, actor=actor, dry_run=dry_run, force=force)
            except DriftwatchError as error:
                return Outcome(spec, error=error)
            return Outcome(spec, registered)

    return list(await asyncio.gather(*(one(spec) for spec in specs)))
