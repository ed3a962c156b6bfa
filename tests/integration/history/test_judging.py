"""Assessed changes are judged from stored evidence, amended by new evidence, and left alone when the roll is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlmodel import col, func, select, update

from driftwatch.history import read
from driftwatch.history.evidence import JudgementRow, Notification, StreamInterval
from driftwatch.history.evidence_store import judge_due, note_restarts
from driftwatch.history.record import Recorded
from driftwatch.history.tables import Change
from driftwatch.history.views import ChangeView
from driftwatch.scheduler.tables import ProfileState
from driftwatch.wire.facts import Era, Restart

World = Any  # conftest.py's; it cannot be imported from here

OPEN = {"type": "object", "properties": {}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


async def now(world: World) -> datetime:
    async with world.db.transaction() as session:
        return (await session.exec(select(func.clock_timestamp()))).one()


async def assessed(world: World) -> None:
    async with world.db.transaction() as session:
        recorded = update(Change).where(col(Change.state) == "recorded")
        await session.exec(recorded.values(state="assessed"))


async def judged(world: World) -> list[int]:
    async with world.db.transaction() as session:
        return await judge_due(session, world.settings, 100)


async def changes(world: World) -> list[ChangeView]:
    async with world.db.transaction() as session:
        return await read.load_changes(session)


async def answers(world: World) -> list[tuple[str | None, str | None]]:
    return [(change.announcement, change.announcement_reason) for change in reversed(await changes(world))]


async def drift(world: World, first: Sequence[dict[str, Any]], then: Sequence[dict[str, Any]], **more: Any) -> Recorded:
    """A baseline at 0, the change first seen at 60 and believed at 62; ``more`` belongs to the poll at 60."""
    await world.poll(0, first)
    await world.poll(60, then, **more)
    found = await world.poll(62, then, **{key: more[key] for key in more if key == "start"})
    await assessed(world)
    return found


async def test_an_undeclared_server_is_silent(world: World) -> None:
    found = await drift(world, [tool("a")], [tool("a", description="x")])
    assert await judged(world) == list(found.changes)
    (change,) = await changes(world)
    assert (change.announcement, change.announcement_reason, change.state) == ("silent", "not-declared", "judged")
    assert change.judgement is not None
    assert change.judgement.rule == 3
    assert change.judgement.evidence["declared"] is False
    assert change.judgement.evidence["listening"] == "off"
    assert await judged(world) == []


async def test_a_declared_server_we_do_not_listen_to_is_unknown(world: World) -> None:
    world.declared = True
    await drift(world, [tool("a")], [tool("a", description="x")])
    await judged(world)
    assert await answers(world) == [("unknown", None)]


async def test_what_was_declared_before_the_change_counts(world: World) -> None:
    await world.poll(0, [tool("a")])
    world.declared = True
    for second in (60, 62):
        await world.poll(second, [tool("a", description="x")])
    await assessed(world)
    await judged(world)
    assert await answers(world) == [("silent", "not-declared")]


@pytest.mark.parametrize(("declared", "fact"), [(True, None), (False, "undeclared")])
async def test_a_notification_on_a_reply_announces(world: World, declared: bool, fact: str | None) -> None:
    world.declared = declared
    found = await drift(
        world, [tool("a"), tool("b")], [tool("a", description="x"), tool("b", title="y")], notified=[60.1]
    )
    assert len(await judged(world)) == 2
    assert await answers(world) == [("announced", None)] * 2
    assert {change.judgement.fact for change in await changes(world) if change.judgement} == {fact}
    async with world.db.transaction() as session:
        (row,) = (await session.exec(select(Notification))).all()
    assert (row.source, row.spent_by) == ("reply", found.changesets[0])


async def test_a_notification_is_spent_by_the_first_change_it_explains(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(10, [tool("a", description="x")], notified=[5])
    await world.poll(12, [tool("a", description="x")])
    await assessed(world)
    await judged(world)
    await world.poll(20, [tool("a", description="y")])
    await world.poll(22, [tool("a", description="y")])
    await assessed(world)
    await judged(world)
    assert await answers(world) == [("announced", None), ("silent", "not-declared")]


async def test_a_notification_of_another_profile_explains_nothing(world: World) -> None:
    await world.poll(0, [tool("a")], profile=1, era=Era.LEGACY)
    await world.poll(60, [tool("a")], profile=1, era=Era.LEGACY, notified=[60.1])
    await drift(world, [tool("a")], [tool("a", description="x")])
    await judged(world)
    assert await answers(world) == [("silent", "not-declared")]


async def test_a_notification_right_after_initialize_is_noise(world: World) -> None:
    await drift(
        world, [tool("a")], [tool("a", description="x")], era=Era.LEGACY, session_replaced=True, notified=[60.1]
    )
    await judged(world)
    assert await answers(world) == [("silent", "not-declared")]
    async with world.db.transaction() as session:
        assert (await session.exec(select(Notification.source))).all() == ["start-up"]


async def test_restart_evidence_in_the_window_is_the_reason(world: World) -> None:
    await drift(world, [tool("a")], [tool("a", description="x")], restarts=[30])
    await judged(world)
    assert await answers(world) == [("silent", "restart")]
    (change,) = await changes(world)
    assert change.judgement is not None
    assert change.judgement.evidence["restart_kinds"] == ["http-503"]
    assert change.judgement.evidence["restarts"] == [(world.start + timedelta(seconds=30)).timestamp()]


async def test_restart_evidence_before_the_window_is_not(world: World) -> None:
    await world.poll(0, [tool("a")], restarts=[-5])
    await world.poll(60, [tool("a", description="x")])
    await world.poll(62, [tool("a", description="x")])
    await assessed(world)
    await judged(world)
    assert await answers(world) == [("silent", "not-declared")]


async def test_a_later_restart_amends_the_answer(world: World) -> None:
    start = await now(world) - timedelta(seconds=70)
    await world.poll(0, [tool("a")], start=start)
    await world.poll(60, [tool("a", description="x")], start=start)
    await world.poll(62, [tool("a", description="x")], start=start)
    await assessed(world)
    first = await judged(world)
    assert await judged(world) == []
    async with world.db.transaction() as session:
        restart = Restart(start + timedelta(seconds=69), "refused")
        await note_restarts(session, world.profiles[0], [restart])
    assert await judged(world) == first
    assert await answers(world) == [("silent", "restart")]
    async with world.db.transaction() as session:
        rows = (await session.exec(select(JudgementRow).order_by(col(JudgementRow.id)))).all()
        change = (await session.exec(select(Change))).one()
    assert [row.reason for row in rows] == ["not-declared", "restart"]
    assert change.judge_at == change.window_end + timedelta(seconds=900)


async def test_when_the_roll_is_over_the_answer_is_final(world: World) -> None:
    await drift(world, [tool("a")], [tool("a", description="x")])
    await judged(world)
    async with world.db.transaction() as session:
        assert (await session.exec(select(Change.judge_at))).one() is None
        await note_restarts(session, world.profiles[0], [Restart(world.start + timedelta(seconds=30), "refused")])
    assert await judged(world) == []
    assert await answers(world) == [("silent", "not-declared")]


async def test_unassessed_changes_are_not_judged(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.hold(60, [tool("a", description="x")])
    assert await judged(world) == []


async def test_a_held_stream_is_waited_for(world: World) -> None:
    world.declared = True
    start = await now(world) - timedelta(seconds=70)
    async with world.db.transaction() as session:
        acked = start - timedelta(seconds=600)
        session.add(StreamInterval(profile_id=world.profiles[0], acked=acked, verified_until=start))
    await world.poll(0, [tool("a")], start=start)
    await world.poll(60, [tool("a", description="x")], start=start)
    await world.poll(62, [tool("a", description="x")], start=start)
    await assessed(world)
    assert len(await judged(world)) == 1
    (change,) = await changes(world)
    assert (change.announcement, change.state) == ("pending", "assessed")
    async with world.db.transaction() as session:
        again = (await session.exec(select(Change.judge_at))).one()
        assert again is not None
        await session.exec(update(StreamInterval).values(verified_until=start + timedelta(seconds=200)))
        await session.exec(update(Change).values(judge_at=func.clock_timestamp()))
    assert timedelta() < again - await now(world) <= timedelta(seconds=5)
    await judged(world)
    (change,) = await changes(world)
    assert (change.announcement, change.announcement_reason, change.state) == ("silent", "not-delivered", "judged")


async def test_a_profile_that_is_being_written_is_left_for_later(world: World) -> None:
    await drift(world, [tool("a")], [tool("a", description="x")])
    async with world.db.transaction() as session:
        await session.exec(select(ProfileState).with_for_update())
        assert await judged(world) == []
    assert len(await judged(world)) == 1


async def test_the_settings_are_the_rules_times(world: World) -> None:
    world.settings = world.settings.model_copy(update={"announcement_lead_seconds": 1.0})
    await drift(world, [tool("a")], [tool("a", description="x")])
    await world.poll(70, [tool("a", description="x")], notified=[-2])
    await judged(world)
    assert await answers(world) == [("silent", "not-declared")]
