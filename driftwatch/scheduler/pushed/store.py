"""SQL of pushed snapshots: what was answered, what was heard, and who has not been heard of. Never commits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text, update
from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.history.evidence import Listening as ListeningRow
from driftwatch.history.evidence import Notification, StreamInterval
from driftwatch.scheduler.pushed.statement import Listening, Stretch
from driftwatch.scheduler.store import RUNNING_SECONDS
from driftwatch.scheduler.tables import PushedSnapshot

#: repetitions are known for longer than the oldest window that is taken
REMEMBERED_DAYS: Final = 2
#: the poll state of a profile whose snapshots stopped coming
OVERDUE: Final = "no-snapshots"

_TAKE = text("""
UPDATE profile_state SET claim_token = :token, claimed_until = now() + make_interval(secs => :lease)
WHERE profile_id = :profile
""")

_FORGET = text("""
DELETE FROM pushed_snapshot WHERE server_id = :server AND received_at < now() - make_interval(days => :days)
""")

# Nobody polls the profile; and what nobody stated of the server is not known, which is not the same as not declared.
_SETTLE = text("""
UPDATE profile_state SET next_due_at = NULL,
    list_changed_declared = CASE WHEN :stated THEN list_changed_declared END
WHERE profile_id = :profile
""")

_UNJUDGED = text("""
SELECT max(window_end) FROM change
WHERE profile_id = :profile AND (announcement IS NULL OR announcement = 'pending')
""")

# As if polls had failed since the first snapshot that did not come: then everything that tells of failures tells of it.
_OVERDUE = text("""
WITH late AS (
    SELECT s.profile_id FROM profile_state s
    JOIN profile p ON p.id = s.profile_id JOIN server v ON v.id = p.server_id
    WHERE v.pushed AND v.state = 'active' AND p.closed_at IS NULL AND s.state <> :state
      AND s.last_poll_at < now() - make_interval(secs => 2.0 * v.interval_seconds)
    ORDER BY s.profile_id FOR UPDATE OF s SKIP LOCKED
), told AS (
    UPDATE profile_state s SET state = :state, failures = greatest(s.failures, :failures), last_error = :error,
        failing_since = coalesce(s.failing_since, s.last_poll_at + make_interval(secs => v.interval_seconds))
    FROM late, profile p, server v
    WHERE s.profile_id = late.profile_id AND p.id = s.profile_id AND v.id = p.server_id
    RETURNING s.profile_id
)
INSERT INTO poll_event (profile_id, outcome, detail) SELECT profile_id, :state, :error FROM told
RETURNING profile_id
""")


async def take_claim(session: AsyncSession, profile_id: int, token: UUID) -> None:
    """Hold the right to write this profile's poll; its row must be locked."""
    await run_sql(session, _TAKE, {"profile": profile_id, "token": token, "lease": RUNNING_SECONDS})


async def answered(session: AsyncSession, server_id: int, push_id: str) -> Mapping[str, Any] | None:
    """What was answered to this snapshot when it came first; None: it has not come yet."""
    row = await session.get(PushedSnapshot, (server_id, push_id))
    return None if row is None else row.answer


async def remember(session: AsyncSession, server_id: int, push_id: str, answer: Mapping[str, Any]) -> None:
    """Keep an answer for repetitions, and forget those too old to be repeated."""
    session.add(PushedSnapshot(server_id=server_id, id=push_id, answer=dict(answer)))
    await session.flush()
    await run_sql(session, _FORGET, {"server": server_id, "days": REMEMBERED_DAYS})


async def settle(session: AsyncSession, profile_id: int, *, stated: bool) -> None:
    """After a poll was written: it is not due again. ``stated``: the server's capabilities are known."""
    await run_sql(session, _SETTLE, {"profile": profile_id, "stated": stated})


async def last_unjudged(session: AsyncSession, profile_id: int) -> datetime | None:
    """The end of the last window that still waits for evidence."""
    found: datetime | None = (await run_sql(session, _UNJUDGED, {"profile": profile_id})).scalar_one()
    return found


async def note_coverage(session: AsyncSession, profile_id: int, stretches: Sequence[Stretch]) -> None:
    """Keep when the sender listened: a stretch that overlaps the open one extends it, another one follows it."""
    for stretch in stretches:
        query = select(StreamInterval).where(StreamInterval.profile_id == profile_id, StreamInterval.ended_by == "open")
        held = (await session.exec(query.order_by(col(StreamInterval.acked).desc()).limit(1))).first()
        known = None if held is None else held.verified_until or held.acked
        if held is not None and known is not None and stretch.start > known:
            held.ended_by, held.ended_why = "us", "not-continued"
            session.add(held)
            held = None
        row = held or StreamInterval(profile_id=profile_id, acked=stretch.start)
        row.verified_until = max(stretch.until, row.verified_until or stretch.until)
        row.ended_by, row.ended_why = stretch.ended_by, stretch.why
        session.add(row)
        await session.flush()
        await note_listening(session, profile_id, stretch.start, "ok")


async def end_coverage(session: AsyncSession, profile_id: int) -> None:
    """End what the sender does not continue any more."""
    query = update(StreamInterval).where(
        col(StreamInterval.profile_id) == profile_id, col(StreamInterval.ended_by) == "open"
    )
    await session.exec(query.values(ended_by="us", ended_why="not-continued"))


async def note_unheard(session: AsyncSession, profile_id: int, at: datetime, listening: Listening) -> None:
    """Keep why nothing can be heard."""
    await end_coverage(session, profile_id)
    await note_listening(session, profile_id, at, listening.state, listening.reason)


async def note_listening(
    session: AsyncSession, profile_id: int, at: datetime, state: str, reason: str | None = None
) -> None:
    """Whether we can listen from now on; a row only when that changes."""
    query = select(ListeningRow).where(ListeningRow.profile_id == profile_id).order_by(col(ListeningRow.id).desc())
    last = (await session.exec(query.limit(1))).first()
    if last is None or (last.state, last.reason) != (state, reason):
        session.add(ListeningRow(profile_id=profile_id, at=at, state=state, reason=reason))
        await session.flush()


async def note_notifications(session: AsyncSession, profile_id: int, times: Sequence[datetime]) -> None:
    """Keep what the sender heard on its session."""
    session.add_all(Notification(profile_id=profile_id, at=at, source="stream") for at in times)
    await session.flush()


async def mark_overdue(session: AsyncSession) -> list[int]:
    """Let profiles count as not watched, and not listened to, whose snapshots stopped coming; answers the new ones."""
    error = {
        "code": OVERDUE,
        "message": "no snapshot has been pushed for two intervals",
        "hint": "Is the agent running, and can it reach driftwatch? It says on its standard error what it meets.",
    }
    values = {"state": OVERDUE, "failures": 3, "error": json.dumps(error)}
    late = list((await run_sql(session, _OVERDUE, values)).scalars())
    now: datetime = (await session.exec(select(func.clock_timestamp()))).one()
    for profile_id in late:
        await note_unheard(session, profile_id, now, Listening("off", OVERDUE))
    return late
