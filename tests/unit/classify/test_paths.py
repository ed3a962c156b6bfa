# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

from typing import Any

import pytest

from driftwatch.classify import paths


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, [{"pointer": "/a", "kind": "changed", "old": 1, "new": 2}]),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [{"pointer": "/a", "kind": "changed", "old": 1, "new": True}]),
        ({}, {"a/b~": [1]}, [{"pointer": "/a~1b~0", "kind": "added"}]),
        ({"a": {"b": "x"}}, {"a": {}}, [{"pointer": "/a/b", "kind": "removed", "old": "x"}]),
        ({"r": ["a", "b"]}, {"r": ["a", "c", "d"]}, [
            {"pointer": "/r/1", "kind": "changed", "old": "b", "new": "c"}, {"pointer": "/r/2", "kind": "added", "new": "d"}]),
        (None, {}, [{"pointer": "", "kind": "added"}]),
        ({}, None, [{"pointer": "", "kind": "removed"}]),
        ({"t": "x" * 500}, {"t": "y"}, [{"pointer": "/t", "kind": "changed", "old": "x" * 199 + "…", "new": "y"}]),
        ({"n": 2**70}, {"n": 2**70 + 1}, [{"pointer": "/n", "kind": "changed", "old": 2**70, "new": 2**70 + 1}]),
    ],
)  # fmt: skip
def test_changed_paths(old: Any, new: Any, expected: list[dict[str, Any]]) -> None:
    assert list(paths.changed(old, new)) == expected


def test_the_list_is_capped() -> None:
    old = {str(index): index for index in range(1000)}
    assert len(paths.changed(old, {key: value + 1 for key, value in old.items()})) == paths.MAX_PATHS


def test_what_is_too_large_or_too_deep_is_one_path() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = {"a": deep}
    assert paths.changed(deep, {"a": 1}) == ({"pointer": "", "kind": "changed"},)
    large = list(range(6_000))
    assert paths.changed(large, [*large, 1]) == ({"pointer": "", "kind": "changed"},)
