from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from driftwatch.db.engine import Database
from driftwatch.scheduler import finish as finishing
from driftwatch.scheduler import store
from driftwatch.scheduler.claimed import visits
from driftwatch.scheduler.model import Claim, Complete, Failure, Result
from driftwatch.wire.facts import Era, EraFacts, Listing

pytestmark = [pytest.mark.postgres, pytest.mark.oldest_postgres]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FACTS = EraFacts(
    Era.MODERN,
    "2026-07-28",
    {"name": "s\x00\ud800"},
    {"tools": {"listChanged": True}},
    instructions="be \x00 kind",
)


def listing(facts: EraFacts = FACTS) -> Listing:
    return Listing(
        era=facts.era,
        facts=facts,
        sent_at=NOW,
        arrived_at=NOW,
        tools=(b"{}", b"{}"),
        body_sha256=b"b" * 32,
        pages=1,
        size_bytes=4,
        duration_ms=12.5,
        ttl_ms=5000,
        cache_scope="private",
    )


async def claim(db: Database) -> list[Claim]:
    """Claim what is due and load it as a poll does."""
    claims: list[Claim] = []
    async with db.transaction() as session:
        for token, ids in (await store.claim_due(session, limit=1000)).items():
            rows = await store.load_claimed(session, token, ids)
            claims += [c for visit in visits(rows, datetime.now(UTC), lambda: 0.5) for c in visit.claims]
    return claims


async def finish(db: Database, *results: Result) -> set[int]:
    async with db.transaction() as session:
        return await finishing.finish(session, results)


def complete(claim: Claim, **changes: Any) -> Complete:
    made = Complete(claim, listing(), b"b" * 32, b"f" * 32, next_in=60, unchanged=True)
    return replace(made, **changes)


def failure(claim: Claim, code: str = "timeout") -> Failure:
    return Failure(claim, code, {"code": code, "message": "slow"}, next_in=15, duration_ms=30_000)


async def test_a_complete_poll_is_written_with_its_facts(db: Database, seed: Any, query: Any) -> None:
    [profile] = await seed("s")
    [first] = await claim(db)
    assert first.facts is None
    assert first.confirming
    assert await finish(db, complete(first, sealed_session=b"sealed")) == {profile}
    [row] = await query(
        "SELECT *, extract(epoch FROM next_due_at - now()) AS due_in FROM profile_state WHERE profile_id = :id",
        id=profile,
    )
    assert row["state"] == "ok"
    assert row["claim_token"] is None
    assert 58 < row["due_in"] <= 60
    assert (row["body_sha256"], row["fingerprint"], row["session"]) == (b"b" * 32, b"f" * 32, b"sealed")
    assert (row["tool_count"], row["ttl_ms"], row["list_changed_declared"]) == (2, 5000, True)
    await query("UPDATE profile_state SET next_due_at = now()")
    [second] = await claim(db)
    assert second.facts == FACTS
    assert second.last_complete_sent_at == NOW
    assert not second.confirming


async def test_a_batch_is_one_statement_and_counts_polls(db: Database, seed: Any, query: Any) -> None:
    ids = [i for n in range(20) for i in await seed(f"s{n}")]
    claims = await claim(db)
    assert await finish(db, *(complete(c) if c.profile_id % 2 else failure(c) for c in claims)) == set(ids)
    [totals] = await query("SELECT sum(polls) p, sum(unchanged) u, sum(errors) e, max(ms_max) m FROM poll_rollup")
    odd = sum(i % 2 for i in ids)
    assert totals == {"p": 20, "u": odd, "e": 20 - odd, "m": 30_000}


async def test_a_lost_claim_drops_the_result(db: Database, seed: Any, query: Any) -> None:
    await seed("s")
    [lost] = await claim(db)
    await query("UPDATE profile_state SET claimed_until = now() - interval '1 second'")
    [held] = await claim(db)
    assert await finish(db, complete(lost)) == set()
    assert await query("SELECT 1 FROM poll_rollup") == []
    assert await finish(db, complete(held)) == {held.profile_id}


async def test_failures_count_and_recovery_forgets_them(db: Database, seed: Any, query: Any) -> None:
    await seed("s")
    for expected in (1, 2):
        [held] = await claim(db)
        assert held.failures == expected - 1
        await finish(db, failure(held))
        [row] = await query(
            "SELECT state, failures, failing_since, last_error, next_due_at > now() AS later FROM profile_state"
        )
        assert (row["state"], row["failures"], row["later"]) == ("timeout", expected, True)
        await query("UPDATE profile_state SET next_due_at = now()")
    since = row["failing_since"]
    [held] = await claim(db)
    await finish(db, failure(held, "unauthorized"))
    [row] = await query("SELECT failing_since FROM profile_state")
    assert row["failing_since"] == since
    await query("UPDATE profile_state SET next_due_at = now()")
    [held] = await claim(db)
    await finish(db, complete(held))
    [row] = await query("SELECT state, failures, failing_since, last_error FROM profile_state")
    assert row == {"state": "ok", "failures": 0, "failing_since": None, "last_error": None}
    events = await query("SELECT outcome FROM poll_event ORDER BY id")
    assert [e["outcome"] for e in events] == ["timeout", "unauthorized", "ok"]


async def test_whoever_asks_during_a_poll_is_not_overruled(db: Database, seed: Any, query: Any) -> None:
    asked, paused = await seed("asked"), await seed("paused")
    claims = await claim(db)
    ask = "UPDATE profile_state SET next_due_at = :at, due_reason = 'check-now' WHERE profile_id = ANY(:ids)"
    await query(ask, at=NOW, ids=asked)
    await query(ask, at=None, ids=paused)
    await finish(db, *(complete(c) for c in claims))
    rows = await query("SELECT next_due_at, due_reason FROM profile_state ORDER BY profile_id")
    assert [row["next_due_at"] for row in rows] == [NOW, None]
    assert {row["due_reason"] for row in rows} == {"check-now"}


async def test_a_kept_session_survives_polls_and_a_lost_one_is_forgotten(db: Database, seed: Any, query: Any) -> None:
    await seed("s")

    async def after(result: Any) -> tuple[bytes | None, int]:
        [held] = await claim(db)
        await finish(db, result(held))
        [row] = await query("SELECT session, polls_survived FROM profile_state")
        await query("UPDATE profile_state SET next_due_at = now()")
        return row["session"], row["polls_survived"]

    assert await after(lambda c: complete(c, sealed_session=b"one")) == (b"one", 0)
    assert await after(complete) == (b"one", 1)
    assert await after(complete) == (b"one", 2)
    assert await after(failure) == (b"one", 0)
    assert await after(lambda c: replace(failure(c), lost_session=True)) == (None, 0)


async def test_unchanged_facts_are_not_written_again(db: Database, seed: Any, query: Any) -> None:
    await seed("s")
    [first] = await claim(db)
    await finish(db, complete(first))
    await query("UPDATE profile_state SET next_due_at = now(), capabilities = '{\"marker\": 1}'")
    [second] = await claim(db)
    await finish(db, complete(replace(second, facts=FACTS)))
    [row] = await query("SELECT capabilities FROM profile_state")
    assert row["capabilities"] == '{"marker": 1}'


async def test_a_first_failure_of_a_profile_that_was_never_seen(db: Database, seed: Any, query: Any) -> None:
    await seed("s")
    [held] = await claim(db)
    await finish(db, failure(held, "refused"))
    assert [e["outcome"] for e in await query("SELECT outcome FROM poll_event")] == ["refused"]
