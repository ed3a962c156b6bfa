"""One pushed snapshot is taken in as a poll: the same caps, the same doubts, the same transaction.

What differs: nobody claimed it, it dates itself, and the answer says when the sender should look again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import Snapshot
from driftwatch.capture.snapshot import take
from driftwatch.errors import WireError
from driftwatch.history.evidence_store import judge_again
from driftwatch.scheduler import outcome
from driftwatch.scheduler.backoff import regular_wait
from driftwatch.scheduler.claimed import visits
from driftwatch.scheduler.model import Claim, Complete
from driftwatch.scheduler.pushed import store
from driftwatch.scheduler.pushed.errors import BadSnapshotError, NotPushedError
from driftwatch.scheduler.pushed.statement import Dated, Heard, Stated, Statement, dated
from driftwatch.scheduler.store import load_claimed
from driftwatch.servers import store as servers
from driftwatch.servers.changes import PausedError
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings
from driftwatch.wire import messages, restarts
from driftwatch.wire.errors import IncompleteWalkError, TooLargeError
from driftwatch.wire.facts import LATEST_LEGACY, LATEST_MODERN, Era, EraFacts, Listing
from driftwatch.wire.pages import Pages

if TYPE_CHECKING:
    from driftwatch.app import Services

Outcome = Literal["baseline", "changed", "unchanged", "doubted", "discarded"]

#: once the last waiting time is over, so that the coverage surely reaches it
_AFTER: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Read:
    """The pages of a statement as the wire room would hand them on, and what capture makes of them."""

    pages: Pages
    size_bytes: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a pushed snapshot.

    ``look_again_seconds``: walk once more after this long, on a new connection where there is one, and push that;
    None: at the usual time. ``changes``: ids of the changes that are believed now.
    """

    outcome: Outcome
    profile_id: int
    changes: tuple[int, ...] = ()
    look_again_seconds: float | None = None
    repeated: bool = False


async def read(statement: Statement, settings: Settings) -> Read:
    """Check that the pages are one complete list within the caps. Raises BadSnapshotError."""
    size = sum(map(len, statement.pages))
    try:
        pages = _walked(statement.pages, size, settings)
    except WireError as error:
        raise BadSnapshotError(error) from error
    # in a thread: a hostile list of some megabytes takes seconds
    return Read(pages, size, await asyncio.to_thread(take, tuple(pages.tools), era=statement.era))


def _walked(results: Sequence[bytes], size: int, settings: Settings) -> Pages:
    if size > settings.max_body_bytes:
        raise TooLargeError(f"The pages have more than {settings.max_body_bytes} bytes.")
    pages = Pages(settings.max_pages, settings.max_tools)
    cursor: str | None = ""
    for result in results:
        if cursor is None:
            raise IncompleteWalkError(f"Page {pages.count} has no nextCursor, and more pages follow it.")
        messages.check_shape(b"[%s]" % result)  # inside an answer it would be one level deeper as well
        cursor = pages.take(result)
    if cursor is not None:
        raise IncompleteWalkError("The last page has a nextCursor: the walk is not complete.")
    return pages


async def accept(
    session: AsyncSession, services: Services, server_id: int, statement: Statement, seen: Read, received_at: datetime
) -> Taken:
    """Write a snapshot that was read; a repetition is answered as before and does nothing more.

    ``received_at``: the database's time when it arrived.

    Raises:
        BadTimesError, ClockMismatchError: its times cannot be.
        NotPushedError, PausedError, ServerNotFoundError: the server takes no snapshots.
    """
    server = await servers.get_server(session, server_id, lock=True)
    if not server.pushed:
        raise NotPushedError(f"driftwatch polls {server.name} itself.", hint="Register a pushed server beside it.")
    if (before := await store.answered(session, server_id, statement.id)) is not None:
        return Taken(**{**before, "changes": tuple(before["changes"]), "repeated": True})
    if server.state == "paused":
        raise PausedError("The server is paused.", hint="Resume it first.")
    when = dated(statement, received_at)
    claim = await _claim(session, server, statement.era, received_at)
    listing = _listing(claim, statement, seen, when)
    await _note(session, claim.profile_id, when.heard, when.window[1])
    taken = await _write(session, services.settings, claim, listing, statement, seen, when)
    known = statement.facts.capabilities is not None or (claim.facts is not None and bool(claim.facts.capabilities))
    await store.settle(session, claim.profile_id, stated=known)
    await store.remember(session, server_id, statement.id, _remembered(taken))
    return taken


def _remembered(taken: Taken) -> dict[str, Any]:
    kept = asdict(taken)
    del kept["repeated"]
    return {**kept, "changes": list(taken.changes)}


