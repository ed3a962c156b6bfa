"""All SQL of the scheduler: who is due, who holds what, and how polls end. Never commits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.db.types import escape
from driftwatch.scheduler.batches import Due, group
from driftwatch.scheduler.model import Complete, Failure, Result
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

_RENEW = text("""
UPDATE profile_state SET claimed_until = now() + make_interval(secs => :lease)
WHERE profile_id = ANY(:ids) AND claim_token = :token
RETURNING profile_id
""")

_RELEASE = text("""
UPDATE profile_state SET claim_token = NULL, claimed_until = NULL
WHERE profile_id = ANY(:ids) AND claim_token = :token
""")

# A clock that was wrong can leave a profile due in years. Longest honest waits: two intervals, or a day's Retry-After.
_RESCUE = text("""
UPDATE profile_state s SET next_due_at = now()
FROM profile p JOIN server v ON v.id = p.server_id
WHERE p.id = s.profile_id AND s.next_due_at > now() + CASE
    WHEN s.failures > 0 THEN interval '25 hours'
    ELSE make_interval(secs => 2.0 * v.interval_seconds + 60) END
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

#: columns of one poll's outcome as they travel to the database in one statement
_COLUMNS: Final = {
    "id": "bigint",
    "token": "uuid",
    "ok": "boolean",
    "unchanged": "boolean",
    "state": "text",
    "seen_due": "timestamptz",
    "next_in": "float8",
    "reason": "text",
    "sent_at": "timestamptz",
    "duration_ms": "float8",
    "body": "bytea",
    "fingerprint": "bytea",
    "new_session": "bytea",
    "lost_session": "boolean",
    "new_facts": "boolean",
    "protocol_version": "text",
    "server_info": "text",
    "instructions": "text",
    "capabilities": "text",
    "declared": "boolean",
    "ttl_ms": "bigint",
    "cache_scope": "text",
    "tools": "bigint",
    "error": "text",
}

_FINISH = text(f"""
WITH g AS (
    SELECT * FROM unnest({", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in _COLUMNS.items())})
    AS g({", ".join(_COLUMNS)})
), locked AS (
    SELECT s.profile_id, s.state AS was FROM profile_state s JOIN g ON g.id = s.profile_id
    WHERE s.claim_token = g.token ORDER BY s.profile_id FOR UPDATE OF s
), finished AS (
    UPDATE profile_state s SET
        claim_token = NULL, claimed_until = NULL, last_poll_at = now(), duration_ms = g.duration_ms, state = g.state,
        next_due_at = CASE WHEN s.next_due_at IS DISTINCT FROM g.seen_due THEN s.next_due_at
                           ELSE now() + make_interval(secs => g.next_in) END,
        due_reason = CASE WHEN s.next_due_at IS DISTINCT FROM g.seen_due THEN s.due_reason ELSE g.reason END,
        failures = CASE WHEN g.ok THEN 0 ELSE s.failures + 1 END,
        failing_since = CASE WHEN g.ok THEN NULL ELSE coalesce(s.failing_since, now()) END,
        last_error = g.error,
        last_complete_sent_at = greatest(g.sent_at, s.last_complete_sent_at),
        body_sha256 = CASE WHEN g.ok THEN g.body ELSE s.body_sha256 END,
        fingerprint = CASE WHEN g.ok THEN g.fingerprint ELSE s.fingerprint END,
        session = CASE WHEN g.lost_session THEN NULL ELSE coalesce(g.new_session, s.session) END,
        polls_survived = CASE WHEN NOT g.ok OR g.new_session IS NOT NULL THEN 0 ELSE s.polls_survived + 1 END,
        protocol_version = CASE WHEN g.new_facts THEN g.protocol_version ELSE s.protocol_version END,
        server_info = CASE WHEN g.new_facts THEN g.server_info ELSE s.server_info END,
        instructions = CASE WHEN g.new_facts THEN g.instructions ELSE s.instructions END,
        capabilities = CASE WHEN g.new_facts THEN g.capabilities ELSE s.capabilities END,
        list_changed_declared = CASE WHEN g.new_facts THEN g.declared ELSE s.list_changed_declared END,
        ttl_ms = CASE WHEN g.ok THEN g.ttl_ms ELSE s.ttl_ms END,
        cache_scope = CASE WHEN g.ok THEN g.cache_scope ELSE s.cache_scope END,
        tool_count = CASE WHEN g.ok THEN g.tools ELSE s.tool_count END
    FROM g JOIN locked ON locked.profile_id = g.id
    WHERE s.profile_id = g.id
    RETURNING s.profile_id
), events AS (
    INSERT INTO poll_event (profile_id, outcome, detail)
    SELECT g.id, g.state, g.error FROM g JOIN locked ON locked.profile_id = g.id WHERE locked.was <> g.state
), counted AS (
    INSERT INTO poll_rollup AS r (profile_id, day, polls, unchanged, errors, ms_sum, ms_max)
    SELECT g.id, (now() AT TIME ZONE 'UTC')::date, 1, g.unchanged::int, (NOT g.ok)::int, g.duration_ms, g.duration_ms
    FROM g JOIN locked ON locked.profile_id = g.id
    ON CONFLICT (profile_id, day) DO UPDATE SET
        polls = r.polls + 1, unchanged = r.unchanged + excluded.unchanged, errors = r.errors + excluded.errors,
        ms_sum = r.ms_sum + excluded.ms_sum, ms_max = greatest(r.ms_max, excluded.ms_max)
)
SELECT profile_id FROM finished
""")  # noqa: S608 - column names are ours


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


