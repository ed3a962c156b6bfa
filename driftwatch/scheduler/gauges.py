"""Metrics of what is watched and what waits, read from the database when somebody asks."""

from __future__ import annotations

from typing import Final

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql

_SERVERS: Final = text("SELECT state AS label, count(*) AS number FROM server GROUP BY state")
_PROFILES: Final = text("SELECT state AS label, count(*) AS number FROM profile_state GROUP BY state")
_OVERDUE: Final = text("""
SELECT coalesce(extract(epoch FROM now() - min(next_due_at)), 0) FROM profile_state
WHERE next_due_at <= now() AND (claim_token IS NULL OR claimed_until < now())
""")
_JOBS: Final = text("""
SELECT queue_name AS label, count(*) AS number FROM jobs.procrastinate_jobs WHERE status = 'todo' GROUP BY queue_name
""")
_UNASSESSED: Final = text("SELECT count(*) FROM change WHERE state = 'recorded'")


async def read(session: AsyncSession) -> list[Metric]:
    """Every gauge of this room, as the database says now."""
    servers = GaugeMetricFamily("driftwatch_servers", "Registered servers, by state.", labels=["state"])
    profiles = GaugeMetricFamily(
        "driftwatch_profiles",
        "Profiles by how their last poll ended: new, ok, or the code of the error.",
        labels=["state"],
    )
    jobs = GaugeMetricFamily("driftwatch_jobs_waiting", "Jobs that wait for a worker, by queue.", labels=["queue"])
    for gauge, query in ((servers, _SERVERS), (profiles, _PROFILES), (jobs, _JOBS)):
        for row in (await run_sql(session, query)).mappings():
            gauge.add_metric([row["label"]], row["number"])
    seconds = float((await run_sql(session, _OVERDUE)).scalar_one())
    overdue = GaugeMetricFamily(
        "driftwatch_overdue_seconds", "How long the profile that waits longest for its poll is due.", max(seconds, 0)
    )
    number = int((await run_sql(session, _UNASSESSED)).scalar_one())
    unassessed = GaugeMetricFamily("driftwatch_changes_unassessed", "Changes that have no verdict yet.", number)
    return [servers, profiles, jobs, overdue, unassessed]
