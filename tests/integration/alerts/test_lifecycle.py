"""Alerts and their life on a real Postgres."""

from __future__ import annotations

import asyncio

import pytest
from builders.world import Watched, World

from driftwatch.alerts import delivery_read, lifecycle, read
from driftwatch.errors import ConflictError, InputError, NotFoundError

pytestmark = pytest.mark.oldest_postgres


async def accept(world: World, alert: int, **fields: object) -> None:
    async with world.db.transaction() as session:
        await lifecycle.accept(session, world.services.settings, alert, **{"actor": "mei", "reason": "fine", **fields})  # type: ignore[arg-type]  # one dict for differently typed arguments


async def baseline(
    world: World, server: Watched, tool: str = "get_order", era: str = "modern"
) -> tuple[int | None, str]:
    tool_id = server.tools[era, tool]
    async with world.db.transaction() as session:
        found = (await read.baselines(session, [tool_id]))[tool_id]
    return found.number, found.mode


async def test_one_changeset_is_one_alert_and_one_message(world: World) -> None:
    server = await world.server(eras=("modern", "legacy"))
    first = await world.change(server)
    changeset = await world.changeset_of(first)
    await world.change(server, era="legacy", changeset=changeset)
    await world.change(server, "refund", changeset=changeset)
    await world.change(server, "search", verdict="compatible", part="input", changeset=changeset)
    (alert,) = await world.raise_due()
    assert await world.raise_due() == []
    (row,) = await world.alerts()
    assert (row.id, row.state, row.severity, row.kind) == (alert, "open", "critical", "drift")
    assert row.title == "🔇✕ Silent breaking change · orders / 2 tools"
    (delivery,) = await world.outbox()
    assert (delivery.alert_id, delivery.event, delivery.state) == (alert, "drift.opened", "queued")
    assert delivery.payload["title"] == row.title
    assert "+1 compatible change." in str(delivery.payload)
    async with world.db.transaction() as session:
        view = await read.load_alert(session, alert)
        found = await read.alert_for_changeset(session, changeset)
        told = await delivery_read.deliveries_for_alert(session, alert)
    assert found == view
    assert [(c.tool, c.era, c.outcome) for c in view.changes] == [
        ("get_order", "modern", "alert"),
        ("get_order", "legacy", "alert"),
        ("refund", "modern", "alert"),
        ("search", "modern", "summary"),
    ]
    assert [d.channel for d in told] == ["slack"]


async def test_decisions_hold_the_path(world: World) -> None:
    change = await world.change(await world.server())
    await world.raise_due()
    async with world.db.transaction() as session:
        (decision,) = await read.decisions_for_change(session, change)
    assert (decision.outcome, decision.line, decision.severity) == ("alert", "silent-break", "critical")
    assert decision.path[-1]["matched"] is True
    assert decision.alert_id is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"age": 1},
        {"announcement": "pending"},
        {"announcement": None, "state": "assessed"},
        {"announcement": None, "state": "recorded"},
    ],
)
async def test_what_is_not_complete_waits(world: World, fields: dict[str, object]) -> None:
    server = await world.server()
    first = await world.change(server, "search", age=30)
    await world.change(server, changeset=await world.changeset_of(first), **{"age": 30, **fields})  # type: ignore[arg-type]  # as above
    assert await world.raise_due() == []
    assert await world.decisions() == []


async def test_a_changeset_that_never_stops_growing_is_told_in_the_end(world: World) -> None:
    server = await world.server()
    first = await world.change(server, "search", age=61)
    await world.change(server, age=0, changeset=await world.changeset_of(first))
    assert len(await world.raise_due()) == 1


async def test_quiet_changes_open_nothing(world: World) -> None:
    server = await world.server()
    await world.change(server, "search", verdict="compatible", part="text", said="the description changed")
    await world.change(server, "list", verdict="compatible", part="input")
    await world.change(server, "new", None, 1, verdict="compatible", part="presence")
    assert await world.raise_due() == []
    assert [d.outcome for d in await world.decisions()] == ["history", "summary", "summary"]
    assert await world.alerts() == []
    assert await world.outbox() == []


