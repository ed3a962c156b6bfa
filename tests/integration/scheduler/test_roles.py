"""The roles as they run in a process: the heartbeat, the worker, and how both stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from driftwatch.app import Services
from driftwatch.scheduler import jobs, store, tick
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.poll import run
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register
from driftwatch.testing.shop import Shop

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
async def silent_url() -> AsyncIterator[str]:
    """A server that takes every request and never answers."""
    writers: list[asyncio.StreamWriter] = []

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    server.close()
    for writer in writers:
        writer.close()


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.1)


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_heartbeat_polls_what_is_due(services: Services, shop: Shop, query: Query) -> None:
    await register(services, ServerSpec(shop.url, interval_seconds=1), actor="test")
    scheduler = asyncio.create_task(tick.run_scheduler(services))
    worker = asyncio.create_task(jobs.run_worker(services))

    async def polled_thrice() -> bool:
        return min(row["polls"] for row in await query("SELECT polls FROM poll_rollup")) >= 4

    await until(polled_thrice)
    assert services.health.problems()["tick"] is None
    await stop(scheduler)
    await stop(worker)
    assert await query("SELECT 1 FROM jobs.procrastinate_workers") == []
    assert await query("SELECT 1 FROM profile_state WHERE claim_token IS NOT NULL AND claimed_until < now()") == []


async def test_a_heartbeat_that_a_wrong_clock_put_off_is_nudged(services: Services) -> None:
    ticker = tick.Ticker(services)
    scheduler = AsyncIOScheduler(timezone=UTC)
    in_an_hour = datetime.now(UTC) + timedelta(hours=1)
    scheduler.add_job(ticker.attempt, "interval", id="tick", seconds=1, next_run_time=in_an_hour)
    scheduler.start()
    watching = asyncio.create_task(tick.watch(scheduler, ticker, stalled=0.4))
    await asyncio.sleep(0.3)
    before = ticker.age

    async def ticked() -> bool:
        return ticker.age < before

    await until(ticked, seconds=5)
    await stop(watching)
    scheduler.shutdown(wait=False)


async def test_a_heart_that_stopped_is_told_to_readiness(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    ticker = tick.Ticker(services)
    assert ticker.problem is None
    monkeypatch.setattr(tick, "UNHEALTHY_SECONDS", 0.0)
    assert (ticker.problem or "").startswith("no tick for")
    await services.db.dispose()


async def test_no_more_is_claimed_than_workers_can_take(
    services: Services, seed: Any, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tick, "MOST_QUEUED", 1)
    monkeypatch.setattr(tick, "BATCH_SIZE", 1)
    for n in range(4):
        await seed(f"s{n}", host=f"h{n}.test:443", due_in=-n - 1)
    ticker = tick.Ticker(services)
    assert [await ticker.tick(), await ticker.tick()] == [1, 0]
    await query("DELETE FROM jobs.procrastinate_jobs")
    assert [await ticker.tick(), await ticker.tick()] == [1, 0]


async def test_outcomes_are_written_while_a_slow_server_still_runs(
    services: Services, shop: Shop, query: Query, silent_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftwatch.scheduler.flush.FLUSH_SECONDS", 0.2)
    await register(services, ServerSpec(shop.url, name="quick"), actor="test")
    slow = await register(services, ServerSpec(shop.url, name="slow"), actor="test")
    await query("UPDATE server SET url = :url WHERE id = :id", url=silent_url, id=slow.server_id)
    await query("UPDATE profile_state SET next_due_at = now(), host = 'one'")
    async with services.db.transaction() as session:
        [(token, ids)] = (await store.claim_due(session, limit=10, lease=1)).items()
    batch = asyncio.create_task(run(services, HostLimits(), token, ids))

    async def quick_written() -> bool:
        rows = await query("SELECT count(*) FILTER (WHERE claim_token IS NULL) n FROM profile_state")
        return rows == [{"n": 2}]

    await until(quick_written, seconds=5)
    assert not batch.done()
    [held] = await query(
        "SELECT min(claimed_until) > now() + interval '5 s' AS renewed FROM profile_state WHERE claim_token IS NOT NULL"
    )
    assert held["renewed"]
    batch.cancel()
    await batch
    assert await query("SELECT 1 FROM profile_state WHERE claim_token IS NOT NULL") == []


async def test_a_stopped_worker_loses_no_poll(
    services: Services, shop: Shop, query: Query, silent_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.3)
    registered = await register(services, ServerSpec(shop.url), actor="test")
    await query("UPDATE server SET url = :url WHERE id = :id", url=silent_url, id=registered.server_id)
    await query("UPDATE profile_state SET next_due_at = now()")
    assert await tick.Ticker(services).tick() == 2
    worker = asyncio.create_task(jobs.work(services))

    async def started() -> bool:
        return await query("SELECT 1 FROM jobs.procrastinate_jobs WHERE status = 'doing'") != []

    await until(started)
    await stop(worker)
    rows = await query("SELECT claim_token, next_due_at <= now() AS due, failures FROM profile_state")
    assert rows == [{"claim_token": None, "due": True, "failures": 0}] * 2
    assert await query("SELECT 1 FROM jobs.procrastinate_jobs") == []
