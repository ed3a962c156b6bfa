"""Which streams should be held: where the server says that it announces changes and people let us listen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftwatch.scheduler.claimed import facts_of_state
from driftwatch.scheduler.let_go import let_go_reason
from driftwatch.scheduler.streams.store import Row
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.credential_store import sealed
from driftwatch.servers.detection import facts_of
from driftwatch.servers.sealed import open_session, target_of
from driftwatch.servers.secrets import SealError, SecretBox
from driftwatch.wire.facts import Era, EraFacts, Target
from driftwatch.wire.walk import STARTUP_NOISE


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stream to hold. Two that are equal are the same stream; ``noise_until`` says nothing about that."""

    profile_id: int
    target: Target
    facts: EraFacts
    noise_until: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to hold, and the profiles that we do not listen to, with the reason."""

    wanted: dict[int, Wanted]
    off: dict[int, str]


def plan(rows: Collection[Row], box: SecretBox) -> Plan:
    """What follows from the state of the profiles."""
    wanted: dict[int, Wanted] = {}
    off: dict[int, str] = {}
    for row in rows:
        state = row[0]
        reason = _reason(row)
        try:
            found = None if reason else _wanted(row, box)
        except SealError:
            found, reason = None, "sealed"
        if found is not None:
            wanted[state.profile_id] = found
        elif reason:
            off[state.profile_id] = reason
    return Plan(wanted, off)


def _reason(row: Row) -> str | None:
    """Why nothing is held, in order of weight; None: hold one."""
    state, _, server, _ = row
    if server.listen != "auto":
        return "switched-off"
    if not state.list_changed_declared:
        return "not-declared"
    return let_go_reason(state.state, (state.last_error or {}).get("status")) if state.failures else None


def _wanted(row: Row, box: SecretBox) -> Wanted | None:
    """None: there is no session yet; the next poll opens one."""
    state, profile, server, credential = row
    era = Era(profile.era)
    detected = facts_of(server.detection, era)
    session = open_session(box, state.session) or (None if detected is None else detected.session)
    facts = facts_of_state(state, era, session)
    if facts is None or (era is Era.LEGACY and session is None):
        return None
    target = target_of(box, server.url, sealed(credential))
    return Wanted(state.profile_id, target, _identity(facts), _noise_until(state, era))


def _identity(facts: EraFacts) -> EraFacts:
    """Only what the stream depends on: new instructions are no reason to open another one."""
    return EraFacts(facts.era, facts.protocol_version, None, {}, session=facts.session)


def _noise_until(state: ProfileState, era: Era) -> datetime | None:
    """The end of the start-up noise of a session that the last poll opened."""
    if era is Era.MODERN or state.polls_survived or state.last_complete_sent_at is None:
        return None
    return state.last_complete_sent_at + timedelta(seconds=STARTUP_NOISE.total_seconds())
