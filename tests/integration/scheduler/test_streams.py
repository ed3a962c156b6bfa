"""The listener role on a real Postgres and a real mcp server: what it holds, writes and hands over."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from integration.wire.hostile import serving
from mcp.server import MCPServer
from mcp.server import _streamable_http_modern as sdk
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from sqlalchemy import text

from driftwatch.app import Services
from driftwatch.db.engine import run_sql
from driftwatch.scheduler import assess, store
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.poll import run as poll
from driftwatch.scheduler.streams.holder import Holder
from driftwatch.scheduler.streams.journal import Journal
from driftwatch.scheduler.streams.role import Listener, run_listener
from driftwatch.scheduler.streams.shares import APPLICATION, Shares, connected, share
from driftwatch.scheduler.tick import Ticker
from driftwatch.servers import changes
from driftwatch.servers.model import ServerPatch, ServerSpec
from driftwatch.servers.register import register
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


def first(order_id: str) -> str:
    """One order."""
    return order_id


def second(order_id: str, region: str) -> str:
    """One order."""
    return order_id + region


class Orders:
    """A real mcp 2.x server that may publish its changes."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.server = MCPServer("orders", version="1", subscriptions=self.bus)
        self.server.add_tool(first, name="get_order")
        self.url = ""

    async def swap(self, *, publish: bool) -> None:
        self.server.remove_tool("get_order")
        self.server.add_tool(second, name="get_order")
        if publish:
            await self.publish()

    async def publish(self) -> None:
        await self.bus.publish(ToolsListChanged())


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sdk, "_SSE_PING_INTERVAL", 0.1)
    running = Orders()
    with serving(running.server.streamable_http_app()) as origin:
        running.url = f"{origin}/mcp"
        yield running


@pytest.fixture
async def watched(services: Services, orders: Orders) -> int:
    """The orders as modern clients see them."""
    spec = ServerSpec(orders.url, interval_seconds=60, eras=frozenset({Era.MODERN}))
    registered = await register(services, spec, actor="test")
    assert registered.server_id is not None
    return registered.server_id


@contextlib.asynccontextmanager
async def listening(services: Services) -> AsyncIterator[asyncio.Task[None]]:
    role = asyncio.create_task(run_listener(services))
    try:
        yield role
    finally:
        role.cancel()
        with contextlib.suppress(asyncio.CancelledError, ExceptionGroup):
            await role


