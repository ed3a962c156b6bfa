"""SQL of the scheduler: who is due, who holds what, what was left over. Never commits; how polls end is finish.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.scheduler.batches import Due, group
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Credential, Profile, Server

#: a claim outlives the time in the queue
CLAIM_SECONDS: Final = 60.0
#: a running poll renews its claim every few seconds; after a crash the profile is due again this soon
RUNNING_SECONDS: Final = 30.0

_FREE = "(s.claim_token IS NULL OR s.claimed_until < now())"

_DUE = text(f"""
SELECT s.profile_id, p.server_id, s.host, s.next_due_at AS due_at
FROM profile_state s JOIN profile p ON p.id = s.profile_id
WHERE s.next_due_at <= now() AND {_FREE}
ORDER BY s.next_due_at, s.profile_id LIMIT :limit
FOR UPDATE OF s SKIP LOCKED
""")  # noqa: S608 - constants only

# Profiles of one server drift apart after a failure or a confirmation; this brings them together again.
_SIBLINGS = text(f"""
SELECT s.profile_id, p.server_id, s.host, s.next_due_at AS due_at
FROM profile_state s JOIN profile p ON p.id = s.profile_id JOIN server v ON v.id = p.server_id
WHERE p.server_id = ANY(:servers) AND s.profile_id <> ALL(:taken) AND s.failures = 0
  AND s.next_due_at <= now() + make_interval(secs => v.interval_seconds / 2.0) AND {_FREE}
FOR UPDATE OF s SKIP LOCKED
""")  # noqa: S608 - constants only

_TAKE = text("""
UPDATE profile_state s SET claim_token = g.token, claimed_until = now() + make_interval(secs => :lease)
FROM unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS g(id, token)
WHERE s.profile_id = g.id
""")

# Whoever locks several profiles locks them in their order; anything else could deadlock.
_OURS = """
WITH ours AS (
    SELECT profile_id FROM profile_state WHERE profile_id = ANY(:ids) AND claim_token = :token
    ORDER BY profile_id FOR UPDATE
)
"""

_RENEW = text(f"""{_OURS}
UPDATE profile_state s SET claimed_until = now() + make_interval(secs => :lease)
FROM ours WHERE s.profile_id = ours.profile_id
RETURNING s.profile_id
""")  # noqa: S608 - constants only

_RELEASE = text(f"""{_OURS}
UPDATE profile_state s SET claim_token = NULL, claimed_until = NULL
FROM ours WHERE s.profile_id = ours.profile_id
""")  # noqa: S608 - constants only

# A clock that was wrong can leave a profile due in years. Longest honest waits: two intervals, or a day's Retry-After.
_RESCUE = text("""
WITH lost AS (
    SELECT s.profile_id FROM profile_state s
    JOIN profile p ON p.id = s.profile_id JOIN server v ON v.id = p.server_id
    WHERE s.next_due_at > now() + CASE
        WHEN s.failures > 0 THEN interval '25 hours'
        ELSE make_interval(secs => 2.0 * v.interval_seconds + 60) END
    FOR UPDATE OF s SKIP LOCKED
)
UPDATE profile_state s SET next_due_at = now() FROM lost WHERE s.profile_id = lost.profile_id
RETURNING s.profile_id
""")

_QUEUED = text("""
SELECT count(*) FROM (
    SELECT 1 FROM jobs.procrastinate_jobs WHERE status = 'todo' AND queue_name = 'poll' LIMIT :limit
) AS waiting
""")

# Claims and states carry the truth, so jobs that ended badly or whose worker died are only litter.
_LITTER = text("""
DELETE FROM jobs.procrastinate_jobs j
WHERE j.status IN ('failed', 'aborted', 'cancelled')
   OR (j.status = 'doing' AND NOT EXISTS (
        SELECT 1 FROM jobs.procrastinate_workers w
        WHERE w.id = j.worker_id AND w.last_heartbeat > now() - interval '60 seconds'))
