"""Where the references of a schema lead, within its own document. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from referencing import Registry
from referencing.exceptions import InvalidAnchor, NoSuchAnchor, PointerToNowhere, Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

from driftwatch.capture.semantic import children, dialect_of

_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})


@dataclass(frozen=True, slots=True)
class Problem:
    """A reference that leads nowhere, out of the document, or back to itself without consuming any value."""

    kind: Literal["unresolved", "remote", "endless"]
    target: str


def problems(schema: Any) -> tuple[Problem, ...]:
    """What is wrong with the references of a schema that its meta-schema accepts; one entry per kind and target."""
    if not isinstance(schema, dict):
        return ()
    specification = specification_with(dialect_of(schema) or "", default=DRAFT202012)
    resource = specification.create_resource(schema)
    registry: Registry[Any] = Registry()
    resolver = registry.resolver_with_root(resource)
    found: dict[Problem, None] = {}
    edges: dict[int, list[int]] = {}
    for node, here in _scopes(schema, resolver, specification):
        edges[id(node)] = [id(child) for key, child in children(node) if key in _IN_PLACE]
        target = node.get("$ref")
        if not isinstance(target, str):
            continue
        try:
            edges[id(node)].append(id(here.lookup(target).contents))
        except (PointerToNowhere, NoSuchAnchor, InvalidAnchor, ValueError):
            found[Problem("unresolved", target)] = None
        except Unresolvable:
            found[Problem("remote", target)] = None
    # Identities are safe here: the document is alive and lookups return its own nodes.
    if _has_cycle(edges):
        found[Problem("endless", "")] = None
    return tuple(found)


def _scopes(node: Mapping[str, Any], resolver: Any, specification: Any) -> Iterator[tuple[Mapping[str, Any], Any]]:
    yield node, resolver
    for _, child in children(node):
        if isinstance(child, dict):
            inner = resolver.in_subresource(specification.create_resource(child))
            yield from _scopes(child, inner, specification)


def _has_cycle(edges: Mapping[int, list[int]]) -> bool:
    done: set[int] = set()
    for start in edges:
        path: dict[int, Iterator[int]] = {start: iter(edges[start])} if start not in done else {}
        while path:
            last = next(reversed(path))
            for following in path[last]:
                if following in path:
                    return True
                if following not in done and following in edges:
                    path[following] = iter(edges[following])
                    break
            else:
                path.pop(last)
                done.add(last)
    return False
