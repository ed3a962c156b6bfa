"""The outbox at full size: 200 alerts, 3 workers, 25 kill -9 at random points, receivers that take their time."""

from __future__ import annotations

import pytest
from builders.outbox_kills import Size, prove

from driftwatch.db.engine import Database

pytestmark = pytest.mark.acceptance


async def test_nothing_is_lost_and_repetitions_are_explained(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    found = await prove(db, Size(alerts=200, workers=3, kills=25, seconds=900))
    assert (found.alerts, found.delivered, found.kills) == (200, 1200, 25)
    with capsys.disabled():
        repeated = ", ".join(f"{kind} {count}" for kind, count in found.repetitions.items())
        print(
            f"\n{found.alerts} alerts, {found.delivered} deliveries, {found.kills} kills: 0 lost; repeated: {repeated}"
        )
