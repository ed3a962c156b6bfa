"""The semantic digest: blind to spelling, never to meaning."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from builders.schemas import Schemas

from driftwatch.classify.dialects import SchemaError, compile_schema

SAME: list[tuple[Any, Any]] = [
    ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}),
    ({"const": "a"}, {"enum": ["a"]}),
    ({"enum": [1, "a"]}, {"enum": ["a", 1.0]}),
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, {"minimum": 1, "maximum": 2}),
    ({"allOf": [{"minLength": 1}, {"minLength": 3}]}, {"minLength": 3}),
    ({"type": "string", "properties": {"a": False}}, {"type": "string"}),
    ({"type": "string", "enum": ["a", 1, None]}, {"const": "a"}),
    ({"not": {"not": {"type": "string"}}}, {"type": "string"}),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["null", "string"]}),
    ({"title": "x", "default": 1, "description": "y", "x-own": {}}, True),
    ({"properties": {"a": {"title": "x", "type": "null"}}}, {"properties": {"a": {"type": "null", "default": None}}}),
    ({"multipleOf": 1.0, "type": "number"}, {"type": "integer"}),
    ({"minimum": 0.10}, {"minimum": 0.1}),
    ({"items": {}, "minItems": 0, "additionalProperties": True}, {}),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, {"type": "null"}),
    ({"if": {"type": "null"}, "then": {"type": "null"}, "else": {"type": "string"}}, {"type": ["null", "string"]}),
    ({"enum": [True, False, None]}, {"type": ["boolean", "null"]}),
]
DIFFERENT: list[tuple[Any, Any]] = [
    ({"const": 1}, {"const": True}),
    ({"enum": [[0]]}, {"enum": [[False]]}),
    ({"properties": {"title": {"type": "string"}}}, {"properties": {}}),
    ({"properties": {"default": {"type": "null"}}}, True),
    ({"minimum": 2**53}, {"minimum": 2**53 + 1}),
    ({"oneOf": [{"minimum": 1}, {"minimum": 1}]}, {"minimum": 1}),
    ({"$ref": "#/default", "default": {"type": "null"}}, {"$ref": "#/default", "default": {"type": "string"}}),
    ({"minLength": 1}, {"minItems": 1}),
]


@pytest.mark.parametrize(("one", "two"), SAME, ids=str)
def test_same_meaning_same_node(one: Any, two: Any) -> None:
    assert compile_schema(one) is compile_schema(two)


@pytest.mark.parametrize(("one", "two"), DIFFERENT, ids=str)
def test_other_meaning_other_digest(one: Any, two: Any) -> None:
    assert compile_schema(one).digest != compile_schema(two).digest


def test_drafts_meet_in_one_node() -> None:
    old = {"type": "array", "items": [{"type": "string"}], "additionalItems": False}
    new = {"type": "array", "prefixItems": [{"type": "string"}], "items": False}
    assert compile_schema(old, "draft-07") is compile_schema(new, "2020-12")
    assert compile_schema({"type": "integer"}, "draft-04") is not compile_schema({"type": "integer"}, "draft-06")


def test_an_asserted_format_shows_only_when_asked_for() -> None:
    one, two = {"type": "string", "format": "date"}, {"type": "string", "format": "time"}
    assert compile_schema(one) is compile_schema(two)
    assert compile_schema(one, formats=True) is not compile_schema(two, formats=True)


def tree(name: str, leaf: str, *, flip: bool = False) -> dict[str, Any]:
    ref = {"$ref": f"#/$defs/{name}"}
    other = {"$ref": f"#/$defs/{name}Other"}
    choices = [ref, {"type": leaf}]
    return {
        "$ref": f"#/$defs/{name}",
        "$defs": {
            name: {"type": "object", "properties": {"l": {"anyOf": choices[::-1] if flip else choices}, "r": other}},
            f"{name}Other": {"type": "array", "items": {"anyOf": [other, ref] if flip else [ref, other]}},
        },
    }


def test_recursion_is_known_by_its_shape() -> None:
    assert compile_schema(tree("Node", "null")) is compile_schema(tree("Tree", "null", flip=True))
    assert compile_schema(tree("Node", "null")) is not compile_schema(tree("Node", "string"))


def test_recursion_with_the_same_shape_but_other_targets_differs() -> None:
    def pair(first: str, second: str) -> dict[str, Any]:
        definitions = {
            "a": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/{first}"}}},
            "b": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/{second}"}}, "required": ["x"]},
        }
        return {"$ref": "#/$defs/a", "$defs": definitions}

    nodes = {compile_schema(pair(first, second)).digest for first in "ab" for second in "ab"}
    assert len(nodes) == 3  # a → a never reaches b


def test_recursion_that_differs_far_away_differs() -> None:
    def ring(special: int) -> dict[str, Any]:
        def node(index: int) -> dict[str, Any]:
            following, itself = ({"$ref": f"#/$defs/d{each % 6}"} for each in (index + 1, index))
            return {"type": "object", "properties": {"next": following, "self": itself}}

        definitions = {f"d{index}": node(index) for index in range(6)}
        definitions[f"d{special}"]["required"] = ["next"]
        return {"$ref": "#/$defs/d0", "$defs": definitions}

    assert len({compile_schema(ring(special)).digest for special in range(6)}) == 6


def test_definitions_with_the_same_tree_are_one() -> None:
    again = {"items": {"$ref": "#/$defs/a"}}
    once: dict[str, Any] = {"$ref": "#/$defs/a", "$defs": {"a": {**again, "not": again}}}
    twins = json.loads(json.dumps(once))
    twins["$defs"]["b"] = {"items": {"$ref": "#/$defs/a"}, "not": {"items": {"$ref": "#/$defs/b"}}}
    twins["$defs"]["a"] = {"items": {"$ref": "#/$defs/b"}, "not": {"items": {"$ref": "#/$defs/a"}}}
    assert compile_schema(once) is compile_schema(twins)


def test_many_mutually_recursive_definitions_are_read_quickly() -> None:
    count = 60
    definitions = {
        f"d{index}": {
            "properties": {f"p{step}": {"$ref": f"#/$defs/d{(index * step + 7) % count}"} for step in range(1, 6)},
            "minProperties": index % 3,
        }
        for index in range(count)
    }
    started = time.process_time()
    compile_schema({"$ref": "#/$defs/d1", "$defs": definitions})
    assert time.process_time() - started < 5


def shuffled(value: Any, rnd: random.Random) -> Any:
    """The same document with its keys, and its lists that are sets, in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rnd.shuffle(keys)
        return {
            key: rnd.sample(value[key], len(value[key]))
            if key in ("enum", "required", "anyOf", "allOf", "oneOf") and isinstance(value[key], list)
            else shuffled(value[key], rnd)
            for key in keys
        }
    return value


def test_order_never_shows() -> None:
    rnd = random.Random(3)
    stream = Schemas(9)
    for _ in range(300):
        schema, _, dialect, _ = stream.pair()
        try:
            node = compile_schema(schema, dialect)
        except SchemaError:
            continue
        assert compile_schema(shuffled(json.loads(json.dumps(schema)), rnd), dialect) is node, schema
