"""Brute force: whatever the prover says about random schemas is held against every value of a small universe."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import jsonschema_rs
import pytest
from builders.schemas import Schemas, Trees, tree_values, universe, validator

from driftwatch.classify.prove import contains

UNIVERSE = universe()
TREES = tree_values()


def confront(sub: Any, sup: Any, dialects: tuple[str, str], values: list[Any]) -> str:
    """The prover's answer, after checking it; ``invalid`` when a schema is none."""
    try:
        accepting, refusing = validator(sub, dialects[0]), validator(sup, dialects[1])
    except (ValueError, jsonschema_rs.ReferencingError):
        return "invalid"
    proof = contains(sub, sup, sub_dialect=dialects[0], sup_dialect=dialects[1])
    assert proof.reason != "internal", (dialects, sub, sup)
    if proof.answer == "no":
        assert accepting.is_valid(proof.witness), (dialects, sub, sup, proof.witness)
        assert not refusing.is_valid(proof.witness), (dialects, sub, sup, proof.witness)
    elif proof.answer == "yes":
        against = [value for value in values if accepting.is_valid(value) and not refusing.is_valid(value)]
        assert against == [], (dialects, sub, sup)
    return proof.answer


@pytest.mark.parametrize("seed", range(4))
def test_every_keyword_in_every_draft(seed: int) -> None:
    stream = Schemas(seed)
    answers: Counter[str] = Counter()
    for _ in range(600):
        sub, sup, one, two = stream.pair()
        answers[confront(sub, sup, (one, two), UNIVERSE)] += 1
    assert answers["unknown"] <= 12
    assert min(answers["yes"], answers["no"]) > 150


@pytest.mark.parametrize("seed", range(2))
def test_recursion(seed: int) -> None:
    stream = Trees(seed)
    answers: Counter[str] = Counter()
    for _ in range(400):
        tree = stream.document()
        other = stream.variant(tree) if stream.rnd.random() < 0.75 else stream.document()
        pair = (tree, other) if stream.rnd.random() < 0.5 else (other, tree)
        answers[confront(*pair, ("2020-12", "2020-12"), TREES)] += 1
    assert answers["unknown"] + answers["invalid"] <= 8
    assert min(answers["yes"], answers["no"]) > 50


KEYS = ("a", "b", "c", "aa")
OBJECTS = [
    {key: value for key, value in zip(KEYS, values, strict=True) if value != "absent"}
    for values in itertools.product([0, 1, "x", "absent"], repeat=4)
] + [{"d": 1}, {"": 0}, {"d": 1, "a": "x"}]
LISTS: list[dict[str, Any]] = [
    {"enum": ["a", "b"]},
    {"const": "a"},
    {"enum": ["a", 1, "d"]},
    {"enum": ["aa", "c", "b", "a"]},
]


@pytest.mark.parametrize("seed", range(3))
def test_lists_of_the_keys_there_may_be(seed: int) -> None:
    """Where key names are listed, no other key exists; every object of four keys is tried."""
    rnd = random.Random(seed)
    leaves = [True, False, {"type": "integer"}, {"const": 0}, {"enum": [1, "x"]}, {"not": {"const": 1}}]

    def some() -> dict[str, Any]:
        made = {"propertyNames": rnd.choice(LISTS)} if rnd.random() < 0.7 else {}
        more: list[dict[str, Any]] = [
            {"properties": {key: rnd.choice(leaves) for key in rnd.sample(KEYS, 2)}},
            {"required": rnd.sample(KEYS, 1)},
            {"additionalProperties": rnd.choice(leaves)},
            {"patternProperties": {rnd.choice(["^a", "[bc]", "^.$"]): rnd.choice(leaves)}},
            {rnd.choice(["minProperties", "maxProperties"]): rnd.randint(0, 3)},
            {"not": {"propertyNames": rnd.choice(LISTS)}},
            {"anyOf": [{"propertyNames": rnd.choice(LISTS)}, {"maxProperties": 1}]},
        ]
        for extra in rnd.sample(more, rnd.randint(1, 3)):
            made |= extra
        return {"type": "object", **made}

    answers: Counter[str] = Counter()
    for _ in range(120):
        one = some()
        other = {**one, **some()} if rnd.random() < 0.5 else some()
        answers[confront(one, other, ("2020-12", "2020-12"), OBJECTS)] += 1
    assert answers["unknown"] == 0
    assert min(answers["yes"], answers["no"]) > 20
