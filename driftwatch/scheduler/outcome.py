"""What a poll comes to: something new goes to history, a failure gets its name and its back-off."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import Snapshot
from driftwatch.errors import DriftwatchError
from driftwatch.history.evidence_store import note, note_restarts
from driftwatch.history.record import PolledProfile, Recorded, record
from driftwatch.scheduler import enqueue
from driftwatch.scheduler.backoff import failure_wait, regular_wait
from driftwatch.scheduler.finish import finish
from driftwatch.scheduler.let_go import let_go_reason, tell_to_let_go
from driftwatch.scheduler.model import Claim, Complete, Failure, Result, describe
from driftwatch.servers import store as servers_store
from driftwatch.settings import Settings
from driftwatch.wire.facts import Listing, Restart

INTERNAL: Final = "internal-error"
#: the server or the way to it is down, or we may not; which eras it speaks is not in question
_NO_QUESTION_OF_ERA: Final = frozenset(
    {"unreachable", "refused", "tls-failed", "timeout", "unauthorized", "forbidden", "rate-limited", "server-error"}
    | {"token-refused", "no-token"}
    | {"blocked-address", "bad-target", "not-serving-tools", "too-large", "too-deep", "cannot-open-secret", INTERNAL}
)


def failed(claim: Claim, error: Exception, duration_ms: float, now: datetime) -> Failure:
    """The outcome of a poll that proves nothing. Errors that are not ours become ``internal-error``."""
    named = error if isinstance(error, DriftwatchError) else None
    code = named.code if named else INTERNAL
    restart_kind = getattr(error, "restart_kind", None)
    return Failure(
        claim=claim,
        code=code,
        error=describe(named) if named else {"code": INTERNAL, "message": f"driftwatch failed: {type(error).__name__}"},
        next_in=failure_wait(
            claim.failures + 1,
            interval=claim.interval,
            retry_after=getattr(error, "retry_after", None),
            random=random.random,
        ),
        duration_ms=duration_ms,
        restart=Restart(now, restart_kind, code) if restart_kind else None,
        lost_session=code == "session-lost",
        detect=code not in _NO_QUESTION_OF_ERA,
    )


def other_server(claim: Claim, listing: Listing) -> bool:
    """True when serverInfo is another one than before: what else the server speaks may have changed with it."""
    return claim.facts is not None and claim.facts.server_info != listing.facts.server_info


async def write(session: AsyncSession, results: Sequence[Result]) -> set[int]:
    """Write how polls ended, with the evidence they brought; answers the profiles whose claim still held."""
    written = await finish(session, results)
    kept = [result for result in results if result.claim.profile_id in written]
    for result in kept:
        if isinstance(result, Failure):
            await note_restarts(session, result.claim.profile_id, [result.restart] if result.restart else [])
            await _let_go(session, result)
        elif result.listing.restarts or result.listing.list_changed_at:
            await note(session, result.claim.profile_id, result.listing)
    await servers_store.detect_again(session, {result.claim.server_id for result in kept if result.detect})
    return written


async def _let_go(session: AsyncSession, failure: Failure) -> None:
    """Tell whoever holds the profile's stream to close it: a server that drains would wait for that."""
    reason = let_go_reason(failure.code, failure.error.get("status"))
    if reason is not None:
        await tell_to_let_go(session, failure.claim.profile_id, reason)


async def record_poll(
    session: AsyncSession,
    settings: Settings,
    claim: Claim,
    listing: Listing,
    snapshot: Snapshot,
    *,
    sealed_session: bytes | None,
    detect: bool = False,
    fresh: bool | None = None,
) -> Recorded:
    """Transaction 1 of a change: history, the assessments to come, when to look again. The claim must be held.

    ``fresh``: the walk used a connection of its own; unless said, it did when it was a second look.
    """
    polled = PolledProfile(claim.profile_id, fresh_connection=claim.confirming if fresh is None else fresh)
    recorded = await record(session, polled, snapshot, listing, settings)
    await enqueue.defer_assessments(session, recorded.changes)
    regular = regular_wait(claim.interval, random=random.random)
    result = Complete(
        claim=claim,
        listing=listing,
        body_sha256=listing.body_sha256 if recorded.settled else None,
        fingerprint=snapshot.fingerprint if recorded.settled else None,
        next_in=regular if recorded.confirm_in is None else recorded.confirm_in,
        unchanged=recorded.settled and not recorded.changes,
        due_reason="schedule" if recorded.confirm_in is None else "confirm",
        detect=detect,
        order=snapshot.order,
        sealed_session=sealed_session,
    )
    await finish(session, [result])
    await servers_store.detect_again(session, [claim.server_id] if detect else [])
    return recorded
