"""Pairs of schemas for the classifier's benchmark, always the same: realistic edits, and schemas made to be hard."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, Final

Schema = dict[str, Any]
Case = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_NAMES: Final = ("id", "title", "status", "owner", "created_at", "count", "labels", "items", "next", "url", "score")


def _field(rnd: random.Random, depth: int) -> Schema:
    """One property the way generators of tool schemas write it."""
    kinds: list[Callable[[], Schema]] = [
        lambda: dict(_TEXT),
        lambda: {"type": "string", "minLength": rnd.randint(0, 3), "maxLength": rnd.choice([64, 255])},
        lambda: {"type": "string", "pattern": rnd.choice(["^[a-z0-9-]+$", r"^\d{4}-\d{2}-\d{2}$", "^[A-Z]{2,5}$"])},
        lambda: {"type": "string", "format": rnd.choice(["date-time", "uri", "uuid"])},
        lambda: {"enum": rnd.sample(["open", "closed", "merged", "draft", "all", "none"], rnd.randint(2, 5))},
        lambda: {"type": "integer", "minimum": rnd.randint(0, 1), "maximum": rnd.choice([50, 100, 1000])},
        lambda: {"type": ["number", "null"], "default": None},
        lambda: {"type": "boolean", "default": False},
        lambda: {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "T"},
        lambda: {"type": "array", "items": _field(rnd, depth - 1) if depth else dict(_TEXT)},
        lambda: _object(rnd, depth - 1) if depth else {"type": "object"},
        lambda: {"$ref": "#/$defs/User"},
    ]
    made = rnd.choice(kinds)()
    return {**made, "description": "What it is."} if rnd.random() < 0.5 and "$ref" not in made else made


def _object(rnd: random.Random, depth: int) -> Schema:
    names = rnd.sample(_NAMES, rnd.randint(2, 8))
    made: Schema = {"type": "object", "properties": {name: _field(rnd, depth) for name in names}}
    made["required"] = [name for name in names if rnd.random() < 0.4]
    if rnd.random() < 0.3:
        made["additionalProperties"] = False
    return made


def _edited(rnd: random.Random, schema: Schema) -> None:
    """One edit of an object somewhere in the schema."""
    here = schema
    while rnd.random() < 0.5:
        below = [each for each in here["properties"].values() if "properties" in each]
        if not below:
            break
        here = rnd.choice(below)
    properties, name = here["properties"], rnd.choice(list(here["properties"]))
    edits: list[Callable[[], object]] = [
        lambda: properties.update(added=_field(rnd, 1)),
        lambda: properties.pop(name),
        lambda: properties.update({name: _field(rnd, 1)}),
        lambda: here["required"].append(name),
        lambda: here.update(required=here["required"][1:]),
        lambda: here.update(additionalProperties=not here.get("additionalProperties", True)),
        lambda: properties.update({name: {"anyOf": [properties[name], {"type": "null"}]}}),
        lambda: properties[name].update(description="Said in other words.") if "$ref" not in properties[name] else None,
    ]
    rnd.choice(edits)()


def realistic(count: int = 400) -> list[Case]:
    """Schemas of two to forty properties with one to three edits."""
    rnd = random.Random(20_260)
    cases = []
    for index in range(count):
        old = _object(rnd, 2)
        old["$defs"] = {"User": {"type": "object", "properties": {"login": dict(_TEXT)}, "required": ["login"]}}
        new = copy.deepcopy(old)
        for _ in range(rnd.randint(1, 3)):
            if new["properties"]:
                _edited(rnd, new)
        cases.append({"old": old, "new": new, "direction": ("output", "input")[index % 2]})
    return cases


def _tagged(size: int, *, extra: bool) -> Schema:
    branches = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{index}"}, "value": {"type": "integer", "maximum": index}},
            "required": ["kind"],
        }
        for index in range(size)
    ]
    if extra:
        branches[size // 2]["properties"]["value"]["maximum"] += 1
    return {"type": "object", "properties": {"event": {"oneOf": branches}}}


def _tree(name: str, leaf: Schema) -> Schema:
    node = {"type": "object", "properties": {"left": {"$ref": f"#/$defs/{name}"}, "value": leaf}}
    return {"type": "object", "properties": {"root": {"$ref": f"#/$defs/{name}"}}, "$defs": {name: node}}


def _pairs() -> list[tuple[Schema, Schema]]:
    words = [f"word{index}" for index in range(300)]
    patterns = {f"^{letter}[a-z]*{other}$": {"type": "integer"} for letter in "abc" for other in "xy"}
    flags = {f"f{index}": {"type": "boolean"} for index in range(12)}
    closed: Schema = {"type": "object", "additionalProperties": False}
    return [
        *((_tagged(size, extra=False), _tagged(size, extra=True)) for size in (10, 20, 40, 60)),
        (_tree("Node", {"type": "string"}), _tree("Tree", {"type": ["string", "null"]})),
        (_tree("Node", {"type": "string"}), _tree("Tree", {"type": "string"})),
        ({"properties": {"a": {"enum": words}}}, {"properties": {"a": {"enum": [*words, "more"]}}}),
        (
            {**closed, "patternProperties": patterns},
            {**closed, "patternProperties": {"^[a-c].*[xy]$": {"type": "number"}}},
        ),
        ({**closed, "properties": flags}, {**closed, "properties": flags, "minProperties": 6}),
        (
            {"properties": {"a": {"type": "string", "pattern": "^(a|b)*c{2,9}(d|e)+$"}}},
            {"properties": {"a": {"type": "string", "pattern": "^[ab]*c{3,8}[de]*$"}}},
        ),
        (
            {"properties": {"a": {"type": "array", "items": {"enum": list(range(8))}, "uniqueItems": True}}},
            {"properties": {"a": {"type": "array", "items": {"enum": list(range(9))}, "maxItems": 8}}},
        ),
        (
            {"properties": {"a": {"type": "number", "multipleOf": 0.01, "minimum": 0.1}}},
            {"properties": {"a": {"type": "number", "multipleOf": 0.005, "exclusiveMinimum": 0}}},
        ),
        (
            {"anyOf": [{"properties": {name: {"const": 1}}, "required": [name]} for name in flags]},
            {"minProperties": 1, "properties": {name: {"type": "integer"} for name in flags}},
        ),
        (
            {"allOf": [{"if": {"required": [name]}, "then": {"required": [f"{name}x"]}} for name in flags]},
            {"dependentRequired": {name: [f"{name}x"] for name in flags}},
        ),
        (
            {"properties": flags, "unevaluatedProperties": False},
            {"allOf": [{"properties": flags}], "unevaluatedProperties": {"type": "null"}},
        ),
        (
            {"properties": {"a": {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 5}}},
            {"properties": {"a": {"contains": {"type": "number"}, "minContains": 1}}},
        ),
        ({"not": {"not": {"properties": flags}}}, {"properties": flags, "propertyNames": {"maxLength": 40}}),
    ]


def adversarial() -> list[Case]:
    """Large unions, recursion, overlapping patterns, counted items; each pair both ways and in both directions."""
    return [
        {"old": {"type": "object", **old}, "new": {"type": "object", **new}, "direction": direction}
        for one, two in _pairs()
        for old, new in ((one, two), (two, one))
        for direction in ("output", "input")
    ]
