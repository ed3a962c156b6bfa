"""Servers we cannot watch: one message for all of them, one when they are back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from builders.world import Watched, World

from driftwatch.alerts import actions, blindness, delivery_read, lifecycle, outbox
from driftwatch.alerts.actions import By
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


async def remind(world: World, hours: float) -> list[int]:
    settings = world.services.settings.model_copy(update={"reminder_hours": hours})
    async with world.db.transaction() as session:
        return await blindness.remind_blind(session, settings)


async def test_reminders_are_off_come_as_one_message_and_stop_when_somebody_is_on_it(
    world: World, fake: FakeSlack
) -> None:
    for name in ("a", "b", "c"):
        await fail(world, await world.server(name), hours=25)
    first, second, third = await run(world)
    await world.sql("UPDATE alert_event SET at = at - interval '25 h'")
    assert await remind(world, 0) == []
    assert await remind(world, 48) == []
    async with world.db.transaction() as session:
        await actions.acknowledge(session, world.services.settings, By("mei"), first)
    assert await remind(world, 24) == [second, third]
    assert await remind(world, 24) == [], "not again before another day is over"
    await outbox.deliver_due(world.services)
    text = str(fake.messages[-1].body["blocks"])
    assert "Still not watching after 25 h · 2 servers" in text
    assert "Acknowledge it on the server's page to stop reminders." in text
    assert [row.event for row in await world.outbox()] == ["not-watching", "still-not-watching"]
    async with world.db.transaction() as session:
        told = await delivery_read.deliveries_for_alerts(session, [first, second, third])
    assert [[d.event for d in told[alert]] for alert in (first, second)] == [
        ["not-watching"],
        ["not-watching", "still-not-watching"],
    ]
    await recover(world)
    assert await run(world) == [first, second, third]


async def test_nobody_is_reminded_of_what_is_muted_paused_or_in_maintenance(world: World) -> None:
    muted, paused, planned = [await world.server(name) for name in ("muted", "paused", "planned")]
    for server in (muted, paused, planned):
        await fail(world, server)
    await run(world)
    await world.sql("UPDATE alert_event SET at = at - interval '25 h'")
    soon = datetime.now(UTC) + timedelta(hours=1)
    async with world.db.transaction() as session:
        await actions.mute_server(session, By("mei"), muted.id, until=soon)
        now = datetime.now(UTC) - timedelta(minutes=1)
        await actions.maintain(session, By("mei"), starts_at=now, ends_at=soon, server_id=planned.id)
    await world.sql("UPDATE server SET state = 'paused' WHERE id = :id", id=paused.id)
    assert await remind(world, 24) == []


async def test_a_reminder_says_when_the_last_good_poll_was(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    await world.sql("UPDATE profile_state SET last_complete_sent_at = '2026-11-01T10:00:00Z'")
    await fail(world, server)
    await run(world)
    await world.sql("UPDATE alert_event SET at = at - interval '25 h'")
    assert len(await remind(world, 24)) == 1
    await outbox.deliver_due(world.services)
    assert "last good poll 01 Nov 10:00 UTC" in str(fake.messages[-1].body["blocks"])