""")

# A todo job, or one whose worker still shows signs of life, will see to its changes itself.
_UNASSESSED = text("""
SELECT c.id FROM change c
WHERE c.state = 'recorded' AND c.recorded_at < now() - make_interval(secs => :age) AND NOT EXISTS (
    SELECT 1 FROM jobs.procrastinate_jobs j LEFT JOIN jobs.procrastinate_workers w ON w.id = j.worker_id
    WHERE j.task_name = 'assess' AND j.args -> 'change_ids' @> to_jsonb(c.id)
      AND (j.status = 'todo' OR (j.status = 'doing' AND w.last_heartbeat > now() - interval '20 seconds')))
ORDER BY c.id LIMIT :limit
""")

_TURN = text("SELECT pg_try_advisory_xact_lock(hashtext('driftwatch ' || :name))")


async def claim_due(session: AsyncSession, *, limit: int, lease: float = CLAIM_SECONDS) -> dict[UUID, list[int]]:
    """Take at most ``limit`` due profiles (and their siblings), oldest first: claim token → profile ids of a batch."""
    due = [Due(**row) for row in (await run_sql(session, _DUE, {"limit": limit})).mappings()]
    if not due:
        return {}
    taken = {"servers": list({d.server_id for d in due}), "taken": [d.profile_id for d in due]}
    due += [Due(**row) for row in (await run_sql(session, _SIBLINGS, taken)).mappings()]
    batches = {uuid4(): ids for ids in group(due)}
    ids = [profile_id for batch in batches.values() for profile_id in batch]
    tokens = [token for token, batch in batches.items() for _ in batch]
    await run_sql(session, _TAKE, {"ids": ids, "tokens": tokens, "lease": lease})
    return batches


async def renew(
    session: AsyncSession, token: UUID, profile_ids: Sequence[int], *, lease: float = RUNNING_SECONDS
) -> set[int]:
    """Keep the claim for another ``lease`` seconds; answers which of the profiles are still ours."""
    rows = await run_sql(session, _RENEW, {"ids": list(profile_ids), "token": token, "lease": lease})
    return set(rows.scalars())


async def release(session: AsyncSession, token: UUID, profile_ids: Sequence[int]) -> None:
    """Give claims back unpolled: the profiles are due at once, for anybody."""
    await run_sql(session, _RELEASE, {"ids": list(profile_ids), "token": token})


async def rescue(session: AsyncSession) -> list[int]:
    """Make due what a wrong clock had put off beyond reason."""
    return list((await run_sql(session, _RESCUE)).scalars())


async def queued_polls(session: AsyncSession, *, limit: int) -> int:
    """Poll jobs that wait for a worker, counted up to ``limit``."""
    return int((await run_sql(session, _QUEUED, {"limit": limit})).scalar_one())


async def sweep_jobs(session: AsyncSession) -> None:
    """Delete jobs that failed, were aborted, or whose worker died."""
    await run_sql(session, _LITTER)


async def unassessed(session: AsyncSession, *, older_than: float, limit: int) -> list[int]:
    """Changes recorded more than ``older_than`` seconds ago that nobody is assessing, oldest first."""
    return list((await run_sql(session, _UNASSESSED, {"age": older_than, "limit": limit})).scalars())


async def take_turn(session: AsyncSession, name: str) -> bool:
    """Whether this transaction alone does the work called ``name``; held until it ends."""
    return bool((await run_sql(session, _TURN, {"name": name})).scalar_one())


Row = tuple[ProfileState, Profile, Server, Credential | None]


async def load_claimed(session: AsyncSession, token: UUID, profile_ids: Sequence[int]) -> list[Row]:
    """The profiles of a batch that still carry ``token``, with their server and credential, in profile order."""
    query = (
        select(ProfileState, Profile, Server, Credential)
        .join(Profile, col(Profile.id) == col(ProfileState.profile_id))
        .join(Server, col(Server.id) == col(Profile.server_id))
        .outerjoin(Credential, col(Credential.id) == col(Profile.credential_id))
        .where(col(ProfileState.profile_id).in_(profile_ids), col(ProfileState.claim_token) == token)
        .order_by(col(ProfileState.profile_id))
    )
    return [(state, profile, server, credential) for state, profile, server, credential in await session.exec(query)]
