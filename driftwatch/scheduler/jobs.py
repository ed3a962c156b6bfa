"""The worker role: runs poll, assess and press jobs, beside them the sweep and the outbox."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import procrastinate
from procrastinate import JobContext, RetryStrategy
from sqlalchemy import text

from driftwatch.alerts import presses
from driftwatch.db.engine import SEARCH_PATH
from driftwatch.scheduler import assess, poll
from driftwatch.scheduler.enqueue import ASSESS, POLL, PRESS
from driftwatch.scheduler.hosts import HostLimits

if TYPE_CHECKING:
    from driftwatch.app import Services

#: seconds that running jobs get to end by themselves when a worker stops
GRACE_SECONDS: Final = 4.0
#: jobs at a time; most of them wait for servers, and how many are asked at once is limited in hosts.py
CONCURRENCY: Final = 32
#: how long the queue's pool waits for a connection. A worker whose Postgres is away ends no sooner, and the supervisor
#: can only start it again then; the pool's own 30 s would keep it away for as long after Postgres is back.
POOL_SECONDS: Final = 5.0
#: NOTIFY wakes a worker; this is for the case that one was missed
LOOK_SECONDS: Final = 2.0


async def _poll(context: JobContext, token: str, profile_ids: list[int]) -> None:
    known = context.additional_context
    await poll.run(known["services"], known["hosts"], UUID(token), profile_ids)


async def _assess(context: JobContext, change_ids: list[int]) -> None:
    await assess.run(context.additional_context["services"], change_ids)


async def _press(context: JobContext, press: dict[str, str | int]) -> None:
    await presses.run(context.additional_context["services"], press)


def build_app(connector: procrastinate.PsycopgConnector) -> procrastinate.App:
    """Make procrastinate know our tasks. Polls are never retried; assessments are, so that a stop loses none."""
    app = procrastinate.App(connector=connector)
    app.task(name=POLL, queue=POLL, pass_context=True)(_poll)
    app.task(name=ASSESS, queue=ASSESS, pass_context=True, retry=RetryStrategy(max_attempts=5, wait=2))(_assess)
    app.task(name=PRESS, queue=PRESS, pass_context=True, retry=RetryStrategy(max_attempts=5, wait=1))(_press)
    return app


async def work(services: Services, *, concurrency: int = CONCURRENCY, wait: bool = True) -> None:
    """Run jobs until cancelled; with ``wait`` False, until none is left."""
    connector = procrastinate.PsycopgConnector(
        conninfo=services.db.url.replace("postgresql+psycopg://", "postgresql://", 1),
        kwargs={"options": f"-csearch_path={SEARCH_PATH}", "application_name": "driftwatch-jobs"},
        min_size=1,
        max_size=4,
        timeout=POOL_SECONDS,
    )
    app = build_app(connector)
    async with app.open_async():
        await app.run_worker_async(
            queues=[POLL, ASSESS, PRESS],
            name="driftwatch",
            concurrency=concurrency,
            wait=wait,
            fetch_job_polling_interval=LOOK_SECONDS,
            shutdown_graceful_timeout=GRACE_SECONDS,
            delete_jobs="successful",
            install_signal_handlers=False,
            additional_context={"services": services, "hosts": HostLimits()},
        )


async def run_worker(services: Services, *, concurrency: int = CONCURRENCY) -> None:
    """Everything of the role, until cancelled. Raises as soon as one part ends: the supervisor starts all again."""
    from driftwatch.alerts import outbox
    from driftwatch.scheduler import heartbeat, sweep

    async with asyncio.TaskGroup() as group:
        for name, part in {
            "jobs": work(services, concurrency=concurrency),
            "sweep": sweep.run_sweep(services),
            "outbox": outbox.run_outbox(services),
            "heartbeat": heartbeat.run_heartbeat(services),
            "connection": hold_connection(services),
        }.items():
            group.create_task(_endless(name, part), name=name)


async def hold_connection(services: Services) -> None:
    """Hold a connection and look at it now and then; raises when it breaks, because Postgres was restarted.

    procrastinate's listener broke with it and does not come back: jobs would only be found by looking.
    """
    async with services.db.engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        while True:
            await connection.execute(text("SELECT 1"))
            await asyncio.sleep(LOOK_SECONDS)


async def _endless(name: str, part: Coroutine[Any, Any, None]) -> None:
    await part
    raise RuntimeError(f"{name} ended by itself")
