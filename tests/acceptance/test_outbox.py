"""The outbox at full size: 200 alerts, 3 workers, 25 kill -9 at random points, a receiver that takes its time."""

from __future__ import annotations

import pytest
from builders.outbox_kills import Size, prove

from driftwatch.db.engine import Database

pytestmark = pytest.mark.acceptance


async def test_nothing_is_lost_and_repetitions_are_explained(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    found = await prove(db, Size(alerts=200, messages=2, workers=3, kills=25, seconds=240))
    assert (found.delivered, found.kills) == (400, 25)
    with capsys.disabled():
        print(f"\n{found.delivered} messages, {found.kills} kills: 0 lost, {found.repetitions} repeated, all explained")
