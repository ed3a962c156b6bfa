"""What happens by the passing of time, and whatever a crash left undone. Every step may run in every worker.

Each step is its own loop and its own transaction: one that fails or is slow holds up no other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import blindness, lifecycle, release, summary
from driftwatch.history.evidence_store import constants_of
from driftwatch.history.hearing import spend_due
from driftwatch.scheduler import assess, store
from driftwatch.scheduler.pushed import store as pushed_store
from driftwatch.servers import purge
from driftwatch.settings import Settings

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

Step = Callable[["Services"], Awaitable[object]]

#: a recorded change without an assessment is left over when it is this old and no living job has it
LEFT_OVER_SECONDS: Final = 5.0
LEFT_OVER_LIMIT: Final = 20


async def resume(services: Services) -> None:
    """Assess changes whose job was lost between recording and assessing."""
    async with services.db.transaction() as session:
        left = await store.unassessed(session, older_than=LEFT_OVER_SECONDS, limit=LEFT_OVER_LIMIT)
    if left:
        log.info("assessing what was left over", changes=len(left))
        await assess.run(services, left)


def _alone(name: str, step: Callable[[AsyncSession, Settings], Awaitable[object]]) -> Step:
    """The step in a transaction, by one process at a time."""

    async def run(services: Services) -> None:
        async with services.db.transaction() as session:
            if await store.take_turn(session, name):
                await step(session, services.settings)

    return run


async def _rescue(session: AsyncSession, settings: Settings) -> None:
    if rescued := await store.rescue(session):
        log.warning("due times beyond reason were put right", profiles=len(rescued))


async def _overdue(session: AsyncSession, settings: Settings) -> None:
    if late := await pushed_store.mark_overdue(session):
        log.info("snapshots stopped coming", profiles=len(late))


async def _sweep_jobs(session: AsyncSession, settings: Settings) -> None:
    await store.sweep_jobs(session)


async def _purge(services: Services) -> None:
    await purge.purge_deleted(services.db)


async def _spend(session: AsyncSession, settings: Settings) -> None:
    await spend_due(session, constants_of(settings))


#: name → (seconds between runs, step)
STEPS: Final[dict[str, tuple[float, Step]]] = {
    "conclude": (1.0, assess.conclude),
    "resume": (2.0, resume),
    "settle": (60.0, _alone("settle", lifecycle.settle_due)),
    "release": (15.0, _alone("release", release.release_due)),
    "remind": (60.0, _alone("remind", release.remind_due)),
    "not-watching": (10.0, _alone("not-watching", blindness.raise_blind)),
    "remind-blind": (60.0, _alone("remind-blind", blindness.remind_blind)),
    "summary": (60.0, _alone("summary", summary.raise_summary)),
    "spend": (5.0, _alone("spend", _spend)),
    "overdue": (5.0, _alone("overdue", _overdue)),
    "rescue": (60.0, _alone("rescue", _rescue)),
    "jobs": (60.0, _alone("jobs", _sweep_jobs)),
    "purge": (30.0, _purge),
}


async def run_sweep(services: Services) -> None:
    """Run every step again and again until cancelled."""
    async with asyncio.TaskGroup() as group:
        for name, (seconds, step) in STEPS.items():
            group.create_task(_repeat(services, name, seconds, step), name=f"sweep {name}")


async def _repeat(services: Services, name: str, seconds: float, step: Step) -> None:
    while True:
        try:
            await step(services)
        except Exception as error:  # Postgres may be away; the next turn comes
            log.warning("sweep step failed", step=name, error=str(error), kind=type(error).__name__)
        await asyncio.sleep(seconds * (0.9 + random.random() / 5))  # noqa: S311 - spreads load, guards nothing
