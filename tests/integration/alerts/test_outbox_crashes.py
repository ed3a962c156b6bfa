"""kill -9 of delivering workers: nothing is lost, and a message comes twice only where a kill explains it."""

from __future__ import annotations

from builders.outbox_kills import Size, prove

from driftwatch.db.engine import Database


async def test_killed_workers_lose_nothing(db: Database) -> None:
    found = await prove(db, Size(alerts=60, messages=2, workers=2, kills=10, seconds=90))
    assert (found.delivered, found.kills) == (120, 10)
