"""Which eras a server speaks, found anew once a day, after a failure of the protocol, or when serverInfo changed.

Not per poll: every detection leaves a session on a stateful server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from driftwatch.errors import WireError
from driftwatch.scheduler.model import Claim, Visit
from driftwatch.servers import detection
from driftwatch.servers.authorization import Authorization
from driftwatch.servers.sealed import open_session
from driftwatch.wire.eras import detect
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import Era, EraFacts, Session, Target
from driftwatch.wire.session import close_session

if TYPE_CHECKING:
    from driftwatch.app import Services


@dataclass(frozen=True, slots=True)
class Found:
    """What the detection before this visit's polls said; empty when there was none."""

    facts: Mapping[Era, EraFacts] = field(default_factory=dict)
    problems: Mapping[Era, WireError] = field(default_factory=dict)

    def for_poll(self, claim: Claim, known: EraFacts | None) -> EraFacts:
        """The facts to poll with. Raises the WireError that makes polling pointless.

        "Not spoken" is left to the poll itself when the era was once seen: only what a client meets counts.
        """
        found, problem = self.facts.get(claim.era), self.problems.get(claim.era)
        if found is not None:
            return found
        if known is not None and (problem is None or isinstance(problem, EraNotSpokenError)):
            return known
        raise problem or EraNotSpokenError(f"The server was not found to speak the {claim.era} era.")


async def detect_if_due(services: Services, visit: Visit, way_in: Authorization) -> Found:
    """Detect when it is time, keep what was found, open profiles for new eras.

    Raises what :meth:`Authorization.target` does.
    """
    if visit.detected:
        return Found()
    target = await way_in.target()
    answer = await detect(services.wire, target, visit.eras)
    if await way_in.renew(answer.failure):
        target = await way_in.target()
        answer = await detect(services.wire, target, visit.eras)
    if answer.found:
        try:
            async with services.db.transaction() as session:
                await detection.keep(session, visit.server_id, answer)
        except BaseException:  # the server was deleted meanwhile, or Postgres is away: nobody keeps the new session
            await _close(services, target, _opened(answer.found))
            raise
    await _close_unused(services, visit, target, _opened(answer.found))
    return Found(answer.found, answer.problems)


def _opened(found: Mapping[Era, EraFacts]) -> Session | None:
    """The session that the detection left on a stateful server."""
    return found[Era.LEGACY].session if Era.LEGACY in found else None


async def _close_unused(services: Services, visit: Visit, target: Target, opened: Session | None) -> None:
    """A new legacy session replaces the kept one; without a poll to use it, it is closed itself."""
    if opened is None:
        return
    claim = next((claim for claim in visit.claims if claim.era is Era.LEGACY), None)
    await _close(services, target, opened if claim is None else open_session(services.secrets, claim.sealed_session))


async def _close(services: Services, target: Target, session: Session | None) -> None:
    if session is not None:
        await close_session(services.wire, target, session)


def known_facts(services: Services, claim: Claim) -> EraFacts | None:
    """What earlier polls learned, with the kept session; else what the last detection found; None: nothing."""
    if claim.facts is None:
        return claim.detected
    return replace(claim.facts, session=open_session(services.secrets, claim.sealed_session))
