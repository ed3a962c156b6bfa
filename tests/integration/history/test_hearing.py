"""What was heard becomes evidence: every vector of the rules, told to the tables and judged from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlmodel import col, func, select, update

from driftwatch.history import evidence as tables
from driftwatch.history.evidence import Notification, RestartEvidence, StreamInterval
from driftwatch.history.evidence_store import constants_of, judge_due
from driftwatch.history.hearing import heard_at, load_hearing, spend_due
from driftwatch.history.tables import Change
from driftwatch.scheduler.tables import ProfileState

World = Any  # conftest.py's; it cannot be imported from here

OPEN = {"type": "object", "properties": {}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


@dataclass
class S:
    """A stream in seconds of the vectors: W is (100, 160)."""

    acked: float
    until: float | None
    ended_by: str = "open"


@dataclass
class V:
    """A vector: what was heard at which second, and the answer."""

    name: str
    now: float
    declared: bool
    listening: str
    streams: Sequence[S]
    notified: Sequence[float]
    restarts: Sequence[float]
    answer: tuple[str, str | None]


#: the facts of the rules' vectors, told to the tables: (now, declared, listening, streams, notified, restarts) → answer
VECTORS = [
    V("notified", 300, True, "ok", [S(0, 300)], [130], [], ("announced", None)),
    V("nothing came", 300, True, "ok", [S(0, 290)], [], [], ("silent", "not-delivered")),
    V("inside the lag", 200, True, "ok", [S(0, 199)], [], [], ("pending", None)),
    V("coverage not flushed yet", 225, True, "ok", [S(0, 215)], [], [], ("pending", None)),
    V("coverage never arrived", 300, True, "ok", [S(0, 215)], [], [], ("unknown", None)),
    V("notified after the poll saw it", 300, True, "ok", [S(0, 290)], [200], [], ("announced", None)),
    V("exactly at the end of the lag", 300, True, "ok", [S(0, 290)], [220], [], ("announced", None)),
    V("just after it", 300, True, "ok", [S(0, 290)], [220.1], [], ("silent", "not-delivered")),
    V("undeclared but notified", 300, False, "ok", [S(0, 290)], [120], [], ("announced", None)),
    V("not declared", 300, False, "off", [], [], [], ("silent", "not-declared")),
    V("not declared, restarted", 300, False, "off", [], [], [120], ("silent", "restart")),
    V("not declared, restarted long before", 300, False, "off", [], [], [20], ("silent", "not-declared")),
    V("not declared, restarted after the roll", 2000, False, "off", [], [], [1061], ("silent", "not-declared")),
    V("undeliverable", 300, True, "cannot-deliver", [], [], [], ("silent", "cannot-deliver")),
    V("undeliverable, restarted", 300, True, "cannot-deliver", [], [], [150], ("silent", "restart")),
    V("subscription limit", 300, True, "limit", [], [], [], ("unknown", None)),
    V("poll only", 300, True, "off", [], [], [], ("unknown", None)),
    V("poll only, restarted", 300, True, "off", [], [], [140], ("unknown", None)),
    V("our gap", 300, True, "ok", [S(0, 110, "us"), S(120, 290)], [], [], ("unknown", None)),
    V("recycled", 300, True, "ok", [S(0, 130, "us"), S(125, 290)], [], [], ("silent", "not-delivered")),
    V("opened after the window began", 300, True, "ok", [S(150, 290)], [], [], ("unknown", None)),
    V("opened inside the lead", 300, True, "ok", [S(60, 290)], [], [], ("unknown", None)),
    V("half-open", 300, True, "ok", [S(0, 80)], [], [], ("unknown", None)),
    V("killed listener", 300, True, "ok", [S(0, None)], [], [], ("unknown", None)),
    V("server broke it", 300, True, "ok", [S(0, 130, "server"), S(133, 290)], [], [131], ("silent", "restart")),
    V("proxy cut it", 300, True, "ok", [S(0, 130, "server"), S(133, 290)], [], [], ("unknown", None)),
    V("too late", 300, True, "ok", [S(150, 200, "server"), S(210, 290)], [], [205], ("unknown", None)),
    V("covered, restarted", 300, True, "ok", [S(0, 290)], [], [150], ("silent", "restart")),
    V("old replica drained later", 900, True, "ok", [S(0, 640, "server")], [], [645], ("silent", "restart")),
    V("recycled by us, restarted", 300, True, "ok", [S(0, 95, "us")], [], [140], ("unknown", None)),
]


async def clock(world: World) -> datetime:
    async with world.db.transaction() as session:
        return (await session.exec(select(func.clock_timestamp()))).one()


async def heard(world: World, vector: V, start: datetime) -> None:
    """Write what was heard; ``start`` is second 0."""
    profile = world.profiles[0]

    def at(seconds: float) -> datetime:
        return start + timedelta(seconds=seconds)

    async with world.db.transaction() as session:
        for s in vector.streams:
            until = None if s.until is None else at(s.until)
            session.add(
                StreamInterval(profile_id=profile, acked=at(s.acked), verified_until=until, ended_by=s.ended_by)
            )
        for when in vector.notified:
            session.add(Notification(profile_id=profile, at=at(when), source="stream"))
        for when in vector.restarts:
            session.add(RestartEvidence(profile_id=profile, at=at(when), kind="refused"))
        if vector.listening != "ok":
            session.add(tables.Listening(profile_id=profile, at=at(-10), state=vector.listening))


async def change_in(world: World, start: datetime, *, declared: bool) -> None:
    """A change whose window is (100, 160)."""
    world.declared = declared
    await world.poll(100, [tool("a")], start=start)
    await world.poll(159.8, [tool("a", description="x")], start=start)
    await world.poll(162, [tool("a", description="x")], start=start)
    async with world.db.transaction() as session:
        await session.exec(update(Change).values(state="assessed", judge_at=func.clock_timestamp()))


@pytest.mark.parametrize("vector", VECTORS, ids=[v.name for v in VECTORS])
async def test_vectors(world: World, vector: V) -> None:
    start = await clock(world) - timedelta(seconds=vector.now)
    await change_in(world, start, declared=vector.declared)
    await heard(world, vector, start)
    async with world.db.transaction() as session:
        await judge_due(session, world.settings, 10)
    async with world.db.transaction() as session:
        change = (await session.exec(select(Change))).one()
    assert (change.announcement, change.announcement_reason) == vector.answer


async def test_a_notification_whose_follow_ups_saw_the_old_list_is_spent(world: World) -> None:
    await change_in(world, world.start, declared=True)
    async with world.db.transaction() as session:
        for when in (41, 69, 71):
            moment = world.start + timedelta(seconds=when)
            session.add(Notification(profile_id=world.profiles[0], at=moment, source="stream"))
    async with world.db.transaction() as session:
        await judge_due(session, world.settings, 10)
    async with world.db.transaction() as session:
        found = (await session.exec(select(Notification).order_by(col(Notification.at)))).all()
        change = (await session.exec(select(Change))).one()
    # the poll at 100 still saw the old list: 30 s after the first two, not after the third
    assert [row.spent_by is not None for row in found] == [False, False, True]
    assert [row.spent_at is not None for row in found] == [True, True, True]
    assert change.announcement == "announced"


async def test_a_notification_is_not_spent_while_anything_is_open(world: World) -> None:
    async def spent() -> bool:
        async with world.db.transaction() as session:
            await spend_due(session, constants_of(world.settings))
        async with world.db.transaction() as session:
            return (await session.exec(select(Notification.spent_at))).one() is not None

    await world.poll(0, [tool("a")])
    async with world.db.transaction() as session:
        moment = world.start + timedelta(seconds=10)
        session.add(Notification(profile_id=world.profiles[0], at=moment, source="stream"))
    await world.poll(39.9, [tool("a")])
    assert not await spent()
    await world.poll(41, [tool("a", description="x")])
    assert not await spent(), "a difference that began before the last look is in doubt"
    await world.poll(43, [tool("a", description="x")])
    assert not await spent(), "the change it may explain has no answer yet"
    async with world.db.transaction() as session:
        await session.exec(update(Change).values(announcement="unknown"))
    assert await spent()


async def test_many_unanswered_notifications_make_a_server_noisy(world: World) -> None:
    now = await clock(world)
    await world.poll(0, [tool("a")], start=now - timedelta(seconds=400))
    async with world.db.transaction() as session:
        for n in range(11):
            moment = now - timedelta(seconds=300 - n)
            session.add(Notification(profile_id=world.profiles[0], at=moment, source="stream"))
    await world.poll(0, [tool("a")], start=now - timedelta(seconds=100))
    async with world.db.transaction() as session:
        await spend_due(session, constants_of(world.settings))
        state = (await session.exec(select(ProfileState).where(ProfileState.profile_id == world.profiles[0]))).one()
        assert state.noisy_until is not None
        hearing = await load_hearing(session, world.profiles[0])
    assert (hearing.notifications, hearing.unanswered, hearing.noisy) == (11, 11, True)


async def test_whether_we_could_listen_is_known_for_each_moment(world: World) -> None:
    profile, start = world.profiles[0], world.start
    async with world.db.transaction() as session:
        for second, state, reason in ((10, "cannot-deliver", "get-405"), (50, "limit", None)):
            session.add(
                tables.Listening(profile_id=profile, at=start + timedelta(seconds=second), state=state, reason=reason)
            )
    async with world.db.transaction() as session:
        found = [await heard_at(session, profile, start + timedelta(seconds=s)) for s in (0, 10, 49, 50)]
        other = await heard_at(session, world.profiles[1], start)
    assert [one.state for one in found] == ["cannot-deliver", "cannot-deliver", "cannot-deliver", "limit"]
    assert found[0].reason == "get-405"
    assert other.state == "off"


async def test_what_a_server_page_says_of_listening(world: World) -> None:
    now = await clock(world)
    async with world.db.transaction() as session:
        for acked, until, ended in ((90, 60, "server"), (50, 1, "open")):
            session.add(
                StreamInterval(
                    profile_id=world.profiles[0],
                    acked=now - timedelta(seconds=acked),
                    verified_until=now - timedelta(seconds=until),
                    ended_by=ended,
                )
            )
        session.add(tables.Listening(profile_id=world.profiles[0], at=now - timedelta(seconds=90), state="ok"))
    async with world.db.transaction() as session:
        hearing = await load_hearing(session, world.profiles[0])
        nothing = await load_hearing(session, world.profiles[1])
    assert (hearing.state, hearing.since, hearing.gaps) == ("ok", now - timedelta(seconds=50), 1)
    assert (nothing.state, nothing.since, nothing.gaps, nothing.noisy) == ("off", None, 0, False)
