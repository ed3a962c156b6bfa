from __future__ import annotations

from typing import Any

import pytest

from driftwatch.web.pages import witness


def text(value: Any, pointer: str | None = None, why: str | None = None) -> list[str]:
    return ["".join(token.text for token in line.tokens) for line in witness.lines(value, pointer, why)]


def bad(value: Any, pointer: str) -> list[str]:
    return ["".join(token.text for token in line.tokens).strip() for line in witness.lines(value, pointer) if line.bad]


def test_the_failing_line_is_marked_with_the_reason() -> None:
    lines = witness.lines({"id": "A-1", "status": None}, "/status", "null is not of type string")
    marked = [line for line in lines if line.bad]
    assert [token.text for token in marked[0].tokens] == ["  ", '"status"', ": ", "null"]
    assert marked[0].why == "null is not of type string"
    assert [line.why for line in lines if not line.bad] == [None, None, None]


@pytest.mark.parametrize(
    ("value", "pointer", "expected"),
    [
        (None, "", ["null"]),
        ({}, "", ["{}"]),
        ({"a": {"b": 1}}, "/a/b", ['"b": 1']),
        ({"a": {"b": {"c": 1}}}, "/a/missing", ['"a": {']),
        ([1, [2, 3]], "/1/0", ["2,"]),
        ({"a/b": {"~": 1}}, "/a~1b/~0", ['"~": 1']),
    ],
)
def test_a_pointer_finds_its_line(value: Any, pointer: str, expected: list[str]) -> None:
    assert bad(value, pointer) == expected


def test_without_a_pointer_nothing_is_marked() -> None:
    assert not [line for line in witness.lines({"a": 1}) if line.bad]


def test_small_values_stay_on_one_line_and_long_ones_do_not() -> None:
    assert text({"a": [1, 2]}) == ["{", '  "a": [1, 2]', "}"]
    assert len(text({"a": "x" * 100, "b": 1})) == 4


def test_a_long_witness_is_cut_and_says_so() -> None:
    lines = text(list(range(1000)), "/999")
    assert len(lines) == witness.MAX_LINES + 1
    assert "cut here" in lines[-1]


def test_a_long_string_is_cut_with_its_length() -> None:
    assert "(5000 characters)" in text("x" * 5000)[0]


def test_hostile_values_do_not_fail() -> None:
    assert text({"\ud800": "\x00\u202e", "n": 10**400})
