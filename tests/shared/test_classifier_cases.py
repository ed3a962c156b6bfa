"""The labelled questions and real edits beside the repository; not collected where the data is not (conftest.py)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftwatch.classify import classify

DATA = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"


def grade(outcome: str, expected: str) -> str:
    """ok, undecided, missed (a break not seen), false (a break that is none) or other."""
    if outcome == expected:
        return "ok"
    if outcome == "undecided":
        return "undecided"
    return {"breaking": "missed", "compatible": "false"}.get(expected, "other")


def show(capsys: pytest.CaptureFixture[str], title: str, counts: Counter[str]) -> None:
    total = sum(counts.values())
    cells = "  ".join(f"{name} {counts[name]}" for name in ("ok", "undecided", "missed", "false", "other"))
    with capsys.disabled():
        print(f"\n{title}: {total} rows  {cells}  decided {1 - counts['undecided'] / total:.1%}")


def test_the_labelled_cases(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for row in json.loads((DATA / "classifier-cases.json").read_text()):
        old_dialect, _, new_dialect = row["dialect"].partition("->")
        verdict = classify(
            row["old"],
            row["new"],
            direction=row["direction"],
            old_dialect=old_dialect,
            new_dialect=new_dialect or old_dialect,
        )
        expected = row.get("outcome") or ("breaking" if row["breaking"] else "compatible")
        result = grade(verdict.outcome, expected)
        counts[result] += 1
        if result not in ("ok", "undecided") or (result == "ok" and row.get("via", verdict.via) != verdict.via):
            wrong.append((row["id"], verdict))
        assert (verdict.outcome == "breaking") == verdict.has_witness
    show(capsys, "classifier-cases", counts)
    assert not wrong
    assert counts["undecided"] <= 3


def pairs() -> Iterator[dict[str, Any]]:
    for line in (DATA / "corpus" / "labelled_pairs.jsonl").read_text().splitlines():
        yield json.loads(line)


def test_the_real_edits(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for row in pairs():
        verdict = classify(row["old"], row["new"], direction=row["direction"], root="object")
        label = row["label"]
        result = grade(verdict.outcome, label["strict"])
        counts[result] += 1
        if label["strict_certainty"].startswith("certain") and result not in ("ok", "undecided"):
            wrong.append((row["id"], verdict))
        if verdict.outcome == "breaking" and label["practical_certainty"].startswith("certain"):
            practical = label["practical"].split(" ")[0]
            if (verdict.via == "undeclared-key") != (practical == "compatible"):
                wrong.append((row["id"], verdict.via, label["practical"]))
    show(capsys, "real edits", counts)
    assert not wrong
    assert counts["undecided"] <= 0.003 * counts.total()


#: what each fault report of kind schema_pair expects of (outcome, via)
EXPECTED = {
    "B030": ("compatible", None),
    "B042": ("compatible", None),
    "B046": ("compatible", None),
    "B072": ("breaking", "declared"),
    "B074": ("compatible", None),
    "B076": ("breaking", "declared"),
    "B078": ("breaking", "declared"),
    "B080": ("breaking", "declared"),
    "B082": ("compatible", None),
    "B084": ("breaking", "undeclared-key"),
    "B086": ("breaking", "undeclared-key"),
    "B088": ("compatible", None),
    "B090": ("breaking", "declared"),
    "B092": ("compatible", None),
    "B094": ("breaking", "declared"),
    "B096": ("breaking", "declared"),
    "B098": ("breaking", "declared"),
}


def test_the_fault_reports_about_schema_pairs() -> None:
    reports = [json.loads(path.read_text()) for path in sorted((DATA / "reports").glob("*.json"))]
    of_pairs = {report["id"]: report["input"] for report in reports if report["kind"] == "schema_pair"}
    assert of_pairs.keys() == EXPECTED.keys()
    for name, given in of_pairs.items():
        verdict = classify(given["old"], given["new"], direction=given["direction"], root="object")
        assert (verdict.outcome, verdict.via) == EXPECTED[name], (name, verdict)
        assert not any(finding.level == "breaking" for finding in verdict.findings) or verdict.outcome == "breaking"
