from __future__ import annotations

from typing import Any

import pytest

from driftwatch.capture.noise import changed_paths, dialect_changed, noise_class, schema_id_kept, volatile_paths

DRAFT_07 = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
DRAFT_2020 = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
NOTHING: frozenset[str] = frozenset()


def clock(second: int, description: str = "d") -> dict[str, Any]:
    to = {"type": "string", "default": f"2026-11-30T16:06:{second:02}Z"}
    return {"name": "perf", "description": description, "inputSchema": {"type": "object", "properties": {"to": to}}}


DEFAULT = "/inputSchema/properties/to/default"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"inputSchema": DRAFT_07}, {"inputSchema": DRAFT_2020}, "sdk-noise"),
        ({"inputSchema": {"type": "object"}}, {"inputSchema": DRAFT_07}, "sdk-noise"),
        ({"execution": {"taskSupport": "forbidden"}}, {}, "sdk-noise"),
        ({"execution": {"taskSupport": "forbidden"}}, {"execution": {"taskSupport": "optional"}}, "sdk-noise"),
        ({"inputSchema": DRAFT_07}, {"inputSchema": {**DRAFT_2020, "title": "x"}}, None),
        ({"description": "a"}, {"description": "b"}, None),
        ({"a": 1}, {"a": 1}, None),
    ],
)
def test_sdk_noise(old: dict[str, Any], new: dict[str, Any], expected: str | None) -> None:
    assert noise_class(old, new, NOTHING) == expected


def test_a_default_that_is_the_clock_becomes_volatile_at_its_second_repeat() -> None:
    assert volatile_paths([clock(1), clock(2)]) == NOTHING
    found = volatile_paths([clock(1), clock(2), clock(3)])
    assert found == {DEFAULT}
    assert noise_class(clock(3), clock(4), found) == "volatile"
    assert noise_class(clock(3), clock(4, "other"), found) is None


def test_there_and_back_is_volatile() -> None:
    assert volatile_paths([clock(1), clock(2), clock(1)]) == {DEFAULT}


def test_what_alters_the_accepted_values_is_never_volatile() -> None:
    kinds = [{"inputSchema": {"type": "object", "required": [name]}} for name in "abab"]
    assert volatile_paths(kinds) == NOTHING


def test_changed_paths_are_the_smallest_places() -> None:
    old = {"a": {"b": [1, 2], "c": 1, "gone": 0}, "x/y": True, "l": [1]}
    new = {"a": {"b": [1, 3], "c": 1, "new": 0}, "x/y": 1, "l": [1, 2]}
    assert set(changed_paths(old, new)) == {"/a/b/1", "/a/gone", "/a/new", "/x~1y", "/l"}


def test_dialect_changed_needs_a_schema_on_both_sides() -> None:
    assert dialect_changed({"outputSchema": DRAFT_07}, {"outputSchema": DRAFT_2020})
    assert not dialect_changed({}, {"outputSchema": DRAFT_2020})
    assert not dialect_changed({"outputSchema": DRAFT_07}, {"outputSchema": {**DRAFT_07, "title": "x"}})


def test_an_unchanged_id_over_changed_content() -> None:
    old, new = {"outputSchema": {"$id": "urn:x", "type": "object"}}, {"outputSchema": {"$id": "urn:x"}}
    assert schema_id_kept(old, new)
    assert not schema_id_kept(old, old)
    assert not schema_id_kept(old, {"outputSchema": {"$id": "urn:y"}})
    assert not schema_id_kept(old, {})
