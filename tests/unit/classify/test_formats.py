"""Witnesses are dressed: strings look like what their format announces, unless the proof depends on them."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from driftwatch.classify import classify
from driftwatch.classify.witness.formats import SAMPLES

STAMP = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_has_its_format(name: str) -> None:
    asserting = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True, offline=True)
    assert asserting.is_valid(SAMPLES[name])
    assert name in ("hostname", "idn-hostname", "uri-reference", "iri-reference", "regex") or not asserting.is_valid(
        "a"
    )


def test_fillers_of_a_witness_have_their_format() -> None:
    old: dict[str, Any] = {
        "$defs": {
            "row": {"type": "object", "properties": {"at": STAMP, "n": {"type": "integer"}}, "required": ["at", "n"]}
        },
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}, "minItems": 1}},
        "required": ["rows"],
    }
    new = {**old, "$defs": {"row": {**old["$defs"]["row"], "required": ["at"]}}}
    verdict = classify(old, new, direction="output", root="object")
    assert verdict.witness == {"rows": [{"at": "2026-01-01T00:00:00Z"}]}


def test_the_string_that_proves_the_break_stays() -> None:
    verdict = classify({"type": "string", "format": "email"}, {"type": "string", "minLength": 1}, direction="input")
    assert verdict.witness == ""


def test_a_format_the_break_does_not_depend_on_is_kept() -> None:
    verdict = classify(STAMP, {"type": "string", "maxLength": 3}, direction="input")
    assert verdict.witness == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("old", "new", "direction", "expected"),
    [
        ({"format": "email"}, {"format": "uuid"}, "output", True),
        ({"format": "date-time"}, {}, "output", True),
        ({}, {"format": "date-time"}, "output", False),
        ({}, {"format": "date-time"}, "input", True),
        ({"format": "date-time"}, {}, "input", False),
        ({"format": "date-time", "maxLength": 3}, {"format": "date-time"}, "input", False),
        ({"format": "date-time", "title": "At"}, {"format": "date-time"}, "output", False),
        ({"format": "no-such-format"}, {}, "output", False),
    ],
)
def test_what_breaks_only_if_formats_are_asserted_says_so(old: Any, new: Any, direction: Any, expected: bool) -> None:
    pair = ({"type": "object", "properties": {"at": {"type": "string", **side}}} for side in (old, new))
    verdict = classify(*pair, direction=direction)
    assert (verdict.outcome, verdict.needs_format_assertion) == ("compatible", expected)
    levels = {finding.level for finding in verdict.findings if finding.rule == "output-format-changed"}
    assert levels <= {"warning" if expected else "info"}
