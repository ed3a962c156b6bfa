"""The emulated clients against the real ones on real output schemas, the labelled cases and the official suite."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.real_clients import Disagreement, Question, agreement, compare

pytestmark = pytest.mark.acceptance

DATA = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"
DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
#: left out: documents of other files, and what our answer is `unknown` to by design
LEFT_OUT = {"refRemote.json", "vocabulary.json", "dynamicRef.json", "recursiveRef.json"}


def everyone(schema: Any, value: Any, *, wrap: bool) -> Iterator[Question]:
    """A schema and a value for each client; ``wrap``: as a property, for the era that knows objects only."""
    modern = {"era": "modern", "schema": schema, "value": value}
    legacy = {"era": "legacy", "schema": schema, "value": value}
    if wrap:
        legacy |= {"schema": {"type": "object", "properties": {"v": schema}}, "value": {"v": value}}
    yield from ({"client": client, **legacy} for client in ("ts1", "ts2", "py2"))
    if legacy["schema"].get("type") == "object":
        # Other roots are against the legacy protocol; mcp 1.x alone puts up with them, and we say ``list-lost``.
        yield {"client": "py1", **legacy}
    yield from ({"client": client, **modern} for client in ("ts2", "py2"))


def labelled() -> Iterator[Question]:
    for row in json.loads((DATA / "classifier-cases.json").read_text()):
        for schema in (row["old"], row["new"]):
            if isinstance(schema, dict) and row["breaking"]:
                yield from everyone(schema, row.get("witness"), wrap="$ref" not in json.dumps(schema))


def outputs() -> Iterator[Question]:
    """Real output schemas with results: the other side's example of an empty object and one value per property."""
    for line in (DATA / "corpus" / "labelled_pairs.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["direction"] != "output":
            continue
        for schema in (row["old"], row["new"]):
            names = list(schema.get("properties", {}))
            for value in ({}, dict.fromkeys(names), dict.fromkeys(names, "2026-11-30"), {"made-up": 1}):
                yield from everyone(schema, value, wrap=False)


def suite() -> Iterator[Question]:
    for draft, uri in DRAFTS.items():
        for path in sorted((DATA / "json-schema-test-suite" / "tests" / draft).glob("*.json")):
            groups = [] if path.name in LEFT_OUT else json.loads(path.read_text())
            for group in groups:
                if isinstance(group["schema"], dict):
                    schema = {"$schema": uri, **group["schema"]}
                    for test in group["tests"]:
                        yield {"client": "ts2", "era": "modern", "schema": schema, "value": test["data"]}


def explained(disagreement: Disagreement) -> str | None:
    """Why we say something else than Ajv does; None: we do not know."""
    schema = json.dumps(disagreement.question["schema"])
    if disagreement.ours == "unknown":
        return "a reference into a meta-schema, or a dynamic one: we say that we do not know"
    if "unevaluated" in schema and ('"if"' in schema or '"anyOf"' in schema):
        return "Ajv collects what `if` and unfinished branches evaluated in its own way"
    return None


def shown(capsys: pytest.CaptureFixture[str], title: str, asked: Counter[str], found: list[Any]) -> None:
    with capsys.disabled():
        print(f"\n{title}: agreement with the real clients: {agreement(asked, found)}")


def test_the_labelled_cases(capsys: pytest.CaptureFixture[str]) -> None:
    asked, found = compare(list(labelled()))
    shown(capsys, "labelled cases", asked, found)
    assert found == []


def test_real_output_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    asked, found = compare(list(outputs()))
    shown(capsys, "real output schemas", asked, found)
    assert found == []


def test_the_official_suite(capsys: pytest.CaptureFixture[str]) -> None:
    asked, found = compare(list(suite()))
    shown(capsys, "official suite", asked, found)
    assert len(found) <= 0.01 * asked.total(), [str(one) for one in found[:20]]
    assert [str(one) for one in found if explained(one) is None] == []
