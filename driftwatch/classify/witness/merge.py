"""One flat schema for a conjunction: the alternatives of a schema without in-place applicators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import Schema
from driftwatch.classify.pattern.match import matches
from driftwatch.classify.witness.places import Places

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_LARGEST: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_SMALLEST: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_MAPS: Final = frozenset({"properties", "patternProperties"})
_IMPLIED: Final[dict[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "patterns"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"),
    "object": (
        *("properties", "required", "additionalProperties", "minProperties", "maxProperties", "patternProperties"),
        *("propertyNames", "dependentRequired", "unevaluatedProperties"),
    ),
}


@dataclass(slots=True)
class Alternative:
    """One way to satisfy a schema: plain keywords that all must hold, and schemas that must not."""

    words: dict[str, Any] = field(default_factory=dict)
    nots: list[Schema] = field(default_factory=list)

    def types(self) -> tuple[str, ...]:
        """The types to try, the likely ones first."""
        written = self.words.get("type")
        if written is not None:
            return (written,) if isinstance(written, str) else tuple(written)
        if "enum" in self.words or "const" in self.words:
            return TYPES
        implied = [name for name, words in _IMPLIED.items() if any(word in self.words for word in words)]
        return tuple(dict.fromkeys((*implied, *TYPES)))


def alternatives(places: Places, schemas: Iterable[Schema], *, limit: int = 96) -> Iterator[Alternative]:
    """Ways to satisfy all ``schemas`` at once: every branch of every choice appears, not every combination."""
    count = 0
    pending: list[tuple[list[Schema], frozenset[str]]] = [(list(schemas), frozenset())]
    while pending and count < limit:
        conjunction, followed = pending.pop(0)
        flat = _flatten(places, conjunction, followed)
        if flat is None:
            continue
        alternative, choices, followed = flat
        if not choices:
            count += 1
            yield alternative
            continue
        kept: list[Schema] = [_back(alternative)]
        for position, options in enumerate(choices):
            first = position == 0
            others = [choice[0] for index, choice in enumerate(choices) if index != position and choice]
            pending.extend(([*kept, option, *others], followed) for option in (options if first else options[1:]))


def _back(alternative: Alternative) -> dict[str, Any]:
    words = dict(alternative.words)
    if alternative.nots:
        words["nots"] = alternative.nots
    return words


def _flatten(
    places: Places, schemas: list[Schema], followed: frozenset[str]
) -> tuple[Alternative, list[list[Schema]], frozenset[str]] | None:
    alternative = Alternative()
    choices: list[list[Schema]] = []
    pending = list(schemas)
    while pending:
        node = pending.pop(0)
        if node is False:
            return None
        if node is True:
            continue
        if "$ref" in node and node["$ref"] not in followed:
            followed |= {node["$ref"]}
            pending.append(places.target(node["$ref"]))
        pending.extend(node.get("allOf", ()))
        choices.extend(_choices(node))
        alternative.nots += [node["not"]] if "not" in node else []
        alternative.nots += node.get("nots", [])
        _absorb(alternative.words, node)
    return alternative, choices, followed


def _choices(node: dict[str, Any]) -> Iterator[list[Schema]]:
    for word in ("anyOf", "oneOf"):
        if word in node:
            yield list(node[word])
    if "if" in node and ("then" in node or "else" in node):
        yield [
            {"allOf": [node["if"], node.get("then", True)]},
            {"allOf": [node.get("else", True)], "not": node["if"]},
        ]
    for name, schema in {**node.get("dependentSchemas", {}), **node.get("dependencies", {})}.items():
        wanted = {"required": schema} if isinstance(schema, list) else schema
        yield [True, {"allOf": [{"required": [name]}, wanted]}]


_SKIPPED: Final = frozenset(
    {"$ref", "$defs", "allOf", "anyOf", "oneOf", "not", "nots", "if", "then", "else", "dependentSchemas"}
    | {"dependencies"}
)


def _absorb(words: dict[str, Any], node: dict[str, Any]) -> None:
    closed = _closing(words, node)
    for word, value in node.items():
        if word in _SKIPPED:
            continue
        if word == "pattern":
            words.setdefault("patterns", []).append(value)
        elif word not in words:
            words[word] = dict(value) if word in _MAPS else list(value) if word == "patterns" else value
        else:
            words[word] = _MERGES.get(word, _keep)(words[word], value)
    for name in closed:
        words["properties"][name] = _both(words["properties"][name], closed[name])


def _closing(words: dict[str, Any], node: dict[str, Any]) -> dict[str, Schema]:
    """Properties that one side names and the other side's ``additionalProperties`` judges."""
    out: dict[str, Schema] = {}
    for judge, other in ((words, node), (node, words)):
        rest = judge.get("additionalProperties", True)
        if rest is True or rest == {}:
            continue
        for name in other.get("properties", {}):
            if name not in judge.get("properties", {}) and not any(
                matches(pattern, name) for pattern in judge.get("patternProperties", {})
            ):
                out[name] = rest
    return out


def _both(left: Schema, right: Schema) -> Schema:
    if left is False or right is False:
        return False
    if left is True:
        return right
    return left if right is True else {"allOf": [left, right]}


def _keep(left: Any, right: Any) -> Any:
    return left


def _merged_maps(left: dict[str, Schema], right: dict[str, Schema]) -> dict[str, Schema]:
    return {**left, **{name: _both(left.get(name, True), schema) for name, schema in right.items()}}


def _merged_types(left: Any, right: Any) -> Any:
    mine, yours = ({left} if isinstance(left, str) else set(left), {right} if isinstance(right, str) else set(right))
    both = mine & yours
    if ("number" in mine and "integer" in yours) or ("integer" in mine and "number" in yours):
        both |= {"integer"}
    return sorted(both)


def _merged_enums(left: list[Any], right: list[Any]) -> list[Any]:
    known = {exact.key(value) for value in right}
    return [value for value in left if exact.key(value) in known]


def _merged_prefixes(left: list[Schema], right: list[Schema]) -> list[Schema]:
    longer = max(len(left), len(right))
    filled = [[*side, *([True] * (longer - len(side)))] for side in (left, right)]
    return [_both(mine, yours) for mine, yours in zip(*filled, strict=True)]


def _largest(left: Any, right: Any) -> Any:
    return max(left, right)


def _smallest(left: Any, right: Any) -> Any:
    return min(left, right)


_MERGES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(_LARGEST, _largest),
    **dict.fromkeys(_SMALLEST, _smallest),
    **dict.fromkeys(_MAPS, _merged_maps),
    **dict.fromkeys(("additionalProperties", "propertyNames", "items", "unevaluatedProperties"), _both),
    "type": _merged_types,
    "enum": _merged_enums,
    "prefixItems": _merged_prefixes,
    "required": lambda left, right: list(dict.fromkeys((*left, *right))),
    "patterns": lambda left, right: [*left, *right],
    "dependentRequired": lambda left, right: {**left, **right},
}
