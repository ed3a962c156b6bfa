"""Servers we cannot watch: one message for all of them, one when they are back."""

from __future__ import annotations

from builders.world import Watched, World

from driftwatch.alerts import blindness, delivery_read, lifecycle, outbox
from driftwatch.testing.fake_slack import FakeSlack


async def fail(world: World, server: Watched, *, hours: float = 2, failures: int = 5, era: str = "modern") -> None:
    await world.sql(
        "UPDATE profile_state SET state = 'unauthorized', failures = :failures, "
        "failing_since = now() - make_interval(secs => :seconds), "
        """last_error = '{"code": "unauthorized", "message": "401, wants scope tools:read"}' """
        "WHERE profile_id = :profile",
        failures=failures,
        seconds=hours * 3600,
        profile=server.profiles[era],
    )


async def recover(world: World) -> None:
    await world.sql("UPDATE profile_state SET state = 'ok', failures = 0, failing_since = NULL, last_error = NULL")


async def run(world: World) -> list[int]:
    async with world.db.transaction() as session:
        return await blindness.raise_blind(session, world.services.settings)


async def test_blindness_is_told_once_and_resolved_once(world: World, fake: FakeSlack) -> None:
    server = await world.server("billing")
    await fail(world, server)
    (alert,) = await run(world)
    assert await run(world) == []
    (row,) = await world.alerts()
    assert (row.kind, row.state, row.severity) == ("not-watching", "open", "warning")
    assert row.title == "◌ Not watching · billing"
    await recover(world)
    assert await run(world) == [alert]
    assert await run(world) == []
    assert (await world.alerts())[0].state == "resolved"
    await outbox.deliver_due(world.services)
    first, second = fake.messages
    assert "unauthorized" in str(first.body)
    assert "401, wants scope tools:read" in str(first.body)
    assert "renew the credential" in str(first.body)
    assert "Watching again · billing" in str(second.body)
    assert "It was unauthorized since" in str(second.body)
    async with world.db.transaction() as session:
        told = await delivery_read.deliveries_for_alert(session, alert)
    assert [d.event for d in told] == ["not-watching", "watching-again"]


async def test_several_are_one_message_and_each_alert_knows_it(world: World) -> None:
    for name in ("a", "b", "c"):
        await fail(world, await world.server(name))
    alerts = await run(world)
    assert len(alerts) == 3
    (delivery,) = await world.outbox()
    assert delivery.payload["title"] == "◌ Not watching · 3 servers"
    async with world.db.transaction() as session:
        for alert in alerts:
            assert [d.id for d in await delivery_read.deliveries_for_alert(session, alert)] == [delivery.id]
    await recover(world)
    assert len(await run(world)) == 3
    assert [m.payload["title"] for m in await world.outbox()][1:] == ["✓ Watching again · 3 servers"]


async def test_short_failures_are_nobodys_business(world: World) -> None:
    await fail(world, await world.server("young"), hours=0.9)
    await fail(world, await world.server("seldom"), failures=2)
    slow = await world.server("slow")
    await world.sql("UPDATE server SET interval_seconds = 7200 WHERE id = :id", id=slow.id)
    await fail(world, slow, hours=5)
    assert await run(world) == []
    await fail(world, slow, hours=6.1)
    assert len(await run(world)) == 1


async def test_one_blind_era_is_named_and_resolves_only_when_all_is_well(world: World) -> None:
    server = await world.server("half", eras=("modern", "legacy"))
    await fail(world, server, era="legacy")
    assert len(await run(world)) == 1
    assert "seen by 2025-11-25 clients" in str((await world.outbox())[0].payload)
    await fail(world, server, era="modern", hours=0.1, failures=1)
    await world.sql("UPDATE profile_state SET failures = 0 WHERE profile_id = :p", p=server.profiles["legacy"])
    assert await run(world) == []
    await recover(world)
    assert len(await run(world)) == 1


async def test_a_paused_server_is_not_missed(world: World) -> None:
    server = await world.server("paused")
    await fail(world, server)
    await run(world)
    await world.sql("UPDATE server SET state = 'paused'")
    assert len(await run(world)) == 1
    assert (await world.alerts())[0].state == "resolved"
    assert len(await world.outbox()) == 1, "nobody is told that it is watched again"
    assert await run(world) == []


async def test_a_new_episode_is_a_new_alert(world: World) -> None:
    server = await world.server()
    for _ in range(2):
        await fail(world, server)
        await run(world)
        await recover(world)
        await run(world)
    assert [a.state for a in await world.alerts()] == ["resolved", "resolved"]


async def test_it_can_be_acknowledged_and_still_resolves(world: World) -> None:
    await fail(world, await world.server())
    (alert,) = await run(world)
    async with world.db.transaction() as session:
        await lifecycle.acknowledge(session, world.services.settings, alert, actor="mei", reason="renewing")
    await recover(world)
    assert await run(world) == [alert]