async def _claim(session: AsyncSession, server: Server, era: Era, now: datetime) -> Claim:
    """The right to write a poll of this era, whose profile is opened with its first snapshot."""
    token = uuid4()
    watched = {profile.era: state for profile, state in await servers.watched_profiles(session, servers.id_of(server))}
    if era in watched:
        profile_id = watched[era].profile_id
        await store.take_claim(session, profile_id, token)
        await session.refresh(watched[era])
    else:
        profile_id = await servers.open_profile(session, server, era, credential=None, token=token)
    [visit] = visits(await load_claimed(session, token, [profile_id]), now, lambda: 0.5)
    return visit.claims[0]


def _listing(claim: Claim, statement: Statement, seen: Read, when: Dated) -> Listing:
    start, end = when.window
    facts = _facts(claim, statement.era, statement.facts, seen.pages)
    noticed = () if claim.facts is None else restarts.compare_facts(claim.facts, facts, end)
    modern = statement.era is Era.MODERN
    return Listing(
        era=statement.era,
        facts=facts,
        sent_at=start,
        arrived_at=end,
        tools=tuple(seen.pages.tools),
        body_sha256=seen.pages.sha256,
        pages=seen.pages.count,
        size_bytes=seen.size_bytes,
        duration_ms=(statement.window[1] - statement.window[0]).total_seconds() * 1000,
        ttl_ms=seen.pages.ttl_ms or 0 if modern else seen.pages.ttl_ms,
        cache_scope=seen.pages.cache_scope or "private" if modern else seen.pages.cache_scope,
        restarts=(*when.heard.restarts, *noticed),
    )


def _facts(claim: Claim, era: Era, stated: Stated, pages: Pages) -> EraFacts:
    """What is known of the server: stated now, said in the list itself, or known before."""
    known = claim.facts or EraFacts(era, LATEST_MODERN if era is Era.MODERN else LATEST_LEGACY, None, {})
    in_list = pages.server_info if era is Era.MODERN else None
    return EraFacts(
        era=era,
        protocol_version=stated.protocol_version or known.protocol_version,
        server_info=in_list or stated.server_info or known.server_info,
        capabilities=known.capabilities if stated.capabilities is None else stated.capabilities,
        instructions=known.instructions if stated.instructions is None else stated.instructions,
    )


async def _note(session: AsyncSession, profile_id: int, heard: Heard, at: datetime) -> None:
    """Keep the evidence before anything is judged by it; the profile is locked."""
    if heard.listening is not None:
        await store.note_unheard(session, profile_id, at, heard.listening)
    elif not heard.coverage:
        await store.end_coverage(session, profile_id)
    await store.note_coverage(session, profile_id, heard.coverage)
    await store.note_notifications(session, profile_id, heard.notifications)
    if heard.coverage or heard.notifications:
        await judge_again(session, profile_id)


async def _write(
    session: AsyncSession,
    settings: Settings,
    claim: Claim,
    listing: Listing,
    statement: Statement,
    seen: Read,
    when: Dated,
) -> Taken:
    late = claim.last_complete_sent_at is not None and listing.sent_at <= claim.last_complete_sent_at
    if not claim.confirming and seen.snapshot.fingerprint == claim.fingerprint:
        await outcome.write(session, [_unchanged(claim, listing)])
        again = await _until_covered(session, settings, claim.profile_id, when)
        return Taken("discarded" if late else "unchanged", claim.profile_id, look_again_seconds=again)
    recorded = await outcome.record_poll(
        session, settings, claim, listing, seen.snapshot, sealed_session=None, fresh=statement.fresh
    )
    if recorded.discarded:
        return Taken("discarded", claim.profile_id)
    again = await _until_covered(session, settings, claim.profile_id, when)
    if recorded.confirm_in is not None:
        again = recorded.confirm_in + 2 * when.error.total_seconds()  # both looks are dated with this error
    if recorded.baseline:
        return Taken("baseline", claim.profile_id, look_again_seconds=again)
    settled: Outcome = "changed" if recorded.changes else "unchanged"
    return Taken(settled if recorded.settled else "doubted", claim.profile_id, recorded.changes, again)


def _unchanged(claim: Claim, listing: Listing) -> Complete:
    return Complete(
        claim=claim,
        listing=listing,
        body_sha256=listing.body_sha256,
        fingerprint=claim.fingerprint,
        next_in=regular_wait(claim.interval, random=lambda: 0.5),
        unchanged=True,
    )


async def _until_covered(session: AsyncSession, settings: Settings, profile_id: int, when: Dated) -> float | None:
    """When a sender that listens should tell how far it has listened, so that what it heard can be judged in time."""
    if not any(stretch.ended_by == "open" for stretch in when.heard.coverage):
        return None
    end = await store.last_unjudged(session, profile_id)
    if end is None:
        return None
    lag = timedelta(seconds=settings.announcement_lag_seconds)
    covered = max(stretch.until for stretch in when.heard.coverage)
    left = end + lag + 2 * when.error + _AFTER - covered
    return left.total_seconds() if left > _AFTER else None
