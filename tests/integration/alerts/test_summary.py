"""One message a day about what needed nobody."""

from __future__ import annotations

from datetime import UTC, datetime

from builders.world import World

from driftwatch.alerts import outbox, summary
from driftwatch.alerts.summary import latest_hour
from driftwatch.testing.fake_slack import FakeSlack


async def run(world: World) -> int:
    async with world.db.transaction() as session:
        return await summary.raise_summary(session, world.services.settings)


async def a_day_passes(world: World) -> None:
    """Everything that has happened is a day older, and the hour has come again."""
    await world.sql("UPDATE daily_summary SET at = at - interval '1 day', day = day - 1")
    await world.sql(
        "UPDATE alert_decision SET at = (SELECT max(at) FROM daily_summary) + interval '1 h' "
        "WHERE at > (SELECT max(at) FROM daily_summary) + interval '1 day'"
    )


async def test_quiet_changes_are_told_once_a_day(world: World, fake: FakeSlack) -> None:
    assert await run(world) == 0
    orders, crm = await world.server("orders", eras=("modern", "legacy")), await world.server("crm")
    for era in ("modern", "legacy"):  # to people one change of one tool
        said = "callers may now send `cursor`"
        await world.change(orders, "search", verdict="compatible", part="input", said=said, era=era)
    await world.change(orders, "new", None, 1, verdict="compatible", part="presence")
    await world.change(crm, "find", verdict="compatible", part="input", said="callers may now send `region`")
    await world.change(crm, "words", verdict="compatible", part="text", said="the description changed")
    await world.change(crm, "broken")
    await world.raise_due()
    assert await run(world) == 0, "the hour has not come"
    await a_day_passes(world)
    assert await run(world) == 4
    assert await run(world) == 0
    await outbox.deliver_due(world.services)
    text = str(fake.messages[-1].body["blocks"])
    assert "3 quiet changes on 2 servers" in text
    assert "Also 1 change of words or hints only." in text
    assert "callers may now send " in text
    assert "broken" not in text


async def test_a_quiet_day_has_no_message(world: World) -> None:
    await run(world)
    server = await world.server()
    await world.change(server, verdict="compatible", part="text", said="the description changed")
    await world.raise_due()
    await a_day_passes(world)
    assert await run(world) == 0
    assert await world.outbox() == []


async def test_what_servers_say_of_themselves_is_told_on_a_day_without_changes(world: World) -> None:
    await run(world)
    await world.server("orders")
    for version in ("1", "2"):
        await world.sql(
            "INSERT INTO snapshot (profile_id, fingerprint, first_seen_at, server_info, tool_count)"
            " SELECT id, '\\x00', (SELECT max(at) FROM daily_summary) - interval '1 hour', '{\"version\": \"'"
            f" || '{version}' || '\"}}', 1 FROM profile"
        )
    await a_day_passes(world)
    await world.sql("UPDATE snapshot SET first_seen_at = (SELECT max(at) FROM daily_summary) + interval '1 hour'")
    assert await run(world) == 0
    (row,) = await world.outbox()
    assert "servers say something else of themselves" in str(row)


async def test_what_was_before_the_first_day_is_history(world: World) -> None:
    await world.change(await world.server(), "search", verdict="compatible", part="input")
    await world.raise_due()
    await world.sql("UPDATE alert_decision SET at = now() - interval '3 days'")
    assert await run(world) == 0
    assert await world.outbox() == []


def test_the_hour_is_utc() -> None:
    assert latest_hour(datetime(2026, 11, 30, 8, 0, tzinfo=UTC), 8) == datetime(2026, 11, 30, 8, tzinfo=UTC)
    assert latest_hour(datetime(2026, 11, 30, 7, 59, tzinfo=UTC), 8) == datetime(2026, 11, 29, 8, tzinfo=UTC)
