"""The long runs: 20 000 random pairs and 20 000 mutations of realistic schemas, three opinions each."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from builders.schemas import Schemas, universe, validator

from driftwatch.classify.prove import contains
from driftwatch.classify.refute import hints, refute

DATA = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"
REALISTIC: dict[str, Any] = json.loads((DATA / "mcp_like_schemas.json").read_text())


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_pairs(seed: int) -> None:
    values = universe(seed)
    stream = Schemas(seed)
    answers: Counter[str] = Counter()
    while answers.total() < 2_000:
        sub, sup, one, two = stream.pair()
        try:
            accepting, refusing = validator(sub, one), validator(sup, two)
        except (ValueError, jsonschema_rs.ReferencingError):
            continue
        proof = contains(sub, sup, sub_dialect=one, sup_dialect=two)
        answers[proof.answer] += 1
        if proof.answer == "no":
            assert accepting.is_valid(proof.witness), (one, two, sub, sup, proof.witness)
            assert not refusing.is_valid(proof.witness), (one, two, sub, sup, proof.witness)
        elif proof.answer == "yes":
            against = [value for value in values if accepting.is_valid(value) and not refusing.is_valid(value)]
            assert against == [], (one, two, sub, sup)
    print(f"\nseed {seed}: {dict(answers)}")
    assert answers["unknown"] <= 40


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Every subschema that is an object."""
    found = [schema]
    for node in found:
        for word in ("properties", "$defs"):
            found += [each for each in node.get(word, {}).values() if isinstance(each, dict)]
        for word in ("anyOf", "oneOf", "prefixItems"):
            found += [each for each in node.get(word, ()) if isinstance(each, dict)]
        found += [node[word] for word in ("items", "additionalProperties") if isinstance(node.get(word), dict)]
    return found


def mutated(schema: dict[str, Any], rnd: random.Random) -> dict[str, Any]:
    """The schema after one edit of the kinds seen in real histories."""
    changed = copy.deepcopy(schema)
    node = rnd.choice(nodes(changed))
    properties = node.get("properties")
    required = node.get("required", [])
    edits: list[dict[str, Any]] = [{"description": "said differently"}, {"minLength": 1}, {"minItems": 1}]
    if properties:
        name = rnd.choice(sorted(properties))
        less = {key: value for key, value in properties.items() if key != name}
        edits += [
            {"properties": {**properties, "fresh": {"type": "string"}}},
            {"properties": {**properties, "fresh": {"type": "string"}}, "required": [*required, "fresh"]},
            {"properties": less, "required": [each for each in required if each != name]},
            {"properties": {**less, name: {"anyOf": [properties[name], {"type": "null"}]}}},
            {"properties": {**less, f"{name}X": properties[name]}},
            {"required": sorted({*required, name})},
            {"required": [each for each in required if each != name]},
            {"additionalProperties": False},
            {"additionalProperties": True},
        ]
    if isinstance(node.get("type"), str) and not properties:
        edits += [{"type": rnd.choice(["string", "integer", "number", "boolean", "null"])}]
    if "enum" in node:
        edits += [{"enum": [*node["enum"], "fresh"]}, {"enum": node["enum"][1:] or ["fresh"]}]
    for word in ("anyOf", "oneOf"):
        if len(node.get(word, ())) > 1:
            edits += [{word: node[word][1:]}, {word: [*node[word], {"type": "boolean"}]}]
    node.update(rnd.choice(edits))
    return changed


def covers(sup: Any, sub: Any) -> str:
    """The opinion of jsonschema-rs."""
    objects = jsonschema_rs.canonicalize({"type": "object"}, draft=jsonschema_rs.Draft202012, offline=True)
    wide, narrow = (
        jsonschema_rs.canonicalize(each, draft=jsonschema_rs.Draft202012, validate_formats=False, offline=True)
        for each in (sup, sub)
    )
    return str(wide.covers(narrow.intersect(objects)))


@pytest.mark.parametrize("seed", range(4))
def test_mutations_of_realistic_schemas(seed: int) -> None:
    rnd = random.Random(seed)
    answers: Counter[str] = Counter()
    for _ in range(2_500):
        name = rnd.choice(sorted(REALISTIC))
        one = REALISTIC[name] if rnd.random() < 0.7 else mutated(REALISTIC[name], rnd)
        two = mutated(one, rnd)
        for sub, sup in ((one, two), (two, one)):
            proof = contains(sub, sup, root="object")
            answers[proof.answer] += 1
            accepting, refusing = validator(sub, "2020-12"), validator(sup, "2020-12")
            if proof.answer == "no":
                assert isinstance(proof.witness, dict)
                assert accepting.is_valid(proof.witness), (name, sub, sup, proof.witness)
                assert not refusing.is_valid(proof.witness), (name, sub, sup, proof.witness)
                continue
            opinion = covers(sup, sub)
            answers[f"covers {opinion}"] += 1
            assert opinion != "no", (name, sub, sup)
            seed_value = contains(sub, False, root="object").witness
            counter = refute(
                [seed_value] if isinstance(seed_value, dict) else [],
                hints(sub, sup),
                accepts=lambda value, judge=accepting: isinstance(value, dict) and judge.is_valid(value),
                refuses=lambda value, judge=refusing: not judge.is_valid(value),
                limit=150,
            )
            assert counter is None, (name, sub, sup, counter)
    print(f"\nseed {seed}: {dict(answers)}")
    assert answers["unknown"] == 0
