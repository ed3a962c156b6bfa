"""Combinations are counted, not solved; where there are too many, the native prover is not asked."""

from __future__ import annotations

import time
from typing import Any

import pytest

from driftwatch.classify import classify, ways

CHOICE = {"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "object", "required": ["a"]}]}
CONDITION = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, 1),
        ({"type": "object", "properties": {"a": {}}}, 1),
        (CHOICE, 3),
        ({"allOf": [CHOICE, CHOICE]}, 9),
        ({"anyOf": [CHOICE, CHOICE]}, 6),
        ({"properties": {"a": CHOICE, "b": CHOICE}}, 3),
        ({"allOf": [CONDITION] * 5}, 32),
        ({"dependentRequired": {"a": ["b"], "c": ["d"], "e": []}}, 8),
        ({"properties": {"a": {"items": {"allOf": [CHOICE, CONDITION]}}}}, 6),
    ],
)
def test_combinations_multiply_at_one_place(schema: Any, expected: int) -> None:
    assert ways.most(schema, "2020-12") == expected


def test_many_conditions_are_decided_at_once() -> None:
    names = [f"f{index}" for index in range(24)]
    old = {"type": "object", "dependentRequired": {name: [f"{name}x"] for name in names}}
    new = {
        "type": "object",
        "allOf": [{"if": {"required": [name]}, "then": {"required": [f"{name}x"]}} for name in names],
    }
    started = time.process_time()
    assert classify(old, new, direction="output", root="object").outcome == "compatible"
    assert classify(old, {**new, "allOf": new["allOf"][1:]}, direction="output").outcome == "breaking"
    assert time.process_time() - started < 2
