"""DatabaseClock against a real database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from driftwatch.db.clock import DatabaseClock
from driftwatch.db.engine import Database


async def database_time(db: Database) -> datetime:
    async with db.transaction() as session:
        moment: datetime = (await (await session.connection()).execute(text("SELECT clock_timestamp()"))).scalar_one()
        return moment


async def test_now_lies_between_two_looks_at_the_database(db: Database) -> None:
    clock = DatabaseClock(db)
    await clock.refresh()
    before = await database_time(db)
    shown = clock.now()
    after = await database_time(db)
    bound = timedelta(seconds=clock.error_seconds)
    assert before - bound <= shown <= after + bound
    assert shown.tzinfo is UTC
    assert clock.error_seconds < 1
