"""What /metrics says of the classifier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from prometheus_client import generate_latest

from driftwatch import telemetry
from driftwatch.capture.model import Part
from driftwatch.classify.tool import Assessment, PartAssessment, worst
from driftwatch.scheduler import sandbox_frames as frames
from driftwatch.scheduler.assess import count
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era

DISAGREEMENT = "disagreement: proved contained, but jsonschema-rs says it is not"


def value(name: str, **labels: str) -> float:
    return telemetry.REGISTRY.get_sample_value(name, labels) or 0.0


def undecided(reason: str | None) -> Assessment:
    return worst((PartAssessment(Part.OUTPUT, "undecided", reason=reason),))


def test_assessments_of_changes_are_counted() -> None:
    timed = value("driftwatch_classifier_seconds_count")
    verdicts = value("driftwatch_classifier_verdicts_total", verdict="undecided")
    count(1, undecided(DISAGREEMENT), 0.003)
    assert value("driftwatch_classifier_seconds_count") == timed + 1
    assert value("driftwatch_classifier_verdicts_total", verdict="undecided") == verdicts + 1


@pytest.mark.parametrize(("reason", "disagreements"), [(DISAGREEMENT, 1), ("budget", 0), (None, 0)])
@pytest.mark.parametrize(
    "ask",
    [
        lambda sandbox: sandbox.assess(None, None, era=Era.LEGACY),
        lambda sandbox: sandbox.assess_schemas({}, {}, directions=("output",), root="any", era=Era.LEGACY),
    ],
    ids=["versions", "schemas"],
)
async def test_contradictions_stand_out_whoever_asked(
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Sandbox], Awaitable[Assessment]],
    reason: str | None,
    disagreements: int,
) -> None:
    async def answered(_: Sandbox, __: frames.Question) -> bytes:
        return frames.encode_answer(undecided(reason))

    monkeypatch.setattr(Sandbox, "_ask", answered)
    before = value("driftwatch_classifier_disagreements_total")
    assert (await ask(Sandbox(Settings()))).verdict == "undecided"
    assert value("driftwatch_classifier_disagreements_total") == before + disagreements
    assert b"driftwatch_classifier_disagreements_total" in generate_latest(telemetry.REGISTRY)
