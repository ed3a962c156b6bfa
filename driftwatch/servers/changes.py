"""What people do to a watched server: edit, pause, resume, check now, delete. One transaction, one audit row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import ConflictError
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers import credential_store, store
from driftwatch.servers.check import check
from driftwatch.servers.credential import Credential as Secret
from driftwatch.servers.credential import identity
from driftwatch.servers.credential_store import credential_of
from driftwatch.servers.errors import CredentialNeededError
from driftwatch.servers.model import ServerPatch, Unset
from driftwatch.servers.preview import close_all
from driftwatch.servers.sealed import open_session, target_of
from driftwatch.servers.secrets import SealError
from driftwatch.servers.tables import Credential, Profile, Server
from driftwatch.web.auth.store import write_audit
from driftwatch.wire.facts import Era, Session, Target
from driftwatch.wire.urls import checked_url, origin

if TYPE_CHECKING:
    from driftwatch.app import Services


class PushedError(ConflictError):
    """Nobody polls a server whose snapshots are pushed, and nothing of how it would be reached can be set."""

    code = "server-pushed"


class PausedError(ConflictError):
    """A paused server is not polled, not even on demand."""

    code = "server-paused"


@dataclass(frozen=True, slots=True)
class Farewell:
    """Kept sessions by profile, to end once their profiles are gone for good; and the target as it was."""

    target: Target
    sessions: Mapping[int, Session]

    @classmethod
    async def prepare(
        cls, session: AsyncSession, services: Services, server: Server, credential: Credential | None
    ) -> Farewell:
        """Read the sessions before they are wiped. What no key opens any more cannot be ended."""
        watched = await _watched(session, server)
        try:
            target = target_of(services.secrets, server.url, credential_store.sealed(credential))
            kept = {state.profile_id: open_session(services.secrets, state.session) for _, state in watched}
        except SealError:
            return cls(Target(server.url), {})
        return cls(target, {i: one for i, one in kept.items() if one is not None})

    async def of_those_gone(self, session: AsyncSession, server: Server) -> Farewell:
        """Only the sessions of profiles that are not watched any more."""
        still = {state.profile_id for _, state in await _watched(session, server)}
        return Farewell(self.target, {i: one for i, one in self.sessions.items() if i not in still})

    async def say(self, services: Services) -> None:
        """End the sessions; never fails."""
        await close_all(services.wire, self.target, list(self.sessions.values()))


async def patch(services: Services, server_id: int, change: ServerPatch, *, actor: str) -> Server:
    """Change what is set in ``change``; the rest stays.

    Another URL, a credential where there was none (or none where there was one), and one that names somebody else or
    asks for other scopes, is another view of the server: its profiles are succeeded by new ones, whose first poll is
    their baseline. A rotated secret keeps the profiles.

    Raises:
        BadServerError: a field is wrong.
        CredentialNeededError: the URL moves to another origin and the credential was not sent again.
        PushedError: the server is not reached by us, so there is no way to it to be set.
        NameTakenError, ServerNotFoundError.
    """
    check(change, services.settings)
    async with services.db.transaction() as session:
        server = await store.get_server(session, server_id, lock=True)
        _refuse_to_reach(server, change)
        before = store.described(server)
        credential = await credential_of(session, server_id)
        _refuse_to_send_elsewhere(server, change, credential)
        farewell = await Farewell.prepare(session, services, server, credential)
        moved = not isinstance(change.url, Unset) and change.url != server.url
        if not isinstance(change.name, Unset):
            await store.rename(session, server, change.name)
        _assign(server, change)
        await store.touch(session, server)
        before_it = None if credential is None else credential.settings or {}
        credential = await _credential(session, services, server_id, credential, change.way_in)
        other_identity = identity(before_it) != identity(None if credential is None else credential.settings or {})
        await (_succeed_all if moved or other_identity else _fit_eras)(session, server, credential)
        await _fit_times(session, server, change)
        farewell = await farewell.of_those_gone(session, server)
        await write_audit(
            session,
            actor=actor,
            action="edit",
            subject=f"server/{server_id}",
            before=before,
            after=store.described(server) | ({} if isinstance(change.way_in, Unset) else {"credential": "changed"}),
        )
    await farewell.say(services)
    return server


async def _fit_times(session: AsyncSession, server: Server, change: ServerPatch) -> None:
    """A new interval or secret is tried at once; a paused server stays silent."""
    if server.state == "paused":
        await store.make_not_due(session, store.id_of(server))
    elif not isinstance(change.interval_seconds, Unset) or not isinstance(change.way_in, Unset):
        await store.make_due(session, store.id_of(server), "schedule")


def _refuse_to_reach(server: Server, change: ServerPatch) -> None:
    """The form of the page sends every field, so what is as it was passes."""
    sets_url = not isinstance(change.url, Unset) and change.url != server.url
    sets_headers = not isinstance(change.headers, Unset) and bool(change.headers)
    sets_eras = not isinstance(change.eras, Unset) and change.eras is not None
    if server.pushed and (sets_url or sets_headers or sets_eras):
        raise PushedError(
            "Snapshots of this server are pushed: it has no URL, no headers and no chosen eras here.",
            hint="Tell the agent instead; see docs/agent.md.",
        )


def _refuse_to_send_elsewhere(server: Server, change: ServerPatch, credential: Credential | None) -> None:
    if isinstance(change.url, Unset) or credential is None or not isinstance(change.way_in, Unset):
        return
    if origin(checked_url(change.url)) != origin(checked_url(server.url)):
        raise CredentialNeededError(
            "The new URL belongs to another origin; the stored credential is not sent there.",
            hint="Send the credential again, or null to remove it.",
        )


def _assign(server: Server, change: ServerPatch) -> None:
    for name in ("url", "interval_seconds", "owner", "listen", "mode", "transitive"):
        value = getattr(change, name)
        if not isinstance(value, Unset):
            setattr(server, name, value)
    if not isinstance(change.tags, Unset):
        server.tags = list(change.tags)
    if not isinstance(change.eras, Unset):
        server.eras = None if change.eras is None else sorted(change.eras)


async def _credential(
    session: AsyncSession,
    services: Services,
    server_id: int,
    old: Credential | None,
    wanted: Secret | Unset | None,
) -> Credential | None:
    """The credential from now on."""
    if isinstance(wanted, Unset):
        return old
    if wanted is None:
        await credential_store.wipe_credentials(session, server_id)
        return None
    if old is None:
        return await credential_store.add_credential(session, services.secrets, server_id, wanted)
    await credential_store.replace_credential(session, services.secrets, old, wanted)
    return old


async def _succeed_all(session: AsyncSession, server: Server, credential: Credential | None) -> None:
    """Close every profile and open its successor; the eras are looked for anew."""
    watched = {profile.era: state.profile_id for profile, state in await _watched(session, server)}
    await store.close_profiles(session, watched.values())
    for era in sorted(watched if server.eras is None else server.eras):
        await _open(session, server, era, credential, succeeds=watched.get(era))
    await store.detect_again(session, [store.id_of(server)])


async def _fit_eras(session: AsyncSession, server: Server, credential: Credential | None) -> None:
    """Close profiles of eras no longer chosen; open those of chosen ones, or of every one found."""
    watched = {profile.era: state.profile_id for profile, state in await _watched(session, server)}
    found = (server.detection or {}).get("found", {})
    wanted = set(found) | watched.keys() if server.eras is None else set(server.eras)
    await store.close_profiles(session, [watched[era] for era in watched.keys() - wanted])
    for era in sorted(wanted - watched.keys()):
        await _open(session, server, era, credential)


async def _watched(session: AsyncSession, server: Server) -> Sequence[tuple[Profile, ProfileState]]:
    return await store.watched_profiles(session, store.id_of(server))


async def _open(
    session: AsyncSession, server: Server, era: str, credential: Credential | None, succeeds: int | None = None
) -> None:
    await store.open_profile(session, server, Era(era), credential=credential, succeeds=succeeds)


async def pause(services: Services, server_id: int, *, actor: str) -> Server:
    """Stop polling until resumed. A poll in flight is still written."""
    return await _set_state(services, server_id, "paused", actor, "pause")


async def resume(services: Services, server_id: int, *, actor: str) -> Server:
    """Poll again, starting now."""
    return await _set_state(services, server_id, "active", actor, "resume")


async def _set_state(services: Services, server_id: int, state: str, actor: str, action: str) -> Server:
    async with services.db.transaction() as session:
        server = await store.get_server(session, server_id, lock=True)
        if server.state == state:
            return server
        server.state = state
        await store.touch(session, server)
        if state == "paused":
            await store.make_not_due(session, server_id)
        else:
            await store.make_due(session, server_id, "schedule")
        await write_audit(session, actor=actor, action=action, subject=f"server/{server_id}")
        return server


async def check_now(services: Services, server_id: int, *, actor: str) -> datetime:
    """Let every profile be polled at once, whatever its interval or back-off; answers when that was asked.

    The poll uses the same claim as every other: one that is in flight is followed by another one. Raises PausedError.
    """
    async with services.db.transaction() as session:
        server = await store.get_server(session, server_id, lock=True)
        if server.state == "paused":
            raise PausedError("The server is paused.", hint="Resume it first.")
        if server.pushed:
            raise PushedError(
                "Snapshots of this server are pushed; driftwatch cannot look for itself.",
                hint="Run its agent with --once, or wait for its next snapshot.",
            )
        await store.make_due(session, server_id, "check-now")
        await write_audit(session, actor=actor, action="check-now", subject=f"server/{server_id}")
    return services.clock.now()


async def delete(services: Services, server_id: int, *, actor: str) -> None:
    """Forget the server: secrets and sessions at once, its data later in pieces, its name free again now."""
    async with services.db.transaction() as session:
        server = await store.get_server(session, server_id, lock=True)
        before: dict[str, Any] = store.described(server)
        credential = await credential_of(session, server_id)
        farewell = await Farewell.prepare(session, services, server, credential)
        await store.bury(session, server)
        await write_audit(session, actor=actor, action="delete", subject=f"server/{server_id}", before=before)
    await farewell.say(services)
