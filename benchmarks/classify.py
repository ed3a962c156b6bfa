"""How long a verdict takes, beside jsonschema-rs's containment alone: ``python benchmarks/classify.py [CASES.jsonl]``.

Prints median and 95th percentile of CPU milliseconds. CASES: JSON lines with old, new and direction; without it, a
small realistic set made here.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs

from driftwatch.classify import classify

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "status": {"enum": ["open", "paid", "sent"]},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string", "minLength": 1}, "count": {"type": "integer", "minimum": 1}},
                "required": ["sku", "count"],
            },
        },
        "address": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]},
        **{f"extra_{index}": {"type": ["string", "null"], "default": None} for index in range(12)},
    },
    "required": ["id", "status"],
    "$defs": {"Address": {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}}}},
}


def edits() -> list[dict[str, Any]]:
    """Realistic edits of one contract, each asked in both directions."""
    changes: list[Callable[[dict[str, Any]], object]] = [
        lambda s: s["properties"]["status"]["enum"].append("returned"),
        lambda s: s["required"].append("address"),
        lambda s: s["required"].remove("status"),
        lambda s: s["properties"].update(tracking={"type": "string"}),
        lambda s: s["properties"].pop("extra_3"),
        lambda s: s["properties"]["lines"]["items"]["properties"]["count"].update(minimum=0),
        lambda s: s["$defs"]["Address"]["properties"]["zip"].update(pattern="^[0-9]{4,5}$"),
        lambda s: s.update(additionalProperties=False),
        lambda s: s["properties"]["id"].update(description="the order's number"),
        lambda s: s["properties"]["id"].update(type=["string", "null"]),
    ]
    out = []
    for change in changes:
        new = copy.deepcopy(ORDER)
        change(new)
        out += [{"old": ORDER, "new": new, "direction": direction} for direction in ("output", "input")]
    return out


def measured(cases: list[dict[str, Any]], answer: Callable[[dict[str, Any]], object]) -> list[float]:
    """CPU milliseconds of each case, sorted."""
    times = []
    for case in cases:
        started = time.process_time()
        answer(case)
        times.append((time.process_time() - started) * 1000)
    return sorted(times)


def covers(case: dict[str, Any]) -> object:
    """jsonschema-rs alone, without witness, via or findings."""
    old, new = (jsonschema_rs.canonicalize(case[side], offline=True) for side in ("old", "new"))
    pair = (new, old) if case["direction"] == "output" else (old, new)
    try:
        return pair[1].covers(pair[0])
    except jsonschema_rs.canonical.CanonicalizationError:
        return None


def main() -> None:
    """Measure and print."""
    given = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()] if len(sys.argv) > 1 else edits()
    root: Any = "object"
    reports: dict[str, Callable[[dict[str, Any]], object]] = {
        "driftwatch": lambda case: classify(case["old"], case["new"], direction=case["direction"], root=root),
        "jsonschema-rs covers": covers,
    }
    print(f"{len(given)} pairs, CPU ms{'p50':>20}{'p95':>10}{'max':>10}")
    for name, answer in reports.items():
        measured(given[:20], answer)  # warm
        times = measured(given, answer)
        row = (times[len(times) // 2], times[int(len(times) * 0.95)], times[-1])
        print(f"{name:28}" + "".join(f"{value:10.2f}" for value in row))


if __name__ == "__main__":
    main()
