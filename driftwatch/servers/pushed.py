"""Registering a server that nobody polls: found by its name, or made."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import ConflictError
from driftwatch.servers import store
from driftwatch.servers.check import check_pushed
from driftwatch.servers.errors import NameTakenError
from driftwatch.servers.model import ServerSpec
from driftwatch.settings import Settings
from driftwatch.web.auth.store import write_audit


class PolledNameError(ConflictError):
    """The name belongs to a server that driftwatch polls itself."""

    code = "not-pushed"


@dataclass(frozen=True, slots=True)
class Found:
    """A pushed server. ``interval_seconds``: how often a snapshot is expected."""

    server_id: int
    interval_seconds: int
    created: bool


async def find_or_register(session: AsyncSession, settings: Settings, spec: ServerSpec, *, actor: str) -> Found:
    """The pushed server of this name, as it is; made with the other fields of ``spec`` when there is none.

    Raises BadServerError, PolledNameError.
    """
    check_pushed(spec, settings)
    while (known := await store.server_named(session, spec.name or "")) is None:
        interval = settings.interval_seconds if spec.interval_seconds is None else spec.interval_seconds
        try:
            server = await store.add_server(session, spec, interval=interval)
        except NameTakenError:  # somebody else made it in this moment
            continue
        server_id = store.id_of(server)
        after = store.described(server)
        await write_audit(session, actor=actor, action="register", subject=f"server/{server_id}", after=after)
        return Found(server_id, interval, created=True)
    if not known.pushed:
        raise PolledNameError(
            f"driftwatch polls a server named {known.name!r} itself.", hint="Choose another name for the pushed one."
        )
    return Found(store.id_of(known), known.interval_seconds, created=False)
