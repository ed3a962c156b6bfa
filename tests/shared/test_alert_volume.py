"""Real releases through capture, classifier and policy: no labelled break goes quiet, and nobody is told too often."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import defaultdict
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


def test_no_labelled_break_goes_quiet() -> None:
    bench = benchmark()
    broken = defaultdict(list)
    for line in (CORPUS / "labelled_pairs.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["label"]["practical"] == "breaking":
            broken[row["origin"]].append(row["tool"])
    quiet = []
    for _, rows in bench.releases(CORPUS):
        for earlier, later in pairwise(rows):
            origin = f"{earlier['origin']} -> {later['origin']}"
            if origin not in broken or later["release_index"] - earlier["release_index"] != 1:
                continue
            found = bench.changes(bench.snapshot(earlier), bench.snapshot(later))
            if not any(decision.outcome == "alert" for _, decision in found):
                quiet.append(origin)
    assert quiet == []
