from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.capture.snapshot import MAX_NAME, take
from driftwatch.wire.facts import Era

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def entry(name: str, **more: Any) -> bytes:
    return json.dumps({"name": name, "inputSchema": EMPTY, **more}).encode()


def snap(*entries: bytes) -> Any:
    return take(entries, era=Era.MODERN)


def test_a_definition_keeps_its_bytes_and_its_digests() -> None:
    raw = b'{ "name" : "a", "inputSchema": {"type":"object"}, "description":"d", "_meta":{"x":1}, "annotations":{} }'
    tool = snap(raw).tools["a"]
    assert tool.verbatim == raw
    assert (
        tool.canonical
        == b'{"_meta":{"x":1},"annotations":{},"description":"d","inputSchema":{"type":"object"},"name":"a"}'
    )
    assert tool.sha256 == hashlib.sha256(tool.canonical).digest()
    assert set(tool.part_shas) == {"input", "annotations", "text", "meta"}
    assert tool.semantic_shas["output"] is None
    assert tool.parsed()["description"] == "d"
    assert tool.invalid is None


@given(st.permutations(["a", "b", "c", "naïve", "nave", "数据", "meta.index"]))
def test_order_of_tools_is_nothing_and_names_are_exact(names: list[str]) -> None:
    found = snap(*(entry(name) for name in names))
    assert len(found.tools) == 7
    assert found.fingerprint == snap(*(entry(name) for name in sorted(names))).fingerprint


def test_key_order_is_nothing() -> None:
    one = snap(b'{"name":"a","description":"d","inputSchema":{"type":"object","properties":{}}}')
    other = snap(b'{"description":"d","inputSchema":{"properties":{},"type":"object"},"name":"a"}')
    assert one.fingerprint == other.fingerprint
    assert one.tools["a"].sha256 == other.tools["a"].sha256


def test_any_other_difference_is_another_definition() -> None:
    variants = [
        entry("a"),
        entry("a", description="d"),
        entry("a", description=""),
        entry("a", _meta={}),
        entry("a", x=None),
    ]
    assert len({snap(raw).fingerprint for raw in variants}) == len(variants)


@pytest.mark.parametrize(
    "bad",
    [
        b"null",
        b"[]",
        b"5",
        b"{}",
        b'{"name": ""}',
        b'{"name": 7}',
        b'{"name": "%s"}' % (b"x" * (MAX_NAME + 1)),
        b"{",
        b'{"name":"x","a":NaN}',
    ],
)
def test_an_entry_without_a_usable_name_is_a_finding_of_the_list(bad: bytes) -> None:
    found = snap(entry("good"), bad)
    assert list(found.tools) == ["good"]
    assert [note.rule for note in found.findings] == ["unusable-entry"]
    assert found.fingerprint != snap(entry("good")).fingerprint


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b'{"name": "bad", "inputSchema": {"type": "object"}, "description": "\\ud800"}', "lone-surrogate"),
        (b'{"name": "bad", "inputSchema": {"type": "object", "maximum": 1e999}}', "number-out-of-range"),
        (b'{"name": "bad", "inputSchema": {"maximum": %s}}' % (b"1" * 5000), "number-out-of-range"),
    ],
)
def test_bytes_that_cannot_be_read_make_one_tool_invalid(bad: bytes, code: str) -> None:
    found = snap(bad, entry("good"))
    assert found.tools["good"].invalid is None
    tool = found.tools["bad"]
    assert tool.invalid is not None
    assert tool.invalid.code == code
    assert (tool.canon_algo, tool.verbatim) == (0, bad)


def test_equal_duplicates_collapse_with_a_finding() -> None:
    found = snap(entry("a"), b'{"inputSchema":{"properties":{},"type":"object"},"name":"a"}')
    assert [note.rule for note in found.findings] == ["duplicate-tool"]
    assert [note.rule for note in found.tools["a"].findings] == ["duplicate-tool"]
    assert found.tools["a"].sha256 == snap(entry("a")).tools["a"].sha256
    assert found.tools["a"].invalid is None


def test_different_bodies_under_one_name_are_invalid_and_do_not_flap() -> None:
    x, y = entry("a", description="x"), entry("a", description="y")
    found, swapped = snap(x, y, entry("b")), snap(entry("b"), y, x)
    assert found == swapped
    invalid = found.tools["a"].invalid
    assert invalid is not None
    assert invalid.code == "conflicting-duplicates"
    assert found.tools["b"].invalid is None
    bodies = sorted([snap(x).tools["a"].canonical, snap(y).tools["a"].canonical])
    assert found.tools["a"].sha256 == hashlib.sha256(b"[" + b",".join(bodies) + b"]").digest()


def test_repeated_keys_are_a_finding() -> None:
    raw = b'{"name": "a", "inputSchema": {"type": "object"}, "description": "x", "description": "y"}'
    tool = snap(raw).tools["a"]
    assert [note.rule for note in tool.findings] == ["duplicate-keys"]
    assert tool.parsed()["description"] == "y"


def test_a_shared_schema_id_is_a_finding_of_the_list() -> None:
    a = entry("a", outputSchema={"$id": "https://e/x", "type": "object"})
    b = json.dumps({"name": "b", "inputSchema": {"$id": "https://e/x", "type": "object", "required": ["q"]}}).encode()
    assert [note.rule for note in snap(a, b).findings] == ["shared-schema-id"]
    assert snap(a).findings == ()


def test_hidden_characters_are_pointed_at() -> None:
    tool = snap(entry("a", annotations={"title": "pay\u202eeep"})).tools["a"]
    assert [(note.rule, note.pointer) for note in tool.findings] == [("hidden-characters", "/annotations/title")]
    assert snap(entry("a", description="two\r\nlines")).tools["a"].findings == ()


def test_a_big_definition_is_not_remembered_but_equal() -> None:
    raw = entry("a", description="x" * 20_000)
    assert snap(raw) == snap(raw)