async def finish(session: AsyncSession, results: Sequence[Result]) -> set[int]:
    """Write how polls ended, one statement, rows locked in profile order; answers whose claim still held.

    A result whose claim was lost is dropped. A due time that somebody set during the poll stays.
    """
    if not results:
        return set()
    rows = [_row(result) for result in sorted(results, key=lambda r: r.claim.profile_id)]
    columns = {name: [row.get(name) for row in rows] for name in _COLUMNS}
    return set((await run_sql(session, _FINISH, columns)).scalars())


def _row(result: Result) -> Mapping[str, Any]:
    claim = result.claim
    common = {
        "id": claim.profile_id,
        "token": claim.token,
        "seen_due": claim.due_at,
        "next_in": float(result.next_in),
        "reason": result.due_reason,
    }
    return common | (_complete(result) if isinstance(result, Complete) else _failure(result))


def _complete(result: Complete) -> dict[str, Any]:
    listing = result.listing
    row = {
        "ok": True,
        "unchanged": result.unchanged,
        "state": "ok",
        "sent_at": listing.sent_at,
        "duration_ms": float(listing.duration_ms),
        "body": result.body_sha256,
        "fingerprint": result.fingerprint,
        "new_session": result.sealed_session,
        "lost_session": False,
        "ttl_ms": listing.ttl_ms,
        "cache_scope": listing.cache_scope,
        "tools": len(listing.tools),
    }
    return row | _facts(result)


def _facts(result: Complete) -> dict[str, Any]:
    """The facts only when they differ: a large serverInfo is not written again with every poll."""
    facts, known = result.listing.facts, result.claim.facts
    if known is not None and _comparable(facts) == _comparable(known):
        return {"new_facts": False}
    return {
        "new_facts": True,
        "protocol_version": facts.protocol_version,
        "server_info": None if facts.server_info is None else _json(facts.server_info),
        "instructions": None if facts.instructions is None else escape(facts.instructions),
        "capabilities": _json(facts.capabilities),
        "declared": facts.list_changed_declared,
    }


def _comparable(facts: Any) -> tuple[Any, ...]:
    return (facts.protocol_version, facts.server_info, facts.instructions, facts.capabilities)


def _failure(result: Failure) -> dict[str, Any]:
    return {
        "ok": False,
        "unchanged": False,
        "state": result.code,
        "duration_ms": float(result.duration_ms),
        "lost_session": result.lost_session,
        "new_facts": False,
        "error": _json(result.error),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, default=dict)