async def until(query: Query, statement: str, *, seconds: float = 60, **parameters: object) -> list[dict[str, Any]]:
    """The rows of a query as soon as there are any."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if rows := await query(statement, **parameters):
            return rows
        await asyncio.sleep(0.05)
    raise AssertionError(f"no rows within {seconds} s: {statement}")


async def held(query: Query) -> dict[str, Any]:
    [row] = await until(query, "SELECT * FROM stream_interval WHERE ended_by = 'open' AND verified_until > acked")
    return row


async def poll_due(services: Services, query: Query) -> None:
    await query("UPDATE profile_state SET next_due_at = now() WHERE next_due_at IS NOT NULL")
    async with services.db.transaction() as session:
        batches = await store.claim_due(session, limit=100)
    for token, ids in batches.items():
        await poll(services, HostLimits(), token, ids)


async def test_a_declared_stream_is_held_and_covered(services: Services, watched: int, query: Query) -> None:
    async with listening(services):
        row = await held(query)
        later = await until(
            query, "SELECT 1 FROM stream_interval WHERE verified_until > :seen", seen=row["verified_until"]
        )
        assert later
    [row] = await query("SELECT ended_by, ended_why FROM stream_interval")
    assert row == {"ended_by": "us", "ended_why": "stopped"}
    assert [r["state"] for r in await query("SELECT state FROM listening")] == ["ok"]


async def test_a_notification_is_stored_and_makes_the_profile_due(
    services: Services, orders: Orders, watched: int, query: Query
) -> None:
    async with listening(services):
        await held(query)
        await orders.publish()
        [row] = await until(query, "SELECT source, spent_at, at FROM notification")
        assert (row["source"], row["spent_at"]) == ("stream", None)
        [state] = await query("SELECT due_reason, next_due_at <= now() AS due, follow_from FROM profile_state")
        assert state == {"due_reason": "notification", "due": True, "follow_from": row["at"]}


async def test_the_looks_after_a_notification(services: Services, orders: Orders, watched: int, query: Query) -> None:
    async with listening(services):
        await held(query)
        await orders.publish()
        await until(query, "SELECT 1 FROM profile_state WHERE follow_from IS NOT NULL")
    waits = []
    for age in (0, 2, 10, 30):
        await query("UPDATE profile_state SET follow_from = now() - make_interval(secs => :age)", age=age)
        await poll_due(services, query)
        [row] = await query(
            "SELECT extract(epoch FROM next_due_at - follow_from)::float8 AS after, due_reason FROM profile_state"
        )
        waits.append((round(row["after"]), row["due_reason"]))
    assert waits[:3] == [(2, "notification"), (10, "notification"), (30, "notification")]
    assert waits[3][1] == "schedule"


async def test_off_and_undeclared_are_not_listened_to(services: Services, watched: int, query: Query) -> None:
    async with listening(services):
        await held(query)
        await changes.patch(services, watched, ServerPatch(listen="off"), actor="test")
        [row] = await until(query, "SELECT ended_by, ended_why FROM stream_interval WHERE ended_by <> 'open'")
        assert row == {"ended_by": "us", "ended_why": "switched-off"}
        await changes.patch(services, watched, ServerPatch(listen="auto"), actor="test")
        await held(query)
        await query("UPDATE profile_state SET list_changed_declared = false")
        await until(query, "SELECT 1 FROM listening WHERE state = 'off' AND reason = 'not-declared'")
    states = await query("SELECT state, reason FROM listening ORDER BY id")
    assert [(row["state"], row["reason"]) for row in states] == [
        ("ok", None),
        ("off", "switched-off"),
        ("ok", None),
        ("off", "not-declared"),
    ]


async def test_a_failed_poll_closes_the_stream_in_another_process(
    services: Services, watched: int, query: Query
) -> None:
    from driftwatch.scheduler.let_go import tell_to_let_go

    async with listening(services):
        row = await held(query)
        async with services.db.transaction() as session:
            await tell_to_let_go(session, row["profile_id"], "draining")
            await query(
                "UPDATE profile_state SET failures = 1, state = 'refused', last_error = :e", e='{"code": "refused"}'
            )
        [ended] = await until(query, "SELECT ended_by, ended_why FROM stream_interval WHERE ended_by <> 'open'")
        assert ended == {"ended_by": "server", "ended_why": "draining"}
        await asyncio.sleep(1.5)
        assert await query("SELECT 1 FROM stream_interval WHERE ended_by = 'open'") == []
        await query("UPDATE profile_state SET failures = 0, state = 'ok', last_error = NULL")
        await held(query)


async def test_a_recycled_stream_extends_its_interval(
    services: Services, watched: int, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftwatch.scheduler.streams.holder.RECYCLE_SECONDS", (0.2, 0.3))
    monkeypatch.setattr("driftwatch.scheduler.streams.holder.CHECK_SECONDS", 0.1)
    opened = 0
    original = Holder._open

    def counted(self: Holder) -> Any:
        nonlocal opened
        opened += 1
        return original(self)

    monkeypatch.setattr(Holder, "_open", counted)
    async with listening(services):
        await held(query)
        while opened < 4:
            await asyncio.sleep(0.05)
        assert len(await query("SELECT 1 FROM stream_interval")) == 1


async def test_intervals_of_a_lost_listener_are_ended_when_its_shards_are_taken(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id FROM profile")
    await query(
        "INSERT INTO stream_interval (profile_id, acked, verified_until, ended_by)"
        " VALUES (:p, now() - interval '1 hour', now() - interval '50 minutes', 'open')",
        p=profile["id"],
    )
    async with listening(services):
        [row] = await until(query, "SELECT ended_by, ended_why FROM stream_interval WHERE ended_why IS NOT NULL")
        assert row == {"ended_by": "us", "ended_why": "listener-lost"}
        await held(query)


def test_shares() -> None:
    assert [share(n, 64) for n in (0, 1, 2, 3, 64, 100)] == [64, 64, 32, 22, 1, 1]


async def test_two_listeners_share_and_the_survivor_takes_over(services: Services, query: Query) -> None:
    async with connected(services.db.url) as one, contextlib.AsyncExitStack() as stack:
        left = Shares(one, shards=8)
        assert len(await left.take()) == 8
        assert await left.surplus() == set()
        other = await stack.enter_async_context(connected(services.db.url))
        right = Shares(other, shards=8)
        assert await right.take() == set()
        surplus = await left.surplus()
        assert len(surplus) == 4
        await left.give(surplus)
        assert await right.take() == surplus
        assert left.held | right.held == set(range(8))
        assert left.held & right.held == set()
        await stack.aclose()
        await until(
            query,
            "SELECT 1 WHERE (SELECT count(*) FROM pg_stat_activity WHERE application_name = :n"
            " AND datname = current_database()) = 1",
            n=APPLICATION,
        )
        await left.take()
        assert left.held == set(range(8))


async def test_a_listener_without_its_connection_holds_nothing(services: Services, watched: int, query: Query) -> None:
    async with listening(services) as role:
        await held(query)
        await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :n", n=APPLICATION)
        with pytest.raises(ExceptionGroup):
            await asyncio.wait_for(role, 60)
        assert not [t for t in asyncio.all_tasks() if t.get_name().startswith(("stream ", "line "))]
    [row] = await query("SELECT ended_by FROM stream_interval")
    assert row == {"ended_by": "open"}


async def test_coverage_never_overtakes_the_notifications_before_it(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id FROM profile")
    async with connected(services.db.url) as owner:
        journal = Journal(Shares(owner))
        now = services.clock.now()
        interval = journal.opened(profile["id"], now)
        interval.heard(now)
        await journal.write()
        journal.notified(profile["id"], services.clock.now(), noise=False)
        interval.heard(services.clock.now())
        await query("ALTER TABLE notification RENAME TO elsewhere")
        with pytest.raises(Exception, match="notification"):
            await journal.write()
        [row] = await query("SELECT verified_until FROM stream_interval")
        assert abs((row["verified_until"] - now).total_seconds()) < 0.001
        await query("ALTER TABLE elsewhere RENAME TO notification")
        await journal.write()
        assert len(await query("SELECT 1 FROM notification")) == 1
        [row] = await query("SELECT verified_until FROM stream_interval")
        assert row["verified_until"] > now


async def test_a_storm_makes_the_server_noisy_and_is_not_followed_by_polls_without_end(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id FROM profile")
    async with connected(services.db.url) as owner:
        journal = Journal(Shares(owner))
        for _ in range(25):
            journal.notified(profile["id"], services.clock.now(), noise=False)
            await journal.write()
        [state] = await query("SELECT noisy_until > now() AS noisy FROM profile_state")
        assert state["noisy"]
        await query("UPDATE profile_state SET last_poll_at = now(), next_due_at = now() + interval '1 minute'")
        journal.notified(profile["id"], services.clock.now(), noise=False)
        await journal.write()
        [row] = await query("SELECT extract(epoch FROM next_due_at - last_poll_at)::float8 AS gap FROM profile_state")
        assert 25 < row["gap"] <= 30


async def change_of(services: Services, query: Query, *, seconds: float = 60) -> dict[str, Any]:
    """Polls, assesses and judges as the roles would, until the change has an answer."""
    ticker, end = Ticker(services), time.monotonic() + seconds
    while time.monotonic() < end:
        async with services.db.transaction() as session:
            batches = await store.claim_due(session, limit=100)
        for token, ids in batches.items():
            await poll(services, HostLimits(), token, ids)
        rows = await query("SELECT id FROM change WHERE state = 'recorded'")
        await assess.run(services, [row["id"] for row in rows])
        found = await query("SELECT * FROM change WHERE state = 'judged'")
        if found:
            return found[0]
        await asyncio.sleep(0.05)
    raise AssertionError(f"no judged change; tick age {ticker.age}")


async def test_a_published_change_is_announced_and_found_at_once(
    services: Services, orders: Orders, watched: int, query: Query
) -> None:
    async with listening(services):
        await held(query)
        await orders.swap(publish=True)
        change = await change_of(services, query)
    assert (change["announcement"], change["announcement_reason"]) == ("announced", None)
    [row] = await query("SELECT at, spent_by, spent_at FROM notification")
    assert row["spent_by"] == change["changeset_id"]
    # The schedule is a minute away: it was the notification that had the list looked at.
    assert row["at"] < change["window_end"] <= change["recorded_at"] < row["at"] + timedelta(seconds=60)
    assert isinstance(row["spent_at"], datetime)


async def test_an_unpublished_change_is_silent_only_after_we_listened_long_enough(
    services: Services, orders: Orders, watched: int, query: Query
) -> None:
    patient = services.settings.model_copy(update={"announcement_grace_seconds": 5.0})
    services = Services(
        patient, services.db, services.clock, services.wire, services.secrets, services.sandbox, services.health
    )
    async with listening(services):
        await held(query)
        await asyncio.sleep(0.7)
        await poll_due(services, query)
        await orders.swap(publish=False)
        await query("UPDATE profile_state SET next_due_at = now()")
        change = await change_of(services, query)
    assert (change["announcement"], change["announcement_reason"]) == ("silent", "not-delivered")


async def test_two_workers_and_a_listener_race_over_one_profile(
    services: Services, orders: Orders, watched: int, query: Query
) -> None:
    stop = asyncio.Event()

    async def worker() -> None:
        while not stop.is_set():
            async with services.db.transaction() as session:
                batches = await store.claim_due(session, limit=100)
            for token, ids in batches.items():
                await poll(services, HostLimits(), token, ids)
            rows = await query("SELECT id FROM change WHERE state = 'recorded'")
            await assess.run(services, [row["id"] for row in rows])
            await query("UPDATE profile_state SET next_due_at = now() WHERE claim_token IS NULL")

    async with listening(services):
        await held(query)
        workers = [asyncio.create_task(worker()) for _ in range(2)]
        await asyncio.sleep(0.5)
        await orders.swap(publish=True)
        for _ in range(10):
            await orders.publish()
            await asyncio.sleep(0.1)
        await until(query, "SELECT 1 FROM change WHERE state = 'judged'")
        stop.set()
        await asyncio.gather(*workers)
    [change] = await query("SELECT announcement, changeset_id FROM change")
    assert change["announcement"] == "announced"
    spent = await query("SELECT DISTINCT spent_by FROM notification WHERE spent_by IS NOT NULL")
    assert spent == [{"spent_by": change["changeset_id"]}]
    *earlier, last = [row["announcement"] for row in await query("SELECT announcement FROM judgement ORDER BY id")]
    assert last == "announced"
    assert set(earlier) <= {"pending"}, "the notification may still be on its way when the change is judged first"
    [held_now] = await query("SELECT count(*) AS versions FROM tool_interval WHERE valid_to IS NULL")
    assert held_now["versions"] == 1


async def test_the_listener_takes_what_it_finds_in_one_look(services: Services, watched: int, query: Query) -> None:
    async with connected(services.db.url) as owner:
        listener = Listener(services, Shares(owner), Journal(Shares(owner)))
        await listener.look()
        assert len(listener._holders) == 1
        await listener.close()
        assert listener._holders == {}


async def test_of_two_listeners_one_holds_a_stream_and_the_other_takes_it_over(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id FROM profile")
    owner = (
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = mod(:p, 64)"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    async with listening(services) as one, listening(services) as two:
        await held(query)
        shared = (
            "SELECT 1 FROM (SELECT pid, count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " GROUP BY pid HAVING count(*) = 32) AS fair HAVING count(*) = 2"
        )
        await until(query, shared)
        await held(query)
        [before] = await until(query, owner, p=profile["id"])
        await query("SELECT pg_terminate_backend(:pid)", pid=before["pid"])
        [lost] = await until(
            query, "SELECT verified_until FROM stream_interval WHERE ended_why = 'listener-lost' AND acked < now()"
        )
        deaf = (await held(query))["acked"] - lost["verified_until"]
        assert deaf < timedelta(seconds=30), "10 s are the promise; this machine may be busy"
        [after] = await query(owner, p=profile["id"])
        assert after["pid"] != before["pid"]
        assert one.done() != two.done()


async def test_an_answer_given_before_anybody_listened_is_judged_again(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id, server_id FROM profile")
    [tool] = await query("SELECT id FROM tool")
    await query(
        "INSERT INTO changeset (id, server_id, first_window_start, last_window_end)"
        " OVERRIDING SYSTEM VALUE VALUES (1, :s, now(), now())",
        s=profile["server_id"],
    )
    await query(
        "INSERT INTO change (changeset_id, server_id, profile_id, tool_id, kind, window_start, window_end, facts,"
        " state, announcement, judge_at) VALUES (1, :s, :p, :t, 'changed', now(), now(), '{}', 'judged', 'unknown',"
        " now() + interval '10 minutes')",
        s=profile["server_id"],
        p=profile["id"],
        t=tool["id"],
    )
    async with connected(services.db.url) as owner:
        journal = Journal(Shares(owner))
        journal.listening(profile["id"], services.clock.now(), "ok")
        await journal.write()
        assert await query("SELECT 1 FROM change WHERE judge_at <= clock_timestamp()") == []
        journal.listening(profile["id"], services.clock.now(), "cannot-deliver", "listen-404")
        await journal.write()
        assert len(await query("SELECT 1 FROM change WHERE judge_at <= clock_timestamp()")) == 1


async def test_a_notification_during_a_write_is_not_taken_for_the_one_being_written(
    services: Services, watched: int, query: Query
) -> None:
    [profile] = await query("SELECT id FROM profile")
    async with connected(services.db.url) as owner:
        journal = Journal(Shares(owner))
        journal.notified(profile["id"], services.clock.now(), noise=False)
        async with services.db.transaction() as session:
            await run_sql(session, text("SELECT 1 FROM profile_state FOR UPDATE"))
            writing = asyncio.create_task(journal.write())
            await asyncio.sleep(0.3)
            journal.notified(profile["id"], services.clock.now(), noise=False)
        await writing
        await journal.write()
    assert len(await query("SELECT 1 FROM notification")) == 2
