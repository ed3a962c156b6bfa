"""kill -9 of delivering workers: nothing is lost, and a message comes twice only where a kill explains it."""

from __future__ import annotations

from builders.outbox_kills import Size, prove

from driftwatch.db.engine import Database


async def test_killed_workers_lose_nothing(db: Database) -> None:
    found = await prove(db, Size(alerts=20, workers=2, kills=6, seconds=300))
    assert (found.alerts, found.delivered, found.kills) == (20, 120, 6)
