from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.classify import exact

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ([1], [True], False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        (0.1, Decimal("0.1"), True),
        (Decimal("0.10000000000000000001"), 0.1, False),
        (2**64, 2**64 + 1, False),
        (1e22, 10**22, True),
        (Decimal("1E+2"), 100, True),
        (100, 10, False),
        (-0.5, 0.5, False),
        ("1", 1, False),
    ],
)
def test_json_equality(left: Any, right: Any, equal: bool) -> None:
    assert exact.same(left, right) is equal


@given(VALUES)
def test_a_value_equals_its_copy(value: Any) -> None:
    assert exact.same(value, json.loads(json.dumps(value)))


def test_a_huge_exponent_is_not_spelled_out() -> None:
    assert len(exact.key(Decimal("1e999999999"))) < 40


@pytest.mark.parametrize(
    ("value", "unsafe"),
    [(2**53 - 1, False), (2**53, True), (-(2**53), True), ([{"a": 1e300}], True), (True, False), ("9" * 30, False)],
)
def test_numbers_that_clients_cannot_hold(value: Any, unsafe: bool) -> None:
    assert exact.unsafe(value) is unsafe
