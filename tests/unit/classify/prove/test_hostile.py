"""Hostile schemas end as an answer or as unknown, quickly, never as an exception."""

from __future__ import annotations

import time
from typing import Any

import pytest

from driftwatch.classify.prove import contains
from driftwatch.classify.verdict import Policy


def nested(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"type": "object", "properties": {"a": leaf}, "required": ["a"]}
    return leaf


def graph(leaf: Any) -> dict[str, Any]:
    """2^30 paths over 31 definitions."""
    names: dict[str, Any] = {"d30": leaf}
    for index in range(30):
        below = {"$ref": f"#/$defs/d{index + 1}"}
        names[f"d{index}"] = {
            "anyOf": [{"type": "object", "properties": {key: below}, "required": [key]} for key in ("x", "y")]
        }
    return {"$ref": "#/$defs/d0", "$defs": names}


def choices(count: int) -> dict[str, Any]:
    return {"allOf": [{"oneOf": [{"required": [f"{group}{each}"]} for each in range(4)]} for group in range(count)]}


def wide(kind: str) -> dict[str, Any]:
    properties = {f"p{index}": {"type": "string"} for index in range(3_000)} | {"p1500": {"type": kind}}
    return {"type": "object", "properties": properties, "required": list(properties)}


def letters(values: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {key: values(place) for place, key in enumerate("abcdef")}}


def either() -> dict[str, Any]:
    return letters(lambda _: {"type": ["string", "integer"]}) | {"required": list("abcdef")}


def each_way() -> dict[str, Any]:
    def way(number: int) -> dict[str, Any]:
        return letters(lambda place: {"type": ("string", "integer")[number >> place & 1]})

    return {"anyOf": [way(number) for number in range(64)]}


HOSTILE: list[tuple[str, Any, Any, str]] = [
    ("deep, decided", nested(60, {"type": "string"}), nested(60, {"type": "integer"}), "no"),
    ("too deep", nested(2_000, {"type": "string"}), nested(2_000, {"type": "integer"}), "unknown"),
    ("a graph of 2^30 paths", graph({"type": "string"}), graph({"type": ["string", "null"]}), "yes"),
    ("a graph of 2^30 paths, broken", graph({"type": "string"}), graph({"type": "integer"}), "no"),
    ("4^8 combinations", choices(8), {"required": ["zz"]}, "no"),
    ("3 000 keys", wide("string"), wide("integer"), "no"),
    ("64 combinations of six keys", either(), each_way(), "yes"),
    ("nested quantifiers", {"type": "string", "pattern": "^(a+)+$"}, {"pattern": "^(a|aa)+$"}, "yes"),
    (
        "exponential automaton",
        {"type": "string", "pattern": "^(a|b)*a(a|b){20}$"},
        {"pattern": "^[ab]*a[ab]{20}$"},
        "unknown",
    ),
    ("ten thousand million items", {"type": "array", "minItems": 10**10}, {"minItems": 10**10 + 1}, "unknown"),
    ("a huge least length", {"type": "string", "minLength": 10**12}, {"minLength": 10**12 + 1}, "unknown"),
    ("a huge object", {"type": "object", "minProperties": 10**9}, {"minProperties": 10**9 + 1}, "unknown"),
    ("4 000 constants", {"enum": list(range(4_000))}, {"enum": list(range(3_999))}, "no"),
    (
        "a permutation",
        {"type": "array", "items": {"enum": list(range(12))}, "uniqueItems": True},
        {"maxItems": 12},
        "yes",
    ),
    ("tiny steps", {"type": "number", "multipleOf": 1e-300, "minimum": 1}, {"multipleOf": 3e-200}, "no"),
]


@pytest.mark.parametrize(("sub", "sup", "answer"), [pair[1:] for pair in HOSTILE], ids=[pair[0] for pair in HOSTILE])
def test_hostile(sub: Any, sup: Any, answer: str) -> None:
    started = time.perf_counter()
    proof = contains(sub, sup)
    assert proof.answer == answer
    assert answer != "unknown" or proof.reason in ("budget", "size")
    assert time.perf_counter() - started < 10  # the budget is two seconds; the rest is a busy machine


def test_the_step_budget_counts_every_expansion() -> None:
    proof = contains(either(), each_way(), policy=Policy(max_steps=100))
    assert (proof.answer, proof.reason) == ("unknown", "budget")
    assert 100 <= proof.steps <= 102


def test_the_time_budget_is_looked_at() -> None:
    proof = contains(either(), each_way(), policy=Policy(max_steps=10**9, max_seconds=0.0))
    assert (proof.answer, proof.reason) == ("unknown", "budget")
