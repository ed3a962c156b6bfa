"""What a change means: load it, ask the classifier in its sandbox, store the answer; then judge and raise alerts.

Transaction 2 of a change. Doing it twice does nothing more, so a lost job is simply done again by the sweep.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import structlog

from driftwatch import telemetry
from driftwatch.alerts import lifecycle, transitive
from driftwatch.classify import CLASSIFIER_VERSION
from driftwatch.classify.decide import DISAGREEMENT
from driftwatch.classify.tool import Assessment, over_budget
from driftwatch.errors import NotFoundError
from driftwatch.history.assessments import load_for_assessment, store_assessment
from driftwatch.history.evidence_store import judge_due
from driftwatch.scheduler import store

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

#: changes judged in one transaction
JUDGED_TOGETHER: Final = 200


async def run(services: Services, change_ids: Sequence[int]) -> None:
    """Assess these changes, each by itself; then decide what follows from all that is assessed."""
    for change_id in change_ids:
        with contextlib.suppress(NotFoundError):  # its server was deleted meanwhile
            await _assess(services, change_id)
    await conclude(services)


async def _assess(services: Services, change_id: int) -> None:
    async with services.db.transaction() as session:
        asked = await load_for_assessment(session, change_id)
    if asked is None:
        return
    started = time.perf_counter()
    try:
        assessment = await services.sandbox.assess(asked.old, asked.new, era=asked.era)
    except Exception:  # a change without a verdict would never be told; undecided is told
        log.exception("classifier failed", change=change_id)
        assessment = over_budget(asked.old, asked.new, "budget: the classifier failed")
    seconds = time.perf_counter() - started
    count(change_id, assessment, seconds)
    against = await _against_baseline(services, change_id)
    async with services.db.transaction() as session:
        stored = await store_assessment(
            session, change_id, assessment, classifier_version=CLASSIFIER_VERSION, duration_ms=seconds * 1000
        )
        if stored and against is not None:
            await transitive.store_verdict(session, change_id, against)


async def _against_baseline(services: Services, change_id: int) -> transitive.Against | None:
    """The worst verdict of what clients may still hold against what is current, where that is not the version before.

    A change alone can be harmless while the sum since the baseline is not: two steps of which the first was ignored.
    """
    async with services.db.transaction() as session:
        earlier = await transitive.earlier_versions(session, change_id)
    found: transitive.Against | None = None
    for version_id, old, new, era in earlier:
        try:
            assessment = await services.sandbox.assess(old, new, era=era)
        except Exception:  # the change's own verdict stands; this one would only add to it
            log.exception("classifier failed against the baseline", change=change_id)
            continue
        found = transitive.worse(found, transitive.Against(version_id, assessment.verdict, assessment.via))
    return found


def count(change_id: int, assessment: Assessment, seconds: float) -> None:
    """Let the metrics know of the assessment of a change; where two contradict each other, the log says where."""
    telemetry.CLASSIFIER_SECONDS.observe(seconds)
    telemetry.VERDICTS.labels(assessment.verdict).inc()
    for part in assessment.parts:
        if (part.reason or "").startswith(DISAGREEMENT):
            log.error("classifier disagrees with itself", change=change_id, part=str(part.part), reason=part.reason)


async def conclude(services: Services) -> None:
    """Judge what is due, put right what was told about it, and raise alerts; one process at a time."""
    async with services.db.transaction() as session:
        if not await store.take_turn(session, "conclude"):
            return
        judged = await judge_due(session, services.settings, JUDGED_TOGETHER)
        await lifecycle.amend(session, services.settings, judged)
        await lifecycle.raise_due(session, services.settings)
