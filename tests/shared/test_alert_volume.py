"""Real releases through capture, classifier and policy: no labelled break goes quiet, and nobody is told too often."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

CORPUS = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2].parent / "shared")) / "data" / "corpus"
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "alert_volume.py"


def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("alert_volume", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["alert_volume"] = module
    spec.loader.exec_module(module)
    return module


def test_the_figures_hold() -> None:
    counted = benchmark().replay(CORPUS)
    ours = counted.policies["ours"]
    assert counted.releases == 117
    assert ours.messages / counted.releases <= 0.20
    assert ours.grave / ours.messages >= 0.70


def told(bench: Any) -> dict[str, set[str]]:
    """The lines of the policy that alert, for each release."""
    return {
        f"{earlier['origin']} -> {later['origin']}": {
            decision.line
            for _, decision in bench.changes(bench.snapshot(earlier), bench.snapshot(later))
            if decision.outcome == "alert"
        }
        for _, rows in bench.releases(CORPUS)
        for earlier, later in pairwise(rows)
        if later["release_index"] - earlier["release_index"] == 1
    }


def labelled(**wanted: str) -> set[str]:
    """The releases with a pair that is labelled so."""
    rows = [json.loads(line) for line in (CORPUS / "labelled_pairs.jsonl").read_text().splitlines()]
    return {row["origin"] for row in rows if wanted.items() <= row["label"].items()}


def test_no_labelled_break_goes_quiet() -> None:
    lines = told(benchmark())
    broken = labelled(practical="breaking")
    assert broken
    assert {release for release in broken & set(lines) if not lines[release]} == set()


def test_what_an_earlier_replay_left_undecided_explains_its_figures() -> None:
    """.20 messages a release and 87 %, where ours are .17 and 75 %: see docs/adr/0006-alert-volume.md."""
    bench = benchmark()
    lines = told(bench)
    grave = {release for release, spoke in lines.items() if spoke & bench.GRAVE}
    undecided_then = (labelled(practical_certainty="certain (reviewed)") & set(lines)) - grave
    assert len(undecided_then) == 5
    assert len(grave | undecided_then) == 20
    assert len({release for release, spoke in lines.items() if spoke} | undecided_then) == 23
