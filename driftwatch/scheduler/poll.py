"""One batch of polls: every claimed profile of every server in it, each ending in exactly one outcome.

Follow a poll from here: wire.walk → capture.take → history.record → (job) assess.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from driftwatch import telemetry
from driftwatch.capture.snapshot import take
from driftwatch.errors import DriftwatchError
from driftwatch.scheduler import eras, outcome, store
from driftwatch.scheduler.backoff import regular_wait
from driftwatch.scheduler.claimed import visits
from driftwatch.scheduler.flush import Flush
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.model import Claim, Complete, Failure, Result, Visit
from driftwatch.servers import authorization
from driftwatch.servers.authorization import Authorization
from driftwatch.servers.sealed import open_session, seal_session, target_of
from driftwatch.wire.errors import UnauthorizedError
from driftwatch.wire.facts import EraFacts, Listing, Session, Target
from driftwatch.wire.session import close_session
from driftwatch.wire.walk import walk

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)


async def run(services: Services, hosts: HostLimits, token: UUID, profile_ids: Sequence[int]) -> None:
    """Poll the profiles that still carry ``token``. One bad server never keeps the others from their outcome.

    When the worker stops, what is done is written and the other claims are given back: nothing is lost, so the job
    has nothing to say about it.
    """
    async with services.db.transaction() as session:
        await store.renew(session, token, profile_ids)
        rows = await store.load_claimed(session, token, profile_ids)
    batch = visits(rows, services.clock.now(), random.random)
    polled = [claim.profile_id for visit in batch for claim in visit.claims]
    try:
        async with (
            Flush(services.db, token, polled, Orphans(services, batch).close) as flush,
            asyncio.TaskGroup() as group,
        ):
            for visit in batch:
                group.create_task(ServerPoll(services, visit, flush).run(hosts))
    except asyncio.CancelledError:
        log.info("polls given back", profiles=len(polled))


class ServerPoll:
    """All claimed profiles of one server, polled one after the other."""

    def __init__(self, services: Services, visit: Visit, flush: Flush) -> None:
        self._services = services
        self._visit = visit
        self._flush = flush

    async def run(self, hosts: HostLimits) -> None:
        """End every claim with an outcome."""
        async with hosts.place(self._visit.host):
            try:
                way_in = authorization.of_stored(
                    self._services, self._visit.url, self._visit.credential, interval=self._visit.claims[0].interval
                )
                found = await eras.detect_if_due(self._services, self._visit, way_in)
                target = await way_in.target()
            except Exception as error:
                for claim in self._visit.claims:
                    self._flush.add(self._failed(claim, error, time.monotonic()))
                return
            for claim in self._visit.claims:
                target = await self._poll(claim, way_in, target, found)

    async def _poll(self, claim: Claim, way_in: Authorization, target: Target, found: eras.Found) -> Target:
        """Poll one profile; answers the target for the next one, with another token if this one was refused."""
        with structlog.contextvars.bound_contextvars(profile=claim.profile_id):
            self._count_lateness(claim)
            with telemetry.POLL_SECONDS.time():
                return await self._poll_once(claim, way_in, target, found)

    def _count_lateness(self, claim: Claim) -> None:
        if claim.due_at is not None:
            late = self._services.clock.now() - claim.due_at
            telemetry.POLL_LATENESS.observe(max(late.total_seconds(), 0.0))

    async def _poll_once(self, claim: Claim, way_in: Authorization, target: Target, found: eras.Found) -> Target:
        started = time.monotonic()
        used: Session | None = None
        try:
            facts = found.for_poll(claim, eras.known_facts(self._services, claim))
            used = facts.session
            try:
                listing = await self._walk(claim, target, facts)
            except UnauthorizedError as error:
                if not await way_in.renew(error):
                    raise
                target = await way_in.target()
                listing = await self._walk(claim, target, facts)
            used = listing.session
            result = await self._look(claim, listing)
        except Exception as error:  # a fault of ours is a failed poll too, and never the batch's end
            await self._close_unkept(claim, target, used)
            self._flush.add(self._failed(claim, error, started))
        else:
            telemetry.POLLS.labels("different" if result is None else "unchanged").inc()
            if result is not None:
                self._flush.add(result)
        return target

    async def _walk(self, claim: Claim, target: Target, facts: EraFacts) -> Listing:
        wire, survived = self._services.wire, claim.polls_survived
        return await walk(wire, target, facts, polls_survived=survived, fresh_connection=claim.confirming)

    async def _close_unkept(self, claim: Claim, target: Target, used: Session | None) -> None:
        """A failed poll keeps no new session: end the one that the detection or the walk had opened."""
        if used is not None and self._is_new(claim, used):
            await close_session(self._services.wire, target, used)

    def _is_new(self, claim: Claim, session: Session) -> bool:
        return session != open_session(self._services.secrets, claim.sealed_session)

    async def _look(self, claim: Claim, listing: Listing) -> Result | None:
        """The outcome of a complete walk; None when it was written here, because there was something new in it."""
        if claim.saw(listing):
            return self._unchanged(claim, listing, claim.fingerprint)
        # in a thread: a hostile list of some megabytes takes seconds, in which other polls must go on
        snapshot = await asyncio.to_thread(take, listing.tools, era=listing.era)
        if claim.holds(snapshot, listing):
            return self._unchanged(claim, listing, snapshot.fingerprint, order=snapshot.order)
        sealed = self._sealed(claim, listing)
        detect = self._visit.detected and outcome.other_server(claim, listing)
        async with self._services.db.transaction() as session:
            if not await store.renew(session, claim.token, [claim.profile_id]):
                return self._unchanged(claim, listing, None)  # the claim is lost: the flush drops it
            await outcome.record_poll(
                session, self._services.settings, claim, listing, snapshot, sealed_session=sealed, detect=detect
            )
        self._flush.done(claim.profile_id)
        return None

    def _unchanged(
        self, claim: Claim, listing: Listing, fingerprint: bytes | None, *, order: bytes | None = None
    ) -> Complete:
        return Complete(
            claim=claim,
            listing=listing,
            body_sha256=listing.body_sha256,
            fingerprint=fingerprint,
            next_in=regular_wait(claim.interval, random=lambda: self._visit.spread),
            unchanged=True,
            detect=self._visit.detected and outcome.other_server(claim, listing),
            order=order,
            sealed_session=self._sealed(claim, listing),
        )

    def _sealed(self, claim: Claim, listing: Listing) -> bytes | None:
        """The session to keep when it is another one than the stored."""
        if listing.session is None or not self._is_new(claim, listing.session):
            return None
        return seal_session(self._services.secrets, listing.session)

    def _failed(self, claim: Claim, error: Exception, started: float) -> Failure:
        if not isinstance(error, DriftwatchError):
            log.error("poll crashed", profile=claim.profile_id, exc_info=error)
        failure = outcome.failed(claim, error, (time.monotonic() - started) * 1000, self._services.clock.now())
        telemetry.POLLS.labels(failure.code).inc()
        return failure


class Orphans:
    """Closes sessions that a poll opened and nobody keeps, because the poll's claim was lost."""

    def __init__(self, services: Services, batch: Sequence[Visit]) -> None:
        self._services = services
        self._visits = {claim.profile_id: visit for visit in batch for claim in visit.claims}

    async def close(self, result: Result) -> None:
        """End the session that this result would have stored."""
        if not isinstance(result, Complete) or result.sealed_session is None or result.listing.session is None:
            return
        visit = self._visits[result.claim.profile_id]
        target = target_of(self._services.secrets, visit.url, visit.credential)
        await close_session(self._services.wire, target, result.listing.session)
