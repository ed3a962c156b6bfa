"""Open pages hear of what happens, by server, and nothing keeps the process from ending."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from browser.world import FILES, obj, tool
from sqlalchemy import text

from driftwatch.app import Services
from driftwatch.db.engine import run_sql
from driftwatch.web import live

pytestmark = pytest.mark.postgres


async def test_a_change_is_told_with_its_server(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.05)
    world = visitor.world
    watched = live.Live(world.services.db)
    events = watched.events()
    assert (await anext(events)).startswith("retry:")
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await world.hold("weather", [tool(FILES[0], obj())], 1)
    event = await asyncio.wait_for(waiting, 10)
    assert event.startswith("event: changed\n")
    assert json.loads(event.split("data: ")[1])["servers"] == [world.servers["weather"]]
    watched.close()
    assert [left async for left in events if left.startswith("retry")] == []
    assert watched.readers == set()


async def test_a_reader_that_leaves_ends_the_watch_and_a_slow_one_loses_only_old_news(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.02)
    watched = live.Live(visitor.world.services.db)
    events = watched.events()
    await anext(events)
    for _ in range(20):
        watched._tell("event: changed\n\n")
    (queue,) = watched.readers
    assert queue.qsize() == queue.maxsize
    await events.aclose()
    assert watched.readers == set()
    task = watched._task
    assert task is not None
    await asyncio.wait_for(task, 5)


async def test_a_database_that_is_away_leaves_the_watch_running(services: Services, monkeypatch: Any) -> None:
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.02)
    watched = live.Live(services.db)
    events = watched.events()
    await anext(events)
    await asyncio.sleep(0.2)
    async with services.db.transaction() as session:
        await run_sql(session, text("ALTER TABLE notification RENAME TO away"))
    await asyncio.sleep(0.2)
    assert watched._task is not None
    assert not watched._task.done()
    watched.close()
    await events.aclose()


async def test_events_are_for_those_who_signed_in(stranger: httpx2.AsyncClient) -> None:
    assert (await stranger.get("/live")).status_code == 303


async def test_a_full_house_refuses_further_streams(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MAX_READERS", 0)
    answer = await visitor.client.get("/live")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "60"
