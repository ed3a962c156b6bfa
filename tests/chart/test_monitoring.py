"""Alert rules and dashboard ask only for metrics that exist."""

from __future__ import annotations

import json
import re
from typing import Any

import promql_parser

from tests.chart.conftest import HERE, Rendered

#: docs/metrics.md; a test beside the metrics compares it with what is really exposed
PAGE = (HERE.parents[1] / "docs" / "metrics.md").read_text()


def exposed() -> set[str]:
    found = set()
    for name, kind in re.findall(r"^\| `(driftwatch_\w+)` \| (\w+) \|", PAGE, re.MULTILINE):
        found |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"} if kind == "histogram" else {name}
    return found


def asked(query: str) -> set[str]:
    """The metrics of a query; raises ValueError when Prometheus could not read it."""
    promql_parser.parse(query)
    return set(re.findall(r"\bdriftwatch_\w+", query))


def rules(full: Rendered) -> list[dict[str, Any]]:
    (found,) = full.of("PrometheusRule")
    return [rule for group in found["spec"]["groups"] for rule in group["rules"]]


def test_rules_ask_for_metrics_that_exist(full: Rendered) -> None:
    assert len(rules(full)) >= 12
    for rule in rules(full):
        assert asked(rule["expr"])
        assert asked(rule["expr"]) <= exposed(), rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"]
        assert "{{`" not in json.dumps(rule)


def test_the_page_of_failures_tells_what_to_do_about_every_alert(full: Rendered) -> None:
    page = (HERE.parents[1] / "docs" / "operations.md").read_text()
    assert {rule["alert"] for rule in rules(full)} == set(re.findall(r"`(Driftwatch\w+)`", page))


def test_the_dashboard_asks_for_metrics_that_exist(full: Rendered) -> None:
    (config,) = full.of("ConfigMap")
    dashboard = json.loads(config["data"]["driftwatch.json"])
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(queries) >= 12
    for query in queries:
        assert asked(query)
        assert asked(query) <= exposed(), query
    assert {label for label in config["metadata"]["labels"] if label.startswith("grafana")} == {"grafana_dashboard"}


def test_lateness_outcomes_streams_classifier_and_outbox_are_on_the_dashboard(full: Rendered) -> None:
    (config,) = full.of("ConfigMap")
    shown = config["data"]["driftwatch.json"]
    for metric in (
        "poll_lateness_seconds", "polls_total", "streams", "classifier_seconds", "classifier_verdicts_total",
        "outbox_depth",
    ):  # fmt: skip
        assert f"driftwatch_{metric}" in shown
