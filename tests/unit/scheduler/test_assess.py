"""What /metrics says of the classifier."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest

from driftwatch import telemetry
from driftwatch.capture.model import Part
from driftwatch.classify.tool import PartAssessment, worst
from driftwatch.scheduler.assess import count


def value(name: str, **labels: str) -> float:
    return telemetry.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.parametrize(
    ("reason", "disagreements"),
    [("disagreement: the prover's witness was not confirmed", 1), ("budget", 0), (None, 0)],
)
def test_assessments_are_counted_and_contradictions_stand_out(reason: str | None, disagreements: int) -> None:
    names = ("driftwatch_classifier_disagreements_total", "driftwatch_classifier_seconds_count")
    before = [value(name) for name in names]
    verdicts = value("driftwatch_classifier_verdicts_total", verdict="undecided")
    count(1, worst((PartAssessment(Part.OUTPUT, "undecided", reason=reason),)), 0.003)
    assert [value(name) - start for name, start in zip(names, before, strict=True)] == [disagreements, 1]
    assert value("driftwatch_classifier_verdicts_total", verdict="undecided") == verdicts + 1
    assert b"driftwatch_classifier_disagreements_total" in generate_latest(telemetry.REGISTRY)
