"""SQL of how polls end: a whole batch in one statement. Never commits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.db.types import escape
from driftwatch.scheduler.model import Complete, Failure, Result

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
    "list_order": "bytea",
    "moved": "boolean",
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
    "notified_at": "timestamptz",
    "error": "text",
}

#: seconds after a list_changed at which the list is looked at: some servers notify before they apply
FOLLOW_UPS: Final = (0, 2, 10, 30)

# A look that was sent before its time came does not count as that look.
_FOLLOW_UP = f"""(
    SELECT min(greatest(s.follow_from, g.notified_at) + make_interval(secs => o.after))
    FROM unnest(ARRAY[{", ".join(map(str, FOLLOW_UPS))}]) AS o(after)
    WHERE greatest(s.follow_from, g.notified_at) + make_interval(secs => o.after) > coalesce(g.sent_at, now())
)"""  # noqa: S608 - constants only

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
                           ELSE least(now() + make_interval(secs => g.next_in), {_FOLLOW_UP}) END,
        due_reason = CASE WHEN s.next_due_at IS DISTINCT FROM g.seen_due THEN s.due_reason
                          WHEN {_FOLLOW_UP} < now() + make_interval(secs => g.next_in) THEN 'notification'
                          ELSE g.reason END,
        follow_from = greatest(s.follow_from, g.notified_at),
        failures = CASE WHEN g.ok THEN 0 ELSE s.failures + 1 END,
        failing_since = CASE WHEN g.ok THEN NULL ELSE coalesce(s.failing_since, now()) END,
        last_error = g.error,
        last_complete_sent_at = greatest(g.sent_at, s.last_complete_sent_at),
        body_sha256 = CASE WHEN g.ok THEN g.body ELSE s.body_sha256 END,
        fingerprint = CASE WHEN g.ok THEN g.fingerprint ELSE s.fingerprint END,
        list_order = coalesce(g.list_order, s.list_order),
        order_moves = CASE WHEN NOT g.moved THEN s.order_moves
                           WHEN s.order_moved_at > now() - interval '1 day' THEN s.order_moves + 1 ELSE 1 END,
        order_moved_at = CASE WHEN g.moved THEN now() ELSE s.order_moved_at END,
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
        "list_order": result.order,
        "moved": result.moved,
        "new_session": result.sealed_session,
        "lost_session": False,
        "ttl_ms": listing.ttl_ms,
        "cache_scope": listing.cache_scope,
        "tools": len(listing.tools),
        "notified_at": result.notified_at,
    }
    return row | _facts(result)


def _facts(result: Complete) -> dict[str, Any]:
    """The facts only when they differ: a large serverInfo is not written again with every poll."""
    facts, known = result.listing.facts, result.claim.facts
    if known is not None and facts.beside_session == known.beside_session:
        return {"new_facts": False}
    return {
        "new_facts": True,
        "protocol_version": facts.protocol_version,
        "server_info": None if facts.server_info is None else _json(facts.server_info),
        "instructions": None if facts.instructions is None else escape(facts.instructions),
        "capabilities": _json(facts.capabilities),
        "declared": facts.list_changed_declared,
    }


def _failure(result: Failure) -> dict[str, Any]:
    return {
        "ok": False,
        "unchanged": False,
        "state": result.code,
        "duration_ms": float(result.duration_ms),
        "moved": False,
        "lost_session": result.lost_session,
        "new_facts": False,
        "error": _json(result.error),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, default=dict)