async def test_two_processes_raise_it_once(world: World) -> None:
    server = await world.server()
    for number in range(12):
        await world.change(server, f"tool{number}")
    raised = await asyncio.gather(*(world.raise_due() for _ in range(6)))
    assert len([alert for alerts in raised for alert in alerts]) == 12
    assert len(await world.outbox()) == 6, "six messages a server an hour"
    assert [a.held for a in await world.alerts()].count("rate") == 6


async def test_without_a_channel_alerts_open_and_nobody_is_told(quiet_world: World) -> None:
    await quiet_world.change(await quiet_world.server())
    (alert,) = await quiet_world.raise_due()
    assert await quiet_world.outbox() == []
    async with quiet_world.db.transaction() as session:
        assert await delivery_read.channels(session) == []
        assert await delivery_read.deliveries_for_alert(session, alert) == []
        assert [a.id for a in await read.open_alerts(session)] == [alert]


async def test_the_same_drift_is_told_once(world: World) -> None:
    server = await world.server(eras=("modern", "legacy"))
    first = await world.change(server)
    (alert,) = await world.raise_due()
    await world.change(server, era="legacy", changeset=await world.changeset_of(first))
    assert await world.raise_due() == [alert]
    await world.change(server, old=2, new=3, verdict="compatible", part="text", said="words")
    assert await world.raise_due() == []
    assert len(await world.outbox()) == 1
    assert await world.events(alert) == ["opened", "seen-again"]


async def test_new_drift_joins_the_open_alert_with_one_more_message(world: World) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    async with world.db.transaction() as session:
        await lifecycle.acknowledge(session, world.services.settings, alert, actor="mei")
    second = await world.change(server, old=2, new=3, said="`total` may now be missing")
    assert await world.raise_due() == [alert]
    (row,) = await world.alerts()
    assert row.state == "open"
    messages = await world.outbox()
    assert [m.event for m in messages] == ["drift.opened", "drift.updated"]
    assert messages[0].ordering_key == messages[1].ordering_key
    assert "acknowledged and still open" in str(messages[1].payload)
    async with world.db.transaction() as session:
        joined = await read.alert_for_changeset(session, await world.changeset_of(second))
    assert joined is not None
    assert joined.id == alert


async def test_other_tools_open_another_alert(world: World) -> None:
    server = await world.server()
    await world.change(server, "one")
    await world.change(server, "two")
    assert len(await world.raise_due()) == 2


async def test_accepting_moves_the_baseline(world: World) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    assert await baseline(world, server) == (1, "first")
    await accept(world, alert, reason=None)
    assert await baseline(world, server) == (2, "person")
    (row,) = await world.alerts()
    assert (row.state, row.handled_by, row.closed_at is None, row.settles_at) == ("accepted", "mei", False, None)
    assert await world.events() == ["opened", "accepted"]
    assert len(await world.outbox()) == 1


async def test_what_was_accepted_in_one_profile_is_accepted_in_the_other(world: World) -> None:
    server = await world.server(eras=("modern", "legacy"))
    first = await world.change(server)
    (alert,) = await world.raise_due()
    await accept(world, alert)
    await world.change(server, era="legacy", changeset=await world.changeset_of(first))
    assert await world.raise_due() == [alert]
    assert (await world.alerts())[0].state == "accepted"
    assert await baseline(world, server, era="legacy") == (2, "person")
    assert len(await world.outbox()) == 1


async def test_more_of_an_accepted_deploy_opens_its_alert_again(world: World) -> None:
    server = await world.server()
    first = await world.change(server)
    (alert,) = await world.raise_due()
    await accept(world, alert)
    await world.change(server, "refund", changeset=await world.changeset_of(first))
    assert await world.raise_due() == [alert]
    assert (await world.alerts())[0].state == "open"
    assert "More of a deploy that was accepted." in str((await world.outbox())[1].payload)


