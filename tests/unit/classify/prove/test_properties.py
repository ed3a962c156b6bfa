"""Laws that hold whatever the schemas are."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from builders.schemas import Schemas, validator
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from driftwatch.classify.dialects import SchemaError, compile_schema
from driftwatch.classify.ir import Node
from driftwatch.classify.ir.boolean import all_of, any_of, not_
from driftwatch.classify.ir.keywords import required
from driftwatch.classify.prove import prove
from driftwatch.classify.values import ALL, WHOLE

LAWFUL = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
SEEDS = st.integers(0, 10**9)


def node(seed: int, dialect: str = "2020-12") -> Node:
    """A random compiled schema."""
    schema: Any = Schemas(seed).document(dialect)
    try:
        validator(schema, dialect)
        return compile_schema(schema, dialect)
    except (ValueError, jsonschema_rs.ReferencingError, SchemaError):
        assume(False)
        raise


def subset(inner: Node, outer: Node) -> str:
    return prove(inner, outer, universe=ALL & ~WHOLE).answer


@LAWFUL
@given(SEEDS)
def test_a_set_is_in_itself_however_it_is_said(seed: int) -> None:
    one = node(seed)
    assert subset(one, one) == "yes"
    assert subset(one, not_(not_(one))) == "yes"
    assert subset(all_of([one, not_(one)]), compile_schema(False)) == "yes"
    assert subset(compile_schema(True), any_of([one, not_(one)])) == "yes"


@LAWFUL
@given(SEEDS, SEEDS)
def test_meet_and_join(first: int, second: int) -> None:
    one, two = node(first), node(second)
    assert subset(all_of([one, two]), one) == "yes"
    assert subset(one, any_of([one, two])) == "yes"
    assert subset(all_of([one, required(["a"])]), one) == "yes"


@LAWFUL
@given(SEEDS, SEEDS)
def test_contained_iff_the_difference_is_empty(first: int, second: int) -> None:
    one, two = node(first), node(second)
    answers = {subset(one, two), subset(all_of([one, not_(two)]), compile_schema(False))}
    assert len(answers - {"unknown"}) <= 1


@LAWFUL
@given(SEEDS, SEEDS, SEEDS)
def test_transitive(first: int, second: int, third: int) -> None:
    one, three = node(first), node(third)
    two = any_of([one, node(second)])
    if subset(two, three) == "yes":
        assert subset(one, three) == "yes"


@LAWFUL
@given(SEEDS, SEEDS)
def test_contraposition(first: int, second: int) -> None:
    one, two = node(first), node(second)
    answers = {subset(one, two), subset(not_(two), not_(one))}
    assert len(answers - {"unknown"}) <= 1
