"""One complete poll is written into history: what it changes, exactly once.

Everything happens under the profile's row lock, in the caller's transaction. A poll that was sent before the last
applied one is discarded, so recording the same poll twice is recording it once.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import Snapshot
from driftwatch.capture.said import said
from driftwatch.history import doubt_store, facts, ledger, store
from driftwatch.history.entries import Scene, Written, write_baseline, write_changes
from driftwatch.history.evidence_store import note
from driftwatch.history.ledger import WHOLE_LIST, Constants, Doubt, Poll, Step
from driftwatch.scheduler.tables import ProfileState
from driftwatch.settings import Settings
from driftwatch.wire.facts import Listing


@dataclass(frozen=True, slots=True)
class PolledProfile:
    """The profile that was polled. ``fresh_connection``: the walk did not reuse a connection of an earlier poll."""

    profile_id: int
    fresh_connection: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a poll came to.

    ``confirm_in``: seconds until the profile should be polled on a new connection; None: at its usual time.
    ``settled``: nothing is in doubt, so an equal body or fingerprint is nothing new (else the hot row holds neither).
    ``baseline``: this was the first list. ``discarded``: an older poll than the last applied one, or the server is
    gone; nothing was written.
    """

    changes: tuple[int, ...] = ()
    changesets: tuple[int, ...] = ()
    confirm_in: float | None = None
    settled: bool = True
    baseline: bool = False
    discarded: bool = False


async def record(
    session: AsyncSession, polled: PolledProfile, snapshot: Snapshot, listing: Listing, settings: Settings
) -> Recorded:
    """Apply a complete poll to its profile and to the profile's hot row.

    Raises:
        NotFoundError: there is no such profile.
    """
    state = await store.lock_state(session, polled.profile_id)
    prior = state.last_complete_sent_at
    server_id = await store.lock_server(session, polled.profile_id)
    if server_id is None or (prior is not None and listing.sent_at <= prior):
        return Recorded(discarded=True, settled=state.fingerprint is not None)
    scene = Scene(polled.profile_id, server_id, snapshot, listing, said(listing))
    first = not await store.has_snapshot(session, polled.profile_id)
    before = facts.before(state.model_dump())
    poll = Poll(listing.sent_at, listing.arrived_at, prior, polled.fresh_connection, before)
    step, written = await _apply(session, scene, state, poll, _constants(settings), first=first)
    await note(session, polled.profile_id, listing, first=first)
    store.see(state, listing, snapshot, settled=step.settled)
    session.add(state)
    await session.flush()
    return Recorded(
        changes=written.changes,
        changesets=tuple(sorted(set(written.changesets))),
        confirm_in=_wait(step, settings),
        settled=step.settled,
        baseline=step.baseline,
    )


async def _apply(
    session: AsyncSession, scene: Scene, state: ProfileState, poll: Poll, constants: Constants, *, first: bool
) -> tuple[Step, Written]:
    doubts = await doubt_store.load_doubts(session, scene.profile_id)
    seen = {name: one.sha256 for name, one in scene.snapshot.tools.items()}
    written, anew = Written(), False
    if first:
        step = ledger.begin(seen, doubts, poll, constants)
        if step.baseline:
            await write_baseline(session, scene)
    else:
        of_server = {WHOLE_LIST: doubts.pop(WHOLE_LIST)} if WHOLE_LIST in doubts else {}
        known = await store.known_tools(session, scene.profile_id)
        held = {name: one.sha256 for name, one in known.items()}
        meanings = {one.sha256: one.meaning for one in known.values() if one.sha256 and one.meaning}
        meanings |= {one.sha256: one.meaning for one in scene.snapshot.tools.values()}
        step = ledger.compare(held, seen, doubts, poll, constants, meanings)
        written = await write_changes(session, scene, step.transitions, known)
        spoken = _speaks(scene, state.said_sha256, of_server, poll, constants)
        step, anew = _together(step, spoken), bool(spoken.transitions)
        await doubt_store.put_passed(session, scene.profile_id, poll.arrived_at, step.passed)
        await doubt_store.put_mixed(session, scene.profile_id, poll.arrived_at, step.mixed)
        doubts |= of_server
    if doubts or step.doubts:
        await doubt_store.put_doubts(session, scene.profile_id, step.doubts)
    if anew or WHOLE_LIST not in step.doubts:
        state.said_sha256 = scene.said.sha256
    if step.settled or anew:
        await store.put_snapshot(session, scene.profile_id, scene.snapshot, scene.listing, scene.said)
    return step, written


def _speaks(
    scene: Scene, believed: bytes | None, doubts: Mapping[str, Doubt], poll: Poll, constants: Constants
) -> Step:
    """The same for what the server says of itself: believed at a second look, not while replicas differ in it."""
    now = scene.said.sha256
    return ledger.compare({WHOLE_LIST: believed or now}, {WHOLE_LIST: now}, doubts, poll, constants)


def _together(tools: Step, server: Step) -> Step:
    return replace(
        tools,
        doubts={**tools.doubts, **server.doubts},
        passed={**tools.passed, **server.passed},
        mixed={**tools.mixed, **server.mixed},
        look_again=min(filter(None, (tools.look_again, server.look_again)), default=None),
    )


def _constants(settings: Settings) -> Constants:
    return Constants(timedelta(seconds=min(settings.confirm_seconds)), timedelta(seconds=settings.removal_seconds))


def _wait(step: Step, settings: Settings) -> float | None:
    """Seconds to the second look, spread so that many profiles do not confirm in the same instant."""
    if step.look_again is None:
        return None
    soonest, latest = min(settings.confirm_seconds), max(settings.confirm_seconds)
    return step.look_again.total_seconds() + random.uniform(0, latest - soonest)  # noqa: S311 - a jitter, no secret
