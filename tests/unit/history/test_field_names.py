from __future__ import annotations

import json
from typing import Any

from driftwatch.capture.snapshot import take
from driftwatch.history import field_names
from driftwatch.history.field_names import MAX_FIELDS
from driftwatch.wire.facts import Era


def names(**schemas: Any) -> frozenset[tuple[str, str]]:
    raw = json.dumps({"name": "t", "inputSchema": {"type": "object"}, **schemas}).encode()
    return field_names.field_names(take([raw], era=Era.MODERN).tools["t"])


def test_properties_anywhere_in_both_schemas() -> None:
    item = {"type": "object", "properties": {"sku": {"type": "string"}}}
    given = {"type": "object", "properties": {"id": True}, "$defs": {"Item": item}}
    gives = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    found = names(inputSchema=given, outputSchema=gives)
    assert found == {("input", "id"), ("input", "sku"), ("output", "rows"), ("output", "sku")}


def test_a_property_called_properties_is_a_field_and_values_are_not_schemas() -> None:
    inner = {"type": "object", "properties": {"deep": {"type": "string", "default": {"properties": {"no": 1}}}}}
    found = names(inputSchema={"type": "object", "properties": {"properties": inner}})
    assert found == {("input", "properties"), ("input", "deep")}


def test_the_cap_keeps_what_is_nearest_to_the_root() -> None:
    many = {f"f{i}": {"type": "object", "properties": {f"deep{i}": True}} for i in range(MAX_FIELDS - 1)}
    found = names(inputSchema={"type": "object", "properties": many})
    assert len(found) == MAX_FIELDS
    assert {("input", name) for name in many} < found


def test_bytes_that_are_no_definition_have_no_fields() -> None:
    broken = take([b'{"name": "t", "inputSchema": {"properties": {"a": 1e999999}}}'], era=Era.MODERN)
    for one in broken.tools.values():
        assert field_names.field_names(one) <= {("input", "a")}
