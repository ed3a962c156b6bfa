"""Rows of a claimed batch → visits: one per server, with everything its polls need to know."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, TypeVar

from driftwatch.scheduler.backoff import Random
from driftwatch.scheduler.model import Claim, Visit
from driftwatch.scheduler.store import Row
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.credential_store import sealed
from driftwatch.servers.detection import facts_of
from driftwatch.servers.tables import Profile, Server
from driftwatch.wire.facts import Era, EraFacts, Session

T = TypeVar("T")

DETECT_EVERY: Final = timedelta(days=1)
#: servers drop sessions that idle this long, so losing one then says nothing about a restart
SESSION_IDLE: Final = timedelta(minutes=25)


def visits(rows: Iterable[Row], now: datetime, random: Random) -> list[Visit]:
    """Group the rows by server. ``now`` is the database's time."""
    by_server = sorted(rows, key=lambda row: (row[1].server_id, row[1].id or 0))
    grouped = groupby(by_server, key=lambda row: row[1].server_id)
    return [_visit(list(members), now, random()) for _, members in grouped]


def _visit(rows: list[Row], now: datetime, spread: float) -> Visit:
    state, _, server, credential = rows[0]
    return Visit(
        server_id=_known(server.id),
        url=server.url,
        host=state.host,
        eras=None if server.eras is None else frozenset(Era(era) for era in server.eras),
        detected=server.detected_at is not None and now - server.detected_at < DETECT_EVERY,
        spread=spread,
        claims=tuple(_claim(state, profile, server, now) for state, profile, server, _ in rows),
        credential=sealed(credential),
    )


def _claim(state: ProfileState, profile: Profile, server: Server, now: datetime) -> Claim:
    idle_too_long = state.last_poll_at is not None and now - state.last_poll_at > SESSION_IDLE
    return Claim(
        profile_id=state.profile_id,
        server_id=profile.server_id,
        era=Era(profile.era),
        token=_known(state.claim_token),
        due_at=state.next_due_at,
        due_reason=state.due_reason,
        interval=server.interval_seconds,
        failures=state.failures,
        state=state.state,
        facts=facts_of_state(state, Era(profile.era)),
        detected=facts_of(server.detection, Era(profile.era)),
        last_complete_sent_at=state.last_complete_sent_at,
        polls_survived=0 if idle_too_long else state.polls_survived,
        body_sha256=state.body_sha256,
        fingerprint=state.fingerprint,
        said=state.said_sha256,
        order=state.list_order,
        sealed_session=state.session,
    )


def facts_of_state(state: ProfileState, era: Era, session: Session | None = None) -> EraFacts | None:
    """What the last complete poll learned of the server; None before the first."""
    if state.protocol_version is None:
        return None
    known = (state.protocol_version, state.server_info, state.capabilities or {}, state.instructions)
    return EraFacts(era, *known, session=session)


def _known(value: T | None) -> T:
    if value is None:
        raise TypeError("a claimed row has no such column")
    return value
