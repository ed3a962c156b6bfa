"""Mutes, maintenance windows, the hourly limit and reminders on a real Postgres: held back, told later, never lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.world import Services, Watched, World

from driftwatch.alerts import actions, blindness, outbox, release
from driftwatch.alerts.actions import By
from driftwatch.errors import ConflictError, InputError, NotFoundError
from driftwatch.testing.fake_slack import FakeSlack

pytestmark = pytest.mark.oldest_postgres

MEI = By("mei", "r1")


def soon(hours: float = 1) -> datetime:
    return datetime.now(UTC) + timedelta(hours=hours)


def settings_with(services: Services, **given: Any) -> Any:
    return services.settings.model_copy(update=given)


async def texts(world: World, fake: FakeSlack) -> list[str]:
    await outbox.deliver_due(world.services)
    return [str(m.body["text"]) for m in fake.messages]


async def released(world: World) -> list[int]:
    async with world.db.transaction() as session:
        return await release.release_due(session, world.services.settings)


async def mute(world: World, alert: int) -> int:
    async with world.db.transaction() as session:
        return await actions.mute_alert(session, world.services.settings, MEI, alert, until=soon(), reason="known")


async def audited(world: World) -> list[str]:
    async with world.db.engine.begin() as connection:
        rows = await connection.exec_driver_sql("SELECT actor, action FROM audit_log ORDER BY id")
        return [f"{actor} {action}" for actor, action in rows]


async def flap(world: World, server: Watched) -> None:
    """The drift goes away and comes back."""
    await world.change(server, old=2, new=1, verdict="compatible")
    await world.raise_due()
    await world.change(server)
    await world.raise_due()


async def test_a_mute_holds_back_what_is_known_and_ends_at_what_is_new(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    await mute(world, alert)
    before = await texts(world, fake)
    await flap(world, server)
    (row,) = await world.alerts()
    assert (row.state, row.held) == ("open", "muted")
    after = await texts(world, fake)
    assert len(after) == len(before) + 1, "only that it was back at the accepted contract"
    await world.change(server, old=2, new=3, said="`total` may now be missing")
    await world.raise_due()
    assert len(await texts(world, fake)) == len(after) + 1
    assert "This is a new change: it ends the mute by mei." in str(fake.messages[-1].body)
    (row,) = await world.alerts()
    assert row.held is None
    assert await audited(world) == ["mei mute.add"]


async def test_what_a_mute_held_back_is_told_when_it_ends(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()
    mute_id = await mute(world, alert)
    await flap(world, server)
    count = len(await texts(world, fake))
    assert await released(world) == []
    async with world.db.transaction() as session:
        await actions.end_mute(session, MEI, mute_id)
    assert await released(world) == [alert]
    assert len(await texts(world, fake)) == count + 1
    assert "The mute is over, and this is still open." in str(fake.messages[-1].body)
    assert await released(world) == []


async def test_a_muted_tool_and_a_muted_server_cover_known_drift_only(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    async with world.db.transaction() as session:
        await actions.mute_server(session, MEI, server.id, until=soon(), tool="get_order")
    await world.change(server)
    await world.raise_due()
    assert len(await texts(world, fake)) == 1, "nobody had heard of it: a mute hides nothing new"


async def test_maintenance_holds_messages_back_and_tells_afterwards(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    async with world.db.transaction() as session:
        window = await actions.maintain(session, MEI, starts_at=soon(-1), ends_at=soon(), server_id=server.id)
    await world.change(server)
    await world.change(server, "refund")
    await world.change(server, "search")
    await world.raise_due()
    await world.change(server, "search", old=2, new=1, verdict="compatible")
    await world.raise_due()
    assert [a.held for a in await world.alerts()] == ["maintenance", "maintenance", None]
    assert await texts(world, fake) == []
    assert await released(world) == []
    async with world.db.transaction() as session:
        await actions.end_maintenance(session, MEI, window)
    assert len(await released(world)) == 2
    (text,) = await texts(world, fake)
    assert text == "2 alerts · orders"
    assert "get_order — open" in str(fake.messages[0].body)
    assert "search" not in str(fake.messages[0].body), "it was over before anybody heard of it"


async def test_one_held_alert_is_told_in_full(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    async with world.db.transaction() as session:
        window = await actions.maintain(session, MEI, starts_at=soon(-1), ends_at=soon(), tag=None)
    await world.change(server)
    await world.raise_due()
    async with world.db.transaction() as session:
        await actions.end_maintenance(session, MEI, window)
    await released(world)
    (text,) = await texts(world, fake)
    assert text.startswith("🔇✕ Silent breaking change · orders / get_order")
    assert "Held back during maintenance, which is over." in str(fake.messages[0].body)


async def test_nobody_is_told_that_a_server_in_maintenance_cannot_be_watched(world: World) -> None:
    server = await world.server()
    await world.sql(
        "UPDATE profile_state SET failures = 9, state = 'unreachable', failing_since = now() - interval '2 days'"
    )
    async with world.db.transaction() as session:
        await actions.maintain(session, MEI, starts_at=soon(-1), ends_at=soon(), server_id=server.id)
    async with world.db.transaction() as session:
        assert await blindness.raise_blind(session, world.services.settings) == []
    await world.sql("UPDATE maintenance_window SET ends_at = now()")
    async with world.db.transaction() as session:
        assert len(await blindness.raise_blind(session, world.services.settings)) == 1


async def test_six_messages_an_hour_then_one_summary(world: World, fake: FakeSlack) -> None:
    server = await world.server()
    for number in range(9):
        await world.change(server, f"tool{number}")
    await world.raise_due()
    assert len(await texts(world, fake)) == 6
    assert any("This is message 6 about this server within an hour" in str(m.body) for m in fake.messages)
    assert await released(world) == []
    await world.sql("UPDATE outbox SET created_at = created_at - interval '61 min'")
    assert len(await released(world)) == 3
    assert (await texts(world, fake))[-1] == "3 alerts · orders"


async def test_another_server_has_its_own_hour(world: World, fake: FakeSlack) -> None:
    orders, crm = await world.server(), await world.server("crm")
    for number in range(7):
        await world.change(orders, f"tool{number}")
    await world.change(crm)
    await world.raise_due()
    assert len(await texts(world, fake)) == 7


async def test_reminders_are_off_and_stop_when_somebody_is_on_it(world: World, fake: FakeSlack) -> None:
    await world.change(await world.server())
    (alert,) = await world.raise_due()
    await world.sql("UPDATE outbox SET created_at = now() - interval '25 h'")
    await world.sql("UPDATE alert SET opened_at = now() - interval '25 h'")

    async def remind(hours: float) -> list[int]:
        async with world.db.transaction() as session:
            return await release.remind_due(session, settings_with(world.services, reminder_hours=hours))

    assert await remind(0) == []
    assert await remind(48) == []
    assert await remind(24) == [alert]
    assert await remind(24) == [], "not again before another day is over"
    assert (await texts(world, fake))[-1].startswith("Still open after 25 h")
    await world.sql("UPDATE outbox SET created_at = now() - interval '25 h'")
    async with world.db.transaction() as session:
        await actions.acknowledge(session, world.services.settings, MEI, alert)
    assert await remind(24) == []


async def test_an_ignore_rule_holds_from_now_on_and_expires(world: World) -> None:
    server = await world.server()
    async with world.db.transaction() as session:
        rule = await actions.ignore(
            session,
            MEI,
            server_id=server.id,
            tool="get_order",
            rule=None,
            pointer=None,
            reason="sandbox",
            expires_at=soon(),
        )
    await world.change(server)
    assert await world.raise_due() == []
    assert [(d.line, d.outcome) for d in await world.decisions()] == [("ignored", "history")]
    await world.sql("UPDATE ignore_rule SET expires_at = now()")
    await world.change(server, old=2, new=3)
    assert len(await world.raise_due()) == 1
    async with world.db.transaction() as session:
        await actions.end_ignore(session, MEI, rule)
    with pytest.raises(ConflictError):
        async with world.db.transaction() as session:
            await actions.end_ignore(session, MEI, rule)
    assert await audited(world) == ["mei ignore.add", "mei ignore.end"]


async def test_a_changed_line_decides(world: World) -> None:
    server = await world.server()
    async with world.db.transaction() as session:
        for outcome, severity in (("history", None), ("alert", "notice")):
            await actions.change_line(
                session, MEI, line="silent-break", outcome=outcome, severity=severity, server_id=server.id
            )
    await world.change(server)
    await world.raise_due()
    (row,) = await world.alerts()
    assert row.severity == "notice"
    (decision,) = await world.decisions()
    assert "changed for this server by mei" in decision.path[-1]["words"]


async def test_what_makes_no_sense_is_refused(world: World) -> None:
    server = await world.server()
    await world.change(server)
    (alert,) = await world.raise_due()

    async def refused(error: type[Exception], action: Any) -> None:
        with pytest.raises(error):
            async with world.db.transaction() as session:
                await action(session)

    await refused(InputError, lambda s: actions.mute_server(s, MEI, server.id, until=soon(-1)))
    await refused(InputError, lambda s: actions.mute_server(s, MEI, server.id, until=soon(24 * 100)))
    await refused(NotFoundError, lambda s: actions.mute_server(s, MEI, 999, until=soon()))
    nothing = {"server_id": None, "tool": None, "rule": None, "pointer": None}
    await refused(InputError, lambda s: actions.ignore(s, MEI, **nothing, reason="all of it"))
    await refused(InputError, lambda s: actions.ignore(s, MEI, **{**nothing, "tool": "x"}, reason=" "))
    await refused(InputError, lambda s: actions.maintain(s, MEI, starts_at=soon(2), ends_at=soon(1)))
    await refused(
        InputError, lambda s: actions.maintain(s, MEI, starts_at=soon(), ends_at=soon(2), server_id=1, tag="a")
    )
    async with world.db.transaction() as session:
        await actions.accept(session, world.services.settings, MEI, alert)
    await refused(ConflictError, lambda s: actions.mute_alert(s, world.services.settings, MEI, alert, until=soon()))