async def test_a_pinned_server_demands_a_reason_and_never_moves_by_itself(world: World) -> None:
    server = await world.server(mode="pinned")
    await world.change(server, "search", verdict="compatible", part="input")
    await world.change(server)
    (alert,) = await world.raise_due()
    assert await baseline(world, server, "search") == (1, "first")
    (row,) = await world.alerts()
    assert row.settles_at is None
    for reason in (None, "", "  "):
        with pytest.raises(InputError, match="reason is needed"):
            await accept(world, alert, reason=reason)
    await accept(world, alert, reason="carriers may be pending")
    assert await baseline(world, server) == (2, "person")


async def test_single_tools_can_be_accepted(world: World) -> None:
    server = await world.server()
    first = await world.change(server, "one")
    await world.change(server, "two", changeset=await world.changeset_of(first))
    (alert,) = await world.raise_due()
    await accept(world, alert, tools=[server.tools["modern", "one"]])
    assert (await world.alerts())[0].state == "open"
    assert await baseline(world, server, "one") == (2, "person")
    assert await baseline(world, server, "two") == (1, "first")
    with pytest.raises(InputError, match="does not tell"):
        await accept(world, alert, tools=[999_999])
    await accept(world, alert, tools=[server.tools["modern", "two"]])
    assert (await world.alerts())[0].state == "accepted"


async def test_closed_alerts_say_so(world: World) -> None:
    await world.change(await world.server())
    (alert,) = await world.raise_due()
    await accept(world, alert)
    with pytest.raises(ConflictError, match="already accepted by mei"):
        await accept(world, alert)
    with pytest.raises(ConflictError, match="was accepted by mei; it cannot be acknowledged"):
        async with world.db.transaction() as session:
            await lifecycle.acknowledge(session, world.services.settings, alert, actor="bo")
    with pytest.raises(NotFoundError):
        await accept(world, alert + 1)


async def test_follow_advances_over_what_is_compatible_only(world: World) -> None:
    server = await world.server()
    await world.change(server, verdict="compatible", part="input")
    await world.raise_due()
    assert await baseline(world, server) == (2, "follow")
    await world.change(server, old=2, new=3)
    await world.raise_due()
    assert await baseline(world, server) == (2, "follow")
    await world.change(server, old=3, new=4, verdict="compatible", part="input")
    await world.raise_due()
    assert await baseline(world, server) == (2, "follow"), "a harmless change must not accept the break below it"


async def test_a_tool_that_was_added_is_its_own_baseline_when_followed(world: World) -> None:
    followed, pinned = await world.server("a"), await world.server("b", mode="pinned")
    for server in (followed, pinned):
        await world.change(server, "new", None, 1, verdict="compatible", part="presence")
    await world.raise_due()
    assert await baseline(world, followed, "new") == (1, "follow")
    assert await baseline(world, pinned, "new") == (None, "first")


async def test_what_goes_back_reverts_the_alert_and_says_so_once(world: World) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    await world.change(server, old=2, new=1)
    assert await world.raise_due() == [alert]
    (row,) = await world.alerts()
    assert row.state == "reverted"
    assert [m.event for m in await world.outbox()] == ["drift.opened", "drift.reverted"]
    assert [d.line for d in await world.decisions()] == ["silent-break", "back-at-baseline"]
    assert await baseline(world, server) == (1, "first")


async def test_an_alert_reverts_when_all_its_tools_are_back(world: World) -> None:
    server = await world.server()
    first = await world.change(server, "one")
    await world.change(server, "two", changeset=await world.changeset_of(first))
    await world.raise_due()
    await world.change(server, "one", 2, 1)
    assert await world.raise_due() == []
    assert (await world.alerts())[0].state == "open"
    await world.change(server, "two", 2, 1)
    assert len(await world.raise_due()) == 1
    assert (await world.alerts())[0].state == "reverted"


async def test_a_removed_tool_that_returns_reverts(world: World) -> None:
    server = await world.server()
    await world.change(server, old=1, new=None, part="presence")
    (alert,) = await world.raise_due()
    await world.change(server, old=None, new=1, verdict="compatible", part="presence")
    assert await world.raise_due() == [alert]
    assert (await world.alerts())[0].state == "reverted"


