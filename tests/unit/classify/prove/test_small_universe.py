"""Brute force: whatever the prover says about random schemas is held against every value of a small universe."""

from __future__ import annotations

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
