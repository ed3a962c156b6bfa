from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID, uuid4

import pytest

from driftwatch.db.engine import Database
from driftwatch.scheduler import enqueue, store

pytestmark = [pytest.mark.postgres, pytest.mark.oldest_postgres]


async def claim(db: Database, limit: int = 1000) -> dict[UUID, list[int]]:
    async with db.transaction() as session:
        return await store.claim_due(session, limit=limit)


async def claimed_ids(db: Database) -> list[int]:
    return sorted(i for ids in (await claim(db)).values() for i in ids)


async def test_due_profiles_are_claimed_and_others_are_not(db: Database, seed: Any, query: Any) -> None:
    due = await seed("due")
    await seed("later", due_in=600)
    paused = await seed("paused")
    await query("UPDATE profile_state SET next_due_at = NULL WHERE profile_id = ANY(:ids)", ids=paused)
    assert await claimed_ids(db) == due


async def test_two_ticks_at_once_never_claim_a_profile_twice(db: Database, seed: Any) -> None:
    ids = [i for n in range(60) for i in await seed(f"s{n}", eras=("modern", "legacy"), host=f"h{n % 7}.test:443")]
    rounds = await asyncio.gather(*(claim(db, limit=30) for _ in range(8)))
    counted = Counter(i for batches in rounds for batch in batches.values() for i in batch)
    assert set(counted.values()) == {1}
    counted.update(await claimed_ids(db))
    assert sorted(counted) == sorted(ids)
    assert set(counted.values()) == {1}


async def test_an_expired_claim_is_simply_due_again(db: Database, seed: Any, query: Any) -> None:
    ids = await seed("s")
    assert await claimed_ids(db) == ids
    assert await claimed_ids(db) == []
    await query("UPDATE profile_state SET claimed_until = now() - interval '1 second'")
    assert await claimed_ids(db) == ids


async def test_the_other_profile_of_a_server_comes_along_when_it_is_nearly_due(
    db: Database, seed: Any, query: Any
) -> None:
    both = await seed("s", eras=("modern", "legacy"))
    later = "UPDATE profile_state SET next_due_at = now() + interval '20 seconds' WHERE profile_id = :id"
    await query(later, id=both[1])
    assert list((await claim(db)).values()) == [both]


async def test_a_failing_profile_does_not_come_along(db: Database, seed: Any, query: Any) -> None:
    both = await seed("s", eras=("modern", "legacy"))
    await query(
        "UPDATE profile_state SET next_due_at = now() + interval '20 seconds', failures = 1 WHERE profile_id = :id",
        id=both[1],
    )
    assert list((await claim(db)).values()) == [both[:1]]


async def test_the_limit_takes_the_oldest(db: Database, seed: Any) -> None:
    young, old = await seed("young", due_in=-1), await seed("old", due_in=-100)
    assert list((await claim(db, limit=1)).values()) == [old]
    assert list((await claim(db, limit=1)).values()) == [young]


async def test_a_claim_is_renewed_and_released_only_with_its_token(db: Database, seed: Any, query: Any) -> None:
    ids = await seed("s")
    [token] = await claim(db)
    async with db.transaction() as session:
        assert await store.renew(session, uuid4(), ids) == set()
        assert await store.renew(session, token, ids, lease=500) == set(ids)
        await store.release(session, uuid4(), ids)
    [row] = await query(
        "SELECT claim_token, claimed_until > now() + interval '400 seconds' AS renewed FROM profile_state"
    )
    assert row == {"claim_token": token, "renewed": True}
    async with db.transaction() as session:
        await store.release(session, token, ids)
    assert await claimed_ids(db) == ids


async def test_a_due_time_beyond_reason_is_rescued_and_honest_ones_stay(db: Database, seed: Any, query: Any) -> None:
    absurd = await seed("absurd", due_in=86_400 * 365)
    await seed("regular", due_in=63)
    backing_off = await seed("backing off", due_in=3600)
    await query("UPDATE profile_state SET failures = 9 WHERE profile_id = ANY(:ids)", ids=backing_off)
    async with db.transaction() as session:
        assert await store.rescue(session) == absurd
    assert await claimed_ids(db) == absurd


async def test_claims_and_their_jobs_are_one_transaction(db: Database, seed: Any, query: Any) -> None:
    ids = await seed("s")

    async def interrupted() -> None:
        async with db.transaction() as session:
            await enqueue.defer_polls(session, await store.claim_due(session, limit=10))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await interrupted()
    assert await query("SELECT 1 FROM jobs.procrastinate_jobs") == []
    async with db.transaction() as session:
        batches = await store.claim_due(session, limit=10)
        await enqueue.defer_polls(session, batches)
        assert await store.queued_polls(session, limit=5) == 1
    [job] = await query("SELECT task_name, queue_name, args FROM jobs.procrastinate_jobs")
    [(token, claimed)] = batches.items()
    assert claimed == ids
    assert job == {"task_name": "poll", "queue_name": "poll", "args": {"token": str(token), "profile_ids": ids}}
    assert await query("SELECT 1 FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'procrastinate%'") == []


async def test_litter_of_lost_jobs_goes_and_waiting_ones_stay(db: Database, seed: Any, query: Any) -> None:
    async with db.transaction() as session:
        for n in range(3):
            await enqueue.defer_polls(session, {uuid4(): [n]})
    await query("UPDATE jobs.procrastinate_jobs SET status = 'doing' WHERE id = 1")
    await query("UPDATE jobs.procrastinate_jobs SET status = 'failed' WHERE id = 2")
    async with db.transaction() as session:
        await store.sweep_jobs(session)
    assert await query("SELECT id, status FROM jobs.procrastinate_jobs") == [{"id": 3, "status": "todo"}]
