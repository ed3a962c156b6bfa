"""Renders and lints the chart by Helm's own engine, in a process of its own: a Go runtime stays out of the tests'.

Reads values as JSON from standard input; writes {"manifests": {path: text}, "lint": [message], "error": text or null}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import helm_python

CHART = Path(__file__).parents[2] / "helm" / "driftwatch"

values = json.load(sys.stdin)
answer: dict[str, object] = {"manifests": {}, "lint": [], "error": None}
try:
    with helm_python.Chart.load(CHART) as chart:
        answer["manifests"] = chart.render(values, name="dw", namespace="watch")
    report = helm_python.lint(CHART, values, strict=True)
    warned = [message["error"] for message in report["messages"] if message["severity"] > 1]
    answer["lint"] = [*report["errors"], *warned]
except helm_python.HelmError as error:
    answer["error"] = str(error)
json.dump(answer, sys.stdout)
