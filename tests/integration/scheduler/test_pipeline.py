"""From a swap in a real server to a recorded, assessed and judged change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.app import Services
from driftwatch.capture.model import Snapshot
from driftwatch.capture.snapshot import take
from driftwatch.scheduler import assess, jobs, outcome, poll, store
from driftwatch.scheduler.claimed import visits
from driftwatch.scheduler.flush import Flush
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.poll import Orphans, run
from driftwatch.scheduler.tick import Ticker
from driftwatch.servers import changes, preview, purge
from driftwatch.servers.model import ServerPatch, ServerSpec
from driftwatch.servers.register import register, register_many
from driftwatch.testing.shop import Shop
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
async def watched(services: Services, shop: Shop) -> int:
    """The shop, seen by both kinds of clients."""
    registered = await register(services, ServerSpec(shop.url, interval_seconds=2), actor="test")
    assert registered.server_id is not None
    return registered.server_id


async def _claimed(session: AsyncSession, query: Query) -> dict[UUID, list[int]]:
    await query("UPDATE profile_state SET next_due_at = now()")
    return await store.claim_due(session, limit=1000)


async def poll_due(services: Services, query: Query, *, now: bool = True) -> int:
    """One tick and its poll jobs, without a worker; ``now``: whatever the due times say."""
    if now:
        await query("UPDATE profile_state SET next_due_at = now() WHERE next_due_at IS NOT NULL")
    async with services.db.transaction() as session:
        batches = await store.claim_due(session, limit=1000)
    for token, ids in batches.items():
        await run(services, HostLimits(), token, ids)
    return len(batches)


async def confirm(services: Services, query: Query) -> None:
    """The second look, after the shortest time that the settings allow."""
    await asyncio.sleep(0.1)
    await poll_due(services, query)


async def counts(query: Query) -> dict[str, Any]:
    tables = ("snapshot", "tool_version", "tool_interval", "change", "blob", "notification", "poll_event")
    [row] = await query("SELECT " + ", ".join(f"(SELECT count(*) FROM {t}) AS {t}" for t in tables))
    return row


async def test_an_unchanged_poll_writes_no_history(services: Services, shop: Shop, watched: int, query: Query) -> None:
    before = await counts(query)
    for _ in range(3):
        assert await poll_due(services, query) == 1
    assert await counts(query) == before
    rows = await query("SELECT polls, unchanged, errors FROM poll_rollup")
    assert rows == [{"polls": 4, "unchanged": 4, "errors": 0}] * 2
    [times] = await query("SELECT min(next_due_at) > now() AS later, count(claim_token) AS held FROM profile_state")
    assert times == {"later": True, "held": 0}


async def test_a_list_that_is_slow_to_read_holds_up_nothing_else(
    services: Services, shop: Shop, watched: int, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(tools: Sequence[bytes], *, era: Era) -> Snapshot:
        time.sleep(0.5)
        return take(tools, era=era)

    async def heartbeat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    monkeypatch.setattr(poll, "take", slowly)
    monkeypatch.setattr(preview, "take", slowly)
    await query("UPDATE profile_state SET body_sha256 = NULL")
    beats: list[float] = []
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(heartbeat())
        await poll_due(services, query)
        await register(services, ServerSpec(shop.url, name="again"), actor="test")
        beating.cancel()
    assert beats[-1] - beats[0] > 1.5  # it was slow, four times
    assert max(after - before for before, after in pairwise(beats)) < 0.4


async def test_a_slow_neighbour_in_the_batch_stretches_no_interval(
    services: Services, watched: int, query: Query
) -> None:
    async with services.db.transaction() as session:
        [(token, ids)] = (await _claimed(session, query)).items()
        rows = await store.load_claimed(session, token, ids)
    [visit] = visits(rows, services.clock.now(), lambda: 0.5)
    async with Flush(services.db, token, ids, Orphans(services, [visit]).close) as flush:
        for claim in visit.claims:
            flush.add(outcome.failed(claim, TimeoutError(), 1, services.clock.now()))
        waits = [result.next_in for _, result in flush._results]
        await asyncio.sleep(0.5)
    states = await query("SELECT extract(epoch FROM next_due_at - last_poll_at)::float8 AS wait FROM profile_state")
    assert [round(wait - state["wait"], 1) for wait, state in zip(waits, states, strict=True)] == [0.5, 0.5]


async def test_the_kept_session_is_used_by_every_poll(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    for _ in range(3):
        await poll_due(services, query)
    assert len(shop._server.session_manager._server_instances) == 1
    [legacy] = await query(
        "SELECT polls_survived FROM profile_state s JOIN profile p ON p.id = s.profile_id WHERE era = 'legacy'"
    )
    assert legacy["polls_survived"] == 3


async def test_a_swap_is_recorded_once_confirmed_and_then_assessed_and_judged(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    await poll_due(services, query)
    shop.move_to(3)
    await poll_due(services, query)
    assert await query("SELECT 1 FROM change") == []
    states = await query(
        "SELECT due_reason, fingerprint, next_due_at <= now() + interval '1 s' AS soon FROM profile_state"
    )
    assert states == [{"due_reason": "confirm", "fingerprint": None, "soon": True}] * 2
    await confirm(services, query)
    recorded = await query("SELECT id, state, kind FROM change ORDER BY id")
    assert [(c["state"], c["kind"]) for c in recorded] == [("recorded", "changed")] * 6
    queued = await query("SELECT args FROM jobs.procrastinate_jobs WHERE task_name = 'assess'")
    assert sorted(i for job in queued for i in job["args"]["change_ids"]) == [c["id"] for c in recorded]
    await asyncio.sleep(0.5)
    await jobs.work(services, wait=False)
    await assess.conclude(services)  # as the sweep does; two jobs that end together leave it to one of them
    judged = await query(
        "SELECT t.name, p.era, c.state, c.verdict, c.part, c.via, c.announcement, c.announcement_reason, "
        "c.changeset_id FROM change c JOIN tool t ON t.id = c.tool_id JOIN profile p ON p.id = c.profile_id"
    )
    assert {c["state"] for c in judged} == {"judged"}
    assert len({c["changeset_id"] for c in judged}) == 1
    verdicts = {(c["name"], c["era"]): (c["verdict"], c["part"], c["via"]) for c in judged}
    assert verdicts["get_order", "modern"] == ("breaking", "output", "declared")
    assert verdicts["get_order", "legacy"] == ("breaking", "output", "declared")
    assert verdicts["list_orders", "modern"] == ("breaking", "input", "undeclared-key")
    assert verdicts["search", "modern"] == ("compatible", "text", None)
    silent = {c["era"]: (c["announcement"], c["announcement_reason"]) for c in judged}
    assert silent["modern"] == ("silent", "not-declared")
    assert await query("SELECT kind, state FROM alert") == [{"kind": "drift", "state": "open"}]
    assert await query("SELECT 1 FROM jobs.procrastinate_jobs") == []


async def test_a_change_and_back_before_it_is_confirmed_is_no_change(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    shop.move_to(3)
    await poll_due(services, query)
    shop.move_to(0)
    for _ in range(6):
        await confirm(services, query)
    assert await query("SELECT 1 FROM change") == []


async def test_a_failure_is_named_and_backed_off_and_makes_no_version(
    services: Services, watched: int, query: Query, free_url: str
) -> None:
    before = await counts(query)
    await query("UPDATE server SET url = :url", url=free_url)
    for _ in range(2):
        await poll_due(services, query)
    rows = await query(
        "SELECT state, failures, last_error, next_due_at > now() + interval '1 s' AS later FROM profile_state"
    )
    assert [(r["state"], r["failures"], r["later"]) for r in rows] == [("refused", 2, True)] * 2
    assert '"hint"' in rows[0]["last_error"]
    after = await counts(query)
    assert after["poll_event"] == before["poll_event"] + 2
    assert after | {"poll_event": 0} == before | {"poll_event": 0}
    assert await query("SELECT DISTINCT kind FROM restart_evidence") == [{"kind": "refused"}]


async def test_a_lost_claim_drops_what_the_poll_saw(services: Services, shop: Shop, watched: int, query: Query) -> None:
    await poll_due(services, query)
    await query("UPDATE profile_state SET next_due_at = now()")
    shop.move_to(3)
    async with services.db.transaction() as session:
        [(token, ids)] = (await store.claim_due(session, limit=10)).items()
    await query("UPDATE profile_state SET claimed_until = now() - interval '1 s'")
    async with services.db.transaction() as session:
        [(_, again)] = (await store.claim_due(session, limit=10)).items()
    assert again == ids
    await run(services, HostLimits(), token, ids)
    assert await query("SELECT 1 FROM candidate") == []
    assert await query("SELECT DISTINCT polls FROM poll_rollup") == [{"polls": 2}]


async def test_one_server_that_crashes_the_poll_does_not_hold_up_the_others(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    await register(services, ServerSpec(shop.url, name="other", headers={"X-Key": "x"}), actor="test")
    await query("UPDATE credential SET ciphertext = 'no key opens this'")
    await poll_due(services, query)
    rows = await query(
        "SELECT v.name, s.state FROM profile_state s JOIN profile p ON p.id = s.profile_id "
        "JOIN server v ON v.id = p.server_id ORDER BY 1, 2"
    )
    assert [(r["name"], r["state"]) for r in rows] == [("127.0.0.1", "ok")] * 2 + [("other", "cannot-open-secret")] * 2


async def test_a_server_that_starts_to_speak_another_era_gets_a_profile(
    services: Services, shop: Shop, query: Query
) -> None:
    await register(services, ServerSpec(shop.url, eras=frozenset({Era.MODERN})), actor="test")
    await query("UPDATE server SET eras = NULL, detected_at = now() - interval '25 hours'")
    await poll_due(services, query)
    assert await query("SELECT era FROM profile ORDER BY id") == [{"era": "modern"}, {"era": "legacy"}]
    await poll_due(services, query)
    assert await query("SELECT DISTINCT state, tool_count FROM profile_state") == [{"state": "ok", "tool_count": 6}]
    assert len(shop._server.session_manager._server_instances) == 1


async def test_a_forced_registration_finds_its_eras_later(
    services: Services, shop: Shop, query: Query, free_url: str
) -> None:
    registered = await register(services, ServerSpec(free_url), actor="test", force=True)
    await query("UPDATE server SET url = :url", url=shop.url)
    await poll_due(services, query)
    assert await query("SELECT state, tool_count FROM profile_state") == [{"state": "ok", "tool_count": 6}] * 2
    assert registered.found == ()
    assert await query("SELECT 1 FROM change") == []


async def test_a_stopped_batch_gives_its_claims_back(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    await query("UPDATE profile_state SET next_due_at = now()")
    async with services.db.transaction() as session:
        [(token, ids)] = (await store.claim_due(session, limit=10)).items()
    hosts = HostLimits(1)
    [host] = await query("SELECT DISTINCT host FROM profile_state")
    async with hosts.place(str(host["host"])):
        batch = asyncio.create_task(run(services, hosts, token, ids))
        await asyncio.sleep(0.3)
        batch.cancel()
        await batch
    rows = await query("SELECT claim_token, next_due_at <= now() AS due FROM profile_state")
    assert rows == [{"claim_token": None, "due": True}] * 2


async def test_what_a_crash_left_unassessed_is_found(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    shop.move_to(1)
    await poll_due(services, query)
    await confirm(services, query)
    changed = [c["id"] for c in await query("SELECT id FROM change ORDER BY id")]
    assert len(changed) == 2

    async def left_over() -> list[int]:
        async with services.db.transaction() as session:
            return await store.unassessed(session, older_than=0, limit=10)

    assert await left_over() == []  # their job still waits
    await query("UPDATE jobs.procrastinate_jobs SET status = 'doing'")
    assert await left_over() == changed  # the worker that took it is gone
    await assess.run(services, changed)
    await assess.run(services, changed)
    assert await left_over() == []
    assert await query("SELECT count(*) n FROM assessment") == [{"n": 2}]


async def test_tick_and_worker_together(services: Services, shop: Shop, watched: int, query: Query) -> None:
    ticker = Ticker(services)
    worker = asyncio.create_task(jobs.work(services))
    await changes.patch(services, watched, ServerPatch(interval_seconds=1), actor="test")
    shop.move_to(3)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        await ticker.tick()
        await assess.conclude(services)
        found = await query("SELECT state FROM change")
        if len(found) == 6 and {c["state"] for c in found} == {"judged"}:
            break
        await asyncio.sleep(0.2)
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert [c["state"] for c in found] == ["judged"] * 6
    [alert] = await query("SELECT severity, title FROM alert")
    assert alert["severity"] == "critical"


async def test_people_and_polls_at_the_same_time_never_block_each_other(
    services: Services, shop: Shop, query: Query
) -> None:
    specs = [ServerSpec(shop.url, name=f"s{n}", interval_seconds=1) for n in range(4)]
    ids = [
        outcome.registered.server_id
        for outcome in await register_many(services, specs, actor="t")
        if outcome.registered
    ]
    end = time.monotonic() + 3

    async def poll_on() -> None:
        step = 0
        while time.monotonic() < end:
            step = (step + 1) % 4
            shop.move_to(step)
            await poll_due(services, query, now=False)
            await assess.conclude(services)

    async def edit_on(server_id: int) -> None:
        edits = [
            ServerPatch(headers={"X-Key": "1"}),
            ServerPatch(headers={}),
            ServerPatch(eras=frozenset({Era.MODERN})),
        ]
        number = 0
        while time.monotonic() < end:
            number += 1
            await changes.patch(services, server_id, edits[number % 3], actor="t")
            await changes.pause(services, server_id, actor="t")
            await changes.resume(services, server_id, actor="t")
            await changes.check_now(services, server_id, actor="t")
            await changes.patch(services, server_id, ServerPatch(eras=None), actor="t")
        await changes.delete(services, server_id, actor="t")

    await asyncio.gather(poll_on(), poll_on(), *(edit_on(server_id) for server_id in ids if server_id is not None))
    assert await query("SELECT detail FROM poll_event WHERE outcome NOT IN ('ok', 'transient')") == []
    await purge.purge_deleted(services.db)
    assert await query("SELECT 1 FROM profile") == []
    assert len(shop._server.session_manager._server_instances) == 0


async def test_a_poll_that_fails_after_its_walk_leaves_no_session_behind(
    services: Services, shop: Shop, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register(services, ServerSpec(shop.url, eras=frozenset({Era.LEGACY})), actor="test")
    await query("UPDATE server SET detected_at = NULL")  # so that the poll begins with a session of its own
    await query("UPDATE profile_state SET fingerprint = NULL")

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("history is broken")

    monkeypatch.setattr("driftwatch.scheduler.outcome.record", broken)
    await poll_due(services, query)
    assert await query("SELECT state FROM profile_state") == [{"state": "internal-error"}]
    assert len(shop._server.session_manager._server_instances) == 0
    monkeypatch.undo()
    await poll_due(services, query)
    assert await query("SELECT state FROM profile_state") == [{"state": "ok"}]
    assert len(shop._server.session_manager._server_instances) == 1
