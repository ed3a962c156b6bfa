"""The read side: filters, pages by key, versions with their intervals, counts per week."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import update

from driftwatch.classify.tool import assess
from driftwatch.errors import NotFoundError
from driftwatch.history import read
from driftwatch.history.assessments import load_for_assessment, store_assessment
from driftwatch.history.evidence_store import judge_due
from driftwatch.history.tables import Change
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.oldest_postgres

World = Any  # conftest.py's; it cannot be imported from here

OPEN = {"type": "object", "properties": {}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


@pytest.fixture
async def told(world: World) -> World:
    """Four changes: 1 and 2 in the modern profile at once, 3 in the legacy one, 4 a removal much later."""
    old, new = [tool("a"), tool("b", outputSchema=OPEN)], [tool("a", description="x"), tool("b")]
    await world.poll(0, old)
    await world.poll(0, old, profile=1, era=Era.LEGACY)
    await world.hold(60, new)
    await world.hold(60, [tool("a", description="x"), old[1]], profile=1, era=Era.LEGACY)
    await world.hold(1000, [tool("b")])
    async with world.db.transaction() as session:
        for change_id in (1, 2, 3, 4):
            asked = await load_for_assessment(session, change_id)
            assert asked is not None
            await store_assessment(session, change_id, assess(asked.old, asked.new, era=asked.era))
        await judge_due(session, world.settings)
    return world


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [4, 3, 2, 1]),
        ({"limit": 2}, [4, 3]),
        ({"limit": 2, "cursor": 3}, [2, 1]),
        ({"cursor": 1}, []),
        ({"server_id": 1}, [4, 3, 2, 1]),
        ({"server_id": 2}, []),
        ({"tool": "a"}, [4, 3, 1]),
        ({"tool": "A"}, []),
        ({"tool_id": 1}, [4, 1]),
        ({"verdict": "breaking"}, [4, 2]),
        ({"verdict": "compatible"}, [3, 1]),
        ({"direction": "output"}, [2]),
        ({"direction": "input"}, []),
        ({"era": "legacy"}, [3]),
        ({"announcement": "silent"}, [4, 3, 2, 1]),
        ({"announcement": "announced"}, []),
        ({"ids": [1, 4, 99]}, [4, 1]),
        ({"tool": "a", "era": "modern", "verdict": "compatible"}, [1]),
    ],
)
async def test_filters(told: World, filters: dict[str, Any], expected: list[int]) -> None:
    place = {key: value for key, value in filters.items() if key in {"ids", "cursor", "limit"}}
    wanted = read.ChangeFilter(**{key: value for key, value in filters.items() if key not in place})
    async with told.db.transaction() as session:
        assert [change.id for change in await read.load_changes(session, wanted, **place)] == expected


async def test_since_is_the_time_of_recording(told: World) -> None:
    async with told.db.transaction() as session:
        newest = (await read.load_change(session, 4)).recorded_at
        assert [change.id for change in await read.load_changes(session, read.ChangeFilter(since=newest))] == [4]
        assert await read.load_changes(session, read.ChangeFilter(since=newest + timedelta(seconds=1))) == []


async def test_a_changeset_is_whole_and_in_order(told: World) -> None:
    async with told.db.transaction() as session:
        assert [change.id for change in await read.load_changeset(session, 1)] == [1, 2, 3]
        assert [change.id for change in await read.load_changeset(session, 2)] == [4]


@pytest.mark.parametrize("ask", [read.load_change, read.load_changeset, read.tool_versions, read.definition])
async def test_what_is_not_there_is_named(told: World, ask: Any) -> None:
    async with told.db.transaction() as session:
        with pytest.raises(NotFoundError, match="999"):
            await ask(session, 999)


async def test_tools_of_a_server(told: World) -> None:
    async with told.db.transaction() as session:
        tools = await read.server_tools(session, 1)
        present = await read.server_tools(session, 1, absent=False)
    assert [(one.name, one.era, one.version, one.versions, one.declares_output) for one in tools] == [
        ("a", "modern", None, 2, False),
        ("a", "legacy", 2, 2, False),
        ("b", "modern", 2, 2, False),
        ("b", "legacy", 1, 1, True),
    ]
    assert [one.last_change_id for one in tools] == [4, 3, 2, None]
    assert tools[0].last_verdict == "breaking"
    assert len(present) == 3


async def test_a_version_by_its_number(told: World) -> None:
    async with told.db.transaction() as session:
        _, first = await read.version_number(session, 1, 1)
        version_id, second = await read.version_number(session, 1, 2)
        assert second.parsed()["description"] == "x"
        assert await read.definition(session, version_id) == second.verbatim
        with pytest.raises(NotFoundError):
            await read.version_number(session, 1, 3)
    assert "description" not in first.parsed()


async def test_versions_say_when_they_were_current(told: World) -> None:
    async with told.db.transaction() as session:
        second, first = await read.tool_versions(session, 1)
    assert first.intervals[0].end == second.intervals[0].start == told.start + timedelta(seconds=60.2)
    assert second.intervals[0].not_before == told.start
    assert second.intervals[0].end == told.start + timedelta(seconds=1000.2)


async def test_counts_per_week(told: World) -> None:
    async with told.db.transaction() as session:
        await session.exec(update(Change).where(Change.id == 1).values(recorded_at=told.start))
        (week,) = (await read.weekly_counts(session, [1], weeks=4))[1]
        assert await read.weekly_counts(session, [2]) == {}
    assert (week.ago, week.verdicts) == (0, {"breaking": 2, "compatible": 1})
