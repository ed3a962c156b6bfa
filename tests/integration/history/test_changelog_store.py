"""Which changesets a changelog shows: every filter, page by page, and what has few or none of them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from driftwatch.classify.tool import assess
from driftwatch.db.engine import run_sql
from driftwatch.history import changelog_store, read
from driftwatch.history.assessments import load_for_assessment, store_assessment
from driftwatch.history.change_filter import ChangeFilter
from driftwatch.history.evidence_store import judge_due
from driftwatch.wire.facts import Era

World = Any  # conftest.py's; it cannot be imported from here

OPEN = {"type": "object", "properties": {}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


@pytest.fixture
async def told(world: World) -> World:
    """Changesets 1 (a and b, modern), 2 (a, legacy) and 3 (a is gone, modern) of a server with a tag."""
    old = [tool("a"), tool("b", outputSchema=OPEN)]
    await world.poll(0, old)
    await world.poll(0, old, profile=1, era=Era.LEGACY)
    new = [tool("a", description="x"), tool("b")]
    await world.hold(60, new)
    # seen unchanged shortly before each change: the windows do not touch
    await world.poll(80_000, old, profile=1, era=Era.LEGACY)
    await world.hold(90_000, [tool("a", description="x"), old[1]], profile=1, era=Era.LEGACY)
    await world.poll(190_000, new)
    await world.hold(200_000, [tool("b")])
    async with world.db.transaction() as session:
        for change_id in (1, 2, 3, 4):
            asked = await load_for_assessment(session, change_id)
            assert asked is not None
            await store_assessment(session, change_id, assess(asked.old, asked.new, era=asked.era))
        await judge_due(session, world.settings)
        await run_sql(session, text("UPDATE server SET tags = ARRAY['prod']"))
        await run_sql(session, text("INSERT INTO server (name, url, tags) VALUES ('calm', 'https://c.test', '{calm}')"))
    return world


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, [3, 2, 1]),
        ({"verdict": "breaking"}, [3, 1]),
        ({"verdict": "invalid"}, []),
        ({"announcement": "silent"}, [3, 2, 1]),
        ({"tool": "b"}, [1]),
        ({"rule": "tool-removed"}, [3]),
        ({"server_id": 1}, [3, 2, 1]),
        ({"server_id": 1, "verdict": "breaking"}, [3, 1]),
        ({"server_id": 2}, []),
        ({"tag": "prod"}, [3, 2, 1]),
        ({"tag": "prod", "tool": "b"}, [1]),
        ({"tag": "calm"}, []),
        ({"tag": "nobody has it"}, []),
        ({"era": "legacy"}, [2]),
        ({"era": "modern", "tag": "prod", "verdict": "breaking"}, [3, 1]),
        ({"era": "legacy", "verdict": "breaking"}, []),
    ],
)
async def test_filters_and_pages(told: World, wanted: dict[str, Any], expected: list[int]) -> None:
    fits = ChangeFilter(**wanted)
    async with told.db.transaction() as session:
        assert await changelog_store.changeset_ids(session, fits) == expected
        paged, cursor = [], None
        while found := await changelog_store.changeset_ids(session, fits, cursor=cursor, limit=1):
            paged += found
            cursor = found[-1]
    assert paged == expected


async def test_where_many_servers_fit_everybodys_are_walked(told: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changelog_store, "FEW", 0)
    monkeypatch.setattr("driftwatch.history.change_filter.FEW", 0)
    async with told.db.transaction() as session:
        fits = ChangeFilter(tag="prod", era="modern")
        assert await changelog_store.changeset_ids(session, fits) == [3, 1]
        assert [one.id for one in await read.load_changes(session, ChangeFilter(tag="prod", era="legacy"))] == [3]


async def test_brief_changes_tell_only_lone_tools_in_full(told: World) -> None:
    async with told.db.transaction() as session:
        whole = await read.load_changes(session)
        brief = await read.load_changes(session, brief=True)
    assert [bool(one.parts) for one in whole] == [True, True, True, True]
    assert [(one.changeset_id, bool(one.parts), bool(one.judgement)) for one in brief] == [
        (3, True, True),
        (2, True, True),
        (1, False, False),
        (1, False, False),
    ]
