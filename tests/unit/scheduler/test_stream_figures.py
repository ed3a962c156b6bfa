"""What /metrics says of change streams."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from driftwatch import telemetry
from driftwatch.scheduler.streams.journal import Journal

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def figure(name: str, **labels: str) -> float:
    return telemetry.REGISTRY.get_sample_value(name, labels) or 0.0


def test_streams_their_ends_and_what_was_heard_are_counted() -> None:
    journal = Journal(cast(Any, None))  # it only writes through its shares, and nothing is written here
    ended = {by: figure("driftwatch_stream_ends_total", by=by) for by in ("server", "us")}
    heard = figure("driftwatch_notifications_total")
    first, second = journal.opened(1, NOW), journal.opened(2, NOW)
    assert figure("driftwatch_streams") == 2
    for _ in range(5):
        journal.notified(1, NOW, noise=False)  # a burst is one
    journal.notified(2, NOW, noise=False)
    assert figure("driftwatch_notifications_total") == heard + 2
    journal.ended(first, "server", "closed")
    journal.ended(first, "us", "stopped")  # it had ended already
    assert figure("driftwatch_streams") == 1
    journal.ended(second, "us", "stopped")
    assert figure("driftwatch_streams") == 0
    assert figure("driftwatch_stream_ends_total", by="server") == ended["server"] + 1
    assert figure("driftwatch_stream_ends_total", by="us") == ended["us"] + 1