async def test_drift_that_returns_within_a_day_opens_its_alert_again(world: World) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    await world.change(server, old=2, new=1)
    await world.raise_due()
    await world.change(server)
    assert await world.raise_due() == [alert]
    assert (await world.alerts())[0].state == "open"
    assert [m.event for m in await world.outbox()] == ["drift.opened", "drift.reverted", "drift.reopened"]
    await world.change(server, old=2, new=1)
    await world.raise_due()
    await world.sql("UPDATE alert SET closed_at = now() - interval '25 h'")
    await world.change(server)
    assert (await world.raise_due()) != [alert]


async def test_followed_alerts_settle(world: World) -> None:
    followed, pinned = await world.server("a"), await world.server("b", mode="pinned")
    await world.change(followed)
    await world.change(pinned)
    first, second = await world.raise_due()
    async with world.db.transaction() as session:
        assert await lifecycle.settle_due(session, world.services.settings) == []
    await world.sql("UPDATE alert SET settles_at = now() - interval '1 s' WHERE settles_at IS NOT NULL")
    async with world.db.transaction() as session:
        assert await lifecycle.settle_due(session, world.services.settings) == [first]
    assert [a.state for a in await world.alerts()] == ["settled", "open"]
    assert await baseline(world, followed) == (2, "settled")
    assert await baseline(world, pinned) == (1, "first")
    assert len(await world.outbox()) == 2
    assert second


async def test_a_later_judgement_amends_and_never_posts(world: World) -> None:
    server = await world.server()
    change = await world.change(server, announcement="unknown")
    (alert,) = await world.raise_due()
    assert "unknown" in (await world.alerts())[0].title
    await world.sql("UPDATE change SET announcement = 'silent', announcement_reason = 'restart'; ")
    await world.sql(
        "INSERT INTO judgement (change_id, at, announcement, reason, rule, evidence) "
        "VALUES (:change, now(), 'silent', 'restart', 6, '{}')",
        change=change,
    )
    async with world.db.transaction() as session:
        assert await lifecycle.amend(session, world.services.settings, [change]) == [alert]
    assert [d.line for d in await world.decisions()] == ["unknown-break", "silent-break"]
    (row,) = await world.alerts()
    assert row.title == "🔇✕ Silent breaking change · orders / get_order"
    (message,) = await world.outbox()
    assert "restarted, no list_changed" in str(message.payload), "the waiting message is put right"
    assert await world.events() == ["opened", "amended"]
    async with world.db.transaction() as session:
        (view,) = (await read.load_alert(session, alert)).changes
    assert view.outcome == "alert"


async def test_an_amendment_of_what_is_not_decided_waits(world: World) -> None:
    change = await world.change(await world.server(), age=0)
    async with world.db.transaction() as session:
        assert await lifecycle.amend(session, world.services.settings, [change]) == []
    assert await world.decisions() == []


async def test_deleted_servers_alert_nobody(world: World) -> None:
    server = await world.server()
    await world.change(server)
    await world.sql("UPDATE server SET state = 'deleted'")
    assert await world.raise_due() == []
    assert [d.outcome for d in await world.decisions()] == ["alert"]
    assert await world.alerts() == []


async def test_161_tools_are_one_readable_message(world: World) -> None:
    server = await world.server()
    first = await world.change(server, "tool_000")
    changeset = await world.changeset_of(first)
    for number in range(1, 161):
        await world.change(server, f"tool_{number:03}", changeset=changeset)
    (alert,) = await world.raise_due()
    (message,) = await world.outbox()
    assert message.payload["title"].endswith("orders / 161 tools")
    assert "161 tools changed at once: 161 breaking." in str(message.payload)
    async with world.db.transaction() as session:
        assert len((await read.load_alert(session, alert)).changes) == 161


async def test_names_that_postgres_or_slack_would_choke_on(world: World) -> None:
    server = await world.server()
    await world.change(server, "a\x00b\ud800\u202e<!channel>", said="`x\x00` \ud800")
    (alert,) = await world.raise_due()
    async with world.db.transaction() as session:
        view = await read.load_alert(session, alert)
    assert "a\x00b\ud800" in view.title
