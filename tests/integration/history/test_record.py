"""Polls written into a real Postgres: what is stored, what is not, and what two writers do to each other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlmodel import SQLModel, col, func, select

from driftwatch.alerts.tables import Acceptance
from driftwatch.errors import NotFoundError
from driftwatch.history import read
from driftwatch.history.definitions import load_definition
from driftwatch.history.doubt_store import load_doubts, restless_tools
from driftwatch.history.evidence import Notification, RestartEvidence
from driftwatch.history.record import PolledProfile, Recorded
from driftwatch.history.tables import Blob, Candidate, Change, Changeset, SnapshotRow, Tool, ToolInterval, ToolVersion
from driftwatch.history.views import ChangeView
from driftwatch.scheduler.tables import PollEvent, ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.oldest_postgres

World = Any  # conftest.py's; it cannot be imported from here

OPEN = {"type": "object", "properties": {}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


async def count(world: World, table: type[SQLModel]) -> int:
    async with world.db.transaction() as session:
        return (await session.exec(select(func.count()).select_from(table))).one()


async def rows(world: World, table: type[Any]) -> Sequence[Any]:
    async with world.db.transaction() as session:
        return (await session.exec(select(table).order_by(*table.__table__.primary_key))).all()


async def changes(world: World, *, limit: int = 50, **filters: Any) -> list[ChangeView]:
    async with world.db.transaction() as session:
        return await read.load_changes(session, read.ChangeFilter(**filters), limit=limit)


async def state(world: World, profile: int = 0) -> ProfileState:
    async with world.db.transaction() as session:
        query = select(ProfileState).where(ProfileState.profile_id == world.profiles[profile])
        return (await session.exec(query)).one()


async def everything(world: World) -> dict[str, int]:
    tables = (Blob, Candidate, Change, Changeset, SnapshotRow, Tool, ToolInterval, ToolVersion, Acceptance, PollEvent)
    return {table.__name__: await count(world, table) for table in (*tables, Notification, RestartEvidence)}


async def test_the_first_poll_is_the_accepted_baseline(world: World) -> None:
    found = await world.poll(0, [tool("a"), tool("b", description="x")])
    assert found == Recorded(baseline=True)
    assert await changes(world) == []
    assert [(row.mode, row.by) for row in await rows(world, Acceptance)] == [("first", "driftwatch")] * 2
    assert [row.number for row in await rows(world, ToolVersion)] == [1, 1]
    hot = await state(world)
    assert hot.fingerprint is not None
    assert (hot.tool_count, hot.list_changed_declared, hot.protocol_version) == (2, False, "2026-07-28")


async def test_a_change_is_stored_with_its_window_versions_and_intervals(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(60, [tool("a")])
    doubtful = await world.poll(120, [tool("a", description="new")])
    assert doubtful.confirm_in is not None
    assert 1 <= doubtful.confirm_in <= 5
    assert not doubtful.settled
    hot = await state(world)
    assert (hot.body_sha256, hot.fingerprint) == (None, None)
    found = await world.poll(123, [tool("a", description="new")])
    assert len(found.changes) == len(found.changesets) == 1
    (change,) = await changes(world)
    assert (change.kind, change.tool, change.from_version, change.to_version) == ("changed", "a", 1, 2)
    assert [(moment - world.start).total_seconds() for moment in change.window] == [60, 120.2]
    assert change.state == "recorded"
    old, new = await rows(world, ToolInterval)
    assert old.valid_to == new.valid_from == change.window[1]
    assert (new.window_start, new.valid_to) == (change.window[0], None)
    assert await count(world, Candidate) == 0
    assert await count(world, SnapshotRow) == 2


async def test_the_same_poll_twice_is_the_same_poll_once(world: World) -> None:
    for when, tools in ((0, [tool("a")]), (60, [tool("b")]), (62, [tool("b")])):
        await world.poll(when, tools, notified=[when + 0.1], restarts=[when])
        before = await everything(world)
        again = await world.poll(when, tools, notified=[when + 0.1], restarts=[when])
        assert again.discarded
        assert await everything(world) == before


async def test_a_poll_sent_before_the_last_applied_one_is_discarded(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(60, [tool("a")])
    late = await world.poll(30, [tool("b")])
    assert late.discarded
    assert late.settled
    assert await count(world, Candidate) == 0


async def test_an_unchanged_poll_writes_no_history(world: World) -> None:
    await world.poll(0, [tool("a"), tool("b")])
    before = await everything(world)
    shuffled = [b'{"inputSchema": {"properties": {}, "type": "object"}, "name": "b"}', json.dumps(tool("a")).encode()]
    found = await world.poll(60, shuffled)
    assert found == Recorded()
    assert await everything(world) == before


async def test_a_definition_that_returns_keeps_its_number(world: World) -> None:
    await world.hold(0, [tool("a")])
    await world.hold(100, [tool("a", description="x")])
    await world.hold(200, [tool("a")])
    await world.hold(300, [])
    await world.hold(500, [tool("a", description="x")])
    found = [(change.kind, change.from_version, change.to_version) for change in reversed(await changes(world))]
    assert found == [("changed", 1, 2), ("changed", 2, 1), ("removed", 1, None), ("restored", None, 2)]
    flags = [
        (bool(change.facts.get("known_version")), bool(change.facts.get("transient")))
        for change in reversed(await changes(world))
    ]
    assert flags == [(False, False), (True, True), (False, False), (True, False)]
    assert await count(world, ToolVersion) == 2
    async with world.db.transaction() as session:
        versions = await read.tool_versions(session, 1)
    assert [(version.number, len(version.intervals)) for version in versions] == [(2, 2), (1, 2)]


async def test_order_alone_never_reaches_history_and_one_empty_list_is_no_removal(world: World) -> None:
    await world.poll(0, [tool("a"), tool("b")])
    await world.poll(60, [])
    for second in range(62, 80, 2):
        await world.poll(second, [tool("b"), tool("a")])
    assert await changes(world) == []
    (event,) = {row.outcome for row in await rows(world, PollEvent)}
    assert event == "transient"
    assert (await state(world)).fingerprint is not None


async def test_what_one_deploy_did_to_both_profiles_is_one_changeset(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(0.5, [tool("a")], profile=1, era=Era.LEGACY)
    for second in (60, 63):
        await world.poll(second, [tool("a", description="x"), tool("b")])
        await world.poll(second + 0.5, [tool("a", description="x"), tool("b")], profile=1, era=Era.LEGACY)
    assert {change.changeset_id for change in await changes(world)} == {1}
    assert sorted((change.era, change.kind) for change in await changes(world)) == [
        ("legacy", "added"),
        ("legacy", "changed"),
        ("modern", "added"),
        ("modern", "changed"),
    ]
    (changeset,) = await rows(world, Changeset)
    assert changeset.first_window_start == world.start
    assert changeset.last_window_end == world.start + timedelta(seconds=60.7)


async def test_later_deploys_are_changesets_of_their_own(world: World) -> None:
    await world.hold(0, [tool("a")])
    await world.hold(100, [tool("a", description="x")])
    await world.hold(200, [tool("a", description="y")])
    assert [change.changeset_id for change in await changes(world)] == [2, 1]


async def test_one_bad_tool_loses_no_other_and_is_stored_as_it_came(world: World) -> None:
    nul = tool("nul", description="a\x00b")
    half = b'{"name": "half\\ud800", "inputSchema": {"type": "object"}}'
    twice = [tool("twice", description="x"), tool("twice", description="y")]
    await world.poll(0, [nul, half, *twice, tool("naïve"), tool("nave"), tool("数据"), b"null"])
    async with world.db.transaction() as session:
        found = {one.name: one for one in await read.server_tools(session, world.server_id)}
        assert sorted(found) == sorted(["nul", "half\ud800", "twice", "naïve", "nave", "数据"])
        stored = await load_definition(session, found["half\ud800"].version_id or 0)
        assert (stored.verbatim, stored.canon_algo) == (half, 0)
        assert await read.definition(session, found["nul"].version_id or 0) == json.dumps(nul).encode()
        (newest,) = await read.newest_lists(session, world.server_id)
    assert {name: one.invalid["code"] for name, one in found.items() if one.invalid} == {
        "half\ud800": "lone-surrogate",
        "twice": "conflicting-duplicates",
    }
    assert [note["rule"] for note in newest.findings] == ["unusable-entry"]


async def test_what_the_server_says_of_itself_is_a_snapshot_and_no_change(world: World) -> None:
    await world.poll(0, [tool("a")], version="1")
    await world.poll(60, [tool("a")], version="2")
    await world.poll(120, [tool("a")], version="2")
    assert [row.server_info["version"] for row in await rows(world, SnapshotRow)] == ["1", "2"]
    assert await changes(world) == []


async def test_facts_are_stored_with_the_change(world: World) -> None:
    old = tool("a", outputSchema=OPEN)
    marked = tool("a", outputSchema=OPEN | {"$schema": "http://json-schema.org/draft-07/schema#"})
    await world.poll(0, [old], ttl_ms=3_600_000)
    await world.poll(60, [marked])
    await world.poll(62, [marked])
    (change,) = await changes(world)
    assert datetime.fromisoformat(change.facts["stale_until"]) == change.window[0] + timedelta(hours=1)
    assert change.facts == {
        "sightings": 2,
        "declared": False,
        "server_version": "1.0.0",
        "version_not_bumped": True,
        "within_ttl": True,
        "ttl_ms": 3_600_000,
        "stale_until": change.facts["stale_until"],
        "dialect_changed": True,
        "noise": "sdk-noise",
    }


async def test_a_bumped_version_is_compared_with_the_one_before_the_change(world: World) -> None:
    await world.poll(0, [tool("a")], version="1")
    await world.poll(60, [tool("a", description="x")], version="2")
    await world.poll(62, [tool("a", description="x")], version="2")
    (change,) = await changes(world)
    assert change.facts["server_version"] == "2"
    assert "version_not_bumped" not in change.facts


async def test_a_rename_is_a_hint(world: World) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    await world.poll(0, [tool("find", inputSchema=schema)])
    await world.poll(60, [tool("search", inputSchema=schema)])
    await world.poll(62, [tool("search", inputSchema=schema)])
    hints = {change.tool: change.facts["rename_hint"] for change in await changes(world)}
    assert hints == {"find": {"tool": "search", "score": 1.0}, "search": {"tool": "find", "score": 1.0}}


def clock(second: int) -> dict[str, Any]:
    to = {"type": "string", "default": f"2026-11-30T16:06:{second:02}Z"}
    return tool("perf", inputSchema={"type": "object", "properties": {"to": to}})


async def test_a_default_that_is_the_clock_becomes_volatile(world: World) -> None:
    for restart in range(4):
        await world.hold(restart * 100, [clock(restart)])
    assert [change.facts.get("noise") for change in reversed(await changes(world))] == [None, "volatile", "volatile"]


async def test_two_profiles_that_record_at_once_share_a_changeset(world: World) -> None:
    old, new = [tool("a")], [tool(f"t{n}") for n in range(20)]
    await world.poll(0, old)
    await world.poll(0, old, profile=1)
    for second in (60, 63):
        await asyncio.gather(world.poll(second, new), world.poll(second, new, profile=1))
    found = await changes(world, limit=100)
    assert len(found) == 42
    assert {change.changeset_id for change in found} == {1}


async def test_one_profile_recorded_at_once_is_recorded_once(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(60, [tool("b")])
    found = await asyncio.gather(*(world.poll(62, [tool("b")]) for _ in range(5)))
    assert sum(not one.discarded for one in found) == 1
    assert len(await changes(world)) == 2
    assert await count(world, ToolVersion) == 2


async def test_a_crash_between_two_polls_loses_and_invents_nothing(world: World) -> None:
    class CrashError(Exception):
        pass

    await world.poll(0, [tool("a")])
    await world.poll(60, [tool("b")])
    before = await everything(world)

    async def crash() -> None:
        async with world.db.transaction() as session:
            await world.record_in(session, 62, [tool("b")])
            raise CrashError

    with pytest.raises(CrashError):
        await crash()
    assert await everything(world) == before
    await world.poll(64, [tool("b")])
    assert sorted(change.kind for change in await changes(world)) == ["added", "removed"]


async def test_every_reference_to_a_blob_leads_to_one(world: World) -> None:
    await world.hold(0, [tool("a"), b'{ "name": "v", "inputSchema": {"type": "object"} }'])
    await world.hold(100, [tool("a", description="x" * 5000)])
    async with world.db.transaction() as session:
        wanted = {version.definition_sha for version in (await session.exec(select(ToolVersion))).all()}
        wanted |= {v.verbatim_sha for v in (await session.exec(select(ToolVersion))).all() if v.verbatim_sha}
        stored = {blob.sha256: blob for blob in (await session.exec(select(Blob))).all()}
        long = (await session.exec(select(ToolVersion.id).order_by(col(ToolVersion.id).desc()))).first()
        assert long is not None
        assert (await load_definition(session, long)).parsed()["description"] == "x" * 5000
    assert wanted == stored.keys()
    assert {blob.enc for blob in stored.values()} == {"raw", "zlib"}


async def test_what_one_sends_may_be_anothers_canonical_form(world: World) -> None:
    spaced, tight = b'{"name": "a", "inputSchema": {"type": "object"}}', b'{"inputSchema":{"type":"object"},"name":"a"}'
    await world.poll(0, [spaced])
    await world.poll(0, [tight], profile=1)
    async with world.db.transaction() as session:
        first, second = [(await load_definition(session, version)) for version in (1, 2)]
    assert (first.verbatim, second.verbatim) == (spaced, tight)
    assert first.canonical == second.canonical == tight
    assert first.canon_algo == second.canon_algo == 1


async def test_polls_of_a_deleted_server_are_discarded(world: World) -> None:
    async with world.db.transaction() as session:
        server = await session.get_one(Server, world.server_id)
        server.state = "deleted"
        session.add(server)
    assert (await world.poll(0, [tool("a")])).discarded
    assert await count(world, Tool) == 0


async def test_an_unknown_profile_is_named(world: World) -> None:
    world.profiles.append(999)
    with pytest.raises(NotFoundError, match="999"):
        await world.poll(0, [tool("a")], profile=2)


async def test_an_empty_first_list_waits_for_a_second_look(world: World) -> None:
    first = await world.poll(0, [])
    assert not first.baseline
    assert first.confirm_in is not None
    assert (await world.poll(2, [tool("a")])).baseline
    assert await changes(world) == []
    assert await count(world, Candidate) == 0


async def test_a_quick_look_on_the_same_connection_confirms_nothing(world: World) -> None:
    await world.poll(0, [tool("a")])
    await world.poll(60, [tool("b")])
    assert (await world.poll(62, [tool("b")], fresh=False)).changes == ()
    assert len((await world.poll(64, [tool("b")])).changes) == 2


async def test_confirmation_keeps_to_the_settings(world: World) -> None:
    world.settings = world.settings.model_copy(update={"confirm_seconds": (0.5, 0.5), "removal_seconds": 3})
    await world.poll(0, [tool("a"), tool("b")])
    assert (await world.poll(10, [tool("a")])).confirm_in == 0.5
    assert (await world.poll(11, [tool("a")])).confirm_in == pytest.approx(2.0)
    assert len((await world.poll(13, [tool("a")])).changes) == 1


def test_a_polled_profile_is_plain_data() -> None:
    assert PolledProfile(1, fresh_connection=True) == PolledProfile(1, True)


async def test_alternating_definitions_are_noted_once_in_the_polls_history(world: World) -> None:
    old, new = [tool("a")], [tool("a", description="x")]
    await world.poll(0, old)
    for n, second in enumerate(range(60, 600, 60)):
        await world.poll(second, new if n % 2 == 0 else old)
    async with world.db.transaction() as session:
        rows = (await session.exec(select(PollEvent).where(PollEvent.outcome == "mixed"))).all()
        doubts = await load_doubts(session, world.profiles[0])
        assert await restless_tools(session) == {world.profiles[0]: ["a"]}
    assert [row.detail["tool"] for row in rows] == ["a"]
    assert doubts["a"].began_at == world.start + timedelta(seconds=60.2)
    assert doubts["a"].told is False


async def test_a_successor_inherits_what_was_accepted(world: World) -> None:
    await world.poll(0, [tool("a"), tool("b"), tool("gone")])
    await world.hold(60, [tool("a", description="open"), tool("b"), tool("gone")])
    async with world.db.transaction() as session:
        successor = Profile(server_id=world.server_id, era="modern", succeeds_profile_id=world.profiles[0])
        session.add(successor)
        await session.flush()
        assert successor.id is not None
        session.add(ProfileState(profile_id=successor.id, host="shop.test:443"))
        world.profiles.append(successor.id)
    await world.poll(200, [tool("a", description="open"), tool("b"), tool("c")], profile=2)
    query = (
        select(Tool.name, ToolVersion.number, Acceptance.mode, Acceptance.at)
        .join(Acceptance, col(Acceptance.tool_id) == col(Tool.id))
        .join(ToolVersion, col(ToolVersion.id) == col(Acceptance.version_id))
        .where(Tool.profile_id == world.profiles[2])
        .order_by(col(Tool.name))
    )
    current = (
        select(Tool.name, ToolVersion.number)
        .join(ToolInterval, col(ToolInterval.tool_id) == col(Tool.id))
        .join(ToolVersion, col(ToolVersion.id) == col(ToolInterval.version_id))
        .where(Tool.profile_id == world.profiles[2], col(ToolInterval.valid_to).is_(None))
        .order_by(col(Tool.name))
    )
    async with world.db.transaction() as session:
        accepted = (await session.exec(query)).all()
        assert [(name, number, mode) for name, number, mode, _ in accepted] == [
            ("a", 1, "first"),
            ("b", 1, "first"),
            ("c", 1, "first"),
        ]
        assert (await session.exec(current)).all() == [("a", 2), ("b", 1), ("c", 1)]
        assert (await session.exec(select(Change).where(Change.profile_id == world.profiles[2]))).all() == []
