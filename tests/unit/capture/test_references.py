from __future__ import annotations

import time
from typing import Any

import pytest

from driftwatch.capture.references import Problem, problems

HERE = {"$defs": {"A": {"type": "string"}}, "properties": {"a/b": {}, "c~d": {}, "e f": {}}}

FINE = [
    ("a definition", {"$ref": "#/$defs/A"}),
    ("an escaped slash", {"$ref": "#/properties/a~1b"}),
    ("an escaped tilde", {"$ref": "#/properties/c~0d"}),
    ("a percent escape", {"$ref": "#/properties/e%20f"}),
    ("through a list", {"anyOf": [{"type": "null"}], "$ref": "#/not/anyOf/0"}),
    ("an anchor", {"properties": {"x": {"$anchor": "here"}}, "items": {"$ref": "#here"}}),
    ("a dynamic anchor", {"properties": {"x": {"$dynamicAnchor": "here"}}, "items": {"$ref": "#here"}}),
    ("an old anchor", {"properties": {"x": {"$id": "#here"}}, "items": {"$ref": "#here"}}),
    ("an embedded resource", {"$defs": {"x": {"$id": "urn:x", "$defs": {"y": {}}}}, "$ref": "urn:x#/$defs/y"}),
    ("relative to an $id", {"$id": "https://e.test/a/", "$defs": {"x": {"$id": "b"}}, "$ref": "b"}),
    ("its own $id", {"$id": "https://e.test/a", "$defs": {"x": {}}, "$ref": "https://e.test/a#/$defs/x"}),
    ("recursion through a property", {"properties": {"next": {"$ref": "#/not"}}}),
    ("a property that is called $ref", {"properties": {"$ref": {"type": "string"}}}),
    ("an enum that holds a $ref", {"enum": [{"$ref": "#/nowhere"}]}),
    ("a reference that is no text", {"$ref": 5}),
]
PROBLEMS = [
    ("no such definition", {"$ref": "#/$defs/B"}, "unresolved", "#/$defs/B"),
    ("no such anchor", {"$ref": "#B"}, "unresolved", "#B"),
    ("past the end of a list", {"anyOf": [True], "$ref": "#/not/anyOf/1"}, "unresolved", "#/not/anyOf/1"),
    ("into a text", {"$ref": "#/$defs/A/type/x"}, "unresolved", "#/$defs/A/type/x"),
    ("another host", {"$ref": "https://e.test/x"}, "remote", "https://e.test/x"),
    ("a file", {"$ref": "file:///etc/passwd"}, "remote", "file:///etc/passwd"),
    ("a sibling file", {"$ref": "common.json#/A"}, "remote", "common.json#/A"),
    ("no URL at all", {"$id": "http://[", "$ref": "http://["}, None, None),
    ("the pointer of another resource", {"$id": "urn:x", "$ref": "#/$defs/A"}, "unresolved", "#/$defs/A"),
    ("itself", {"$ref": "#/not"}, "endless", ""),
    ("itself over two branches", {"anyOf": [{"allOf": [{"$ref": "#/not"}]}]}, "endless", ""),
]


@pytest.mark.parametrize("schema", [row[1] for row in FINE], ids=[row[0] for row in FINE])
def test_references_that_lead_somewhere(schema: dict[str, Any]) -> None:
    assert problems(HERE | {"not": schema} if "$id" not in schema else schema) == ()


@pytest.mark.parametrize(("schema", "kind", "target"), [row[1:] for row in PROBLEMS], ids=[row[0] for row in PROBLEMS])
def test_references_that_do_not(schema: dict[str, Any], kind: Any, target: str) -> None:
    found = {problem for problem in problems(HERE | {"not": schema}) if problem.kind == kind}
    assert found == ({Problem(kind, target)} if kind else set())


@pytest.mark.parametrize("schema", [True, None, 7, [], {}])
def test_what_is_no_schema_object_has_none(schema: Any) -> None:
    assert problems(schema) == ()


def test_many_references_cost_no_more_than_their_size() -> None:
    anchors = {f"p{n}": {"$anchor": f"a{n}"} for n in range(10_000)}
    schema = {"properties": anchors | {f"q{n}": {"$ref": f"#a{n}"} for n in range(10_000)}}
    started = time.process_time()
    assert problems(schema) == ()
    assert time.process_time() - started < 5  # a look-up that walks the document would take minutes
