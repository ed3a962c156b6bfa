"""The poll that a registration makes itself: its outcome is written like any other poll's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.scheduler import outcome, store
from driftwatch.scheduler.claimed import visits
from driftwatch.scheduler.finish import finish
from driftwatch.servers.sealed import seal_session
from driftwatch.wire.errors import UnreachableError
from driftwatch.wire.facts import Era

if TYPE_CHECKING:
    from driftwatch.app import Services
    from driftwatch.servers.preview import Look


async def poll(session: AsyncSession, services: Services, token: UUID, profiles: Mapping[Era, int], seen: Look) -> None:
    """Write what a look saw as the first poll of these just opened profiles, claimed under ``token``."""
    rows = await store.load_claimed(session, token, list(profiles.values()))
    now = services.clock.now()
    for visit in visits(rows, now, lambda: 0.5):
        for claim in visit.claims:
            sight = seen.seen.get(claim.era)
            if sight is None:
                error = seen.problems.get(claim.era) or UnreachableError("The server could not be read yet.")
                await finish(session, [outcome.failed(claim, error, 0.0, now)])
                continue
            kept = sight.listing.session
            sealed = None if kept is None else seal_session(services.secrets, kept)
            await outcome.record_poll(
                session, services.settings, claim, sight.listing, sight.snapshot, sealed_session=sealed
            )
