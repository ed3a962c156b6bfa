"""Which schemas judge a value, its members and its items: the map between values and a document in normal form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from driftwatch.classify.dialect import Schema
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.match import matches


class Places:
    """A document seen from the values it judges. Schemas of every branch count, whether or not the branch applies."""

    def __init__(self, normal: Normal) -> None:
        self.normal = normal
        self.definitions = normal.definitions

    def target(self, reference: str) -> Schema:
        """What a ``$ref`` of the normal form names; anything, when it comes from another document."""
        return self.definitions.get(reference.rsplit("/", 1)[1], True)

    def in_place(self, schemas: Iterable[Schema], *, negated: bool = False) -> list[dict[str, Any]]:
        """The schemas and every schema within them that judges the same value; those under ``not`` if asked."""
        out: list[dict[str, Any]] = []
        seen: set[str] = set()
        pending = list(schemas)
        while pending and len(out) < 500:
            node = pending.pop(0)
            if isinstance(node, bool):
                continue
            out.append(node)
            reference = node.get("$ref")
            if reference is not None and reference not in seen:
                seen.add(reference)
                pending.append(self.target(reference))
            pending.extend(_branches(node, negated))
        return out

    def member(self, judges: Iterable[dict[str, Any]], name: str) -> list[Schema]:
        """The schemas for the value under ``name``; ``judges`` come from ``in_place``."""
        return [schema for judge in judges for schema in _member(judge, name)]

    def item(self, judges: Iterable[dict[str, Any]], index: int) -> list[Schema]:
        """The schemas for the item at ``index``."""
        return [schema for judge in judges for schema in _item(judge, index)]


def _branches(node: dict[str, Any], negated: bool) -> Iterator[Schema]:
    for word in ("allOf", "anyOf", "oneOf"):
        yield from node.get(word, ())
    for word in ("if", "then", "else", *(("not",) if negated else ())):
        if word in node:
            yield node[word]
    for word in ("dependentSchemas", "dependencies"):
        yield from (child for child in node.get(word, {}).values() if isinstance(child, dict | bool))


def _member(judge: dict[str, Any], name: str) -> Iterator[Schema]:
    found = False
    if name in judge.get("properties", {}):
        found = True
        yield judge["properties"][name]
    for pattern, schema in judge.get("patternProperties", {}).items():
        if matches(pattern, name):
            found = True
            yield schema
    for word in ("additionalProperties", "unevaluatedProperties"):
        if not found and word in judge:
            yield judge[word]


def prefix_of(judge: dict[str, Any]) -> tuple[list[Schema], Schema | None]:
    """The positional item schemas and the schema of the rest, in either spelling."""
    items = judge.get("items")
    if isinstance(items, list):
        return items, judge.get("additionalItems")
    return judge.get("prefixItems", []), items


def _item(judge: dict[str, Any], index: int) -> Iterator[Schema]:
    prefix, rest = prefix_of(judge)
    if index < len(prefix):
        yield prefix[index]
    elif rest is not None:
        yield rest
    elif "unevaluatedItems" in judge:
        yield judge["unevaluatedItems"]
    if "contains" in judge:
        yield judge["contains"]
