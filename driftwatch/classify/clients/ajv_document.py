"""A schema document as Ajv indexes it: every ``$id`` and anchor anywhere in it, and where references lead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urljoin

from driftwatch.classify.keywords import escape

_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_LISTS: Final = frozenset({"items", "allOf", "anyOf", "oneOf"})
_MAPS: Final = frozenset({"$defs", "definitions", "properties", "patternProperties", "dependencies"})
_VALUES: Final = frozenset(
    {
        *("default", "enum", "const", "required", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
        *("multipleOf", "maxLength", "minLength", "pattern", "format", "maxItems", "minItems", "uniqueItems"),
        *("maxProperties", "minProperties"),
    }
)


class CompileError(Exception):
    """Ajv cannot compile the schema. ``message`` in its words; ``pointer`` into the schema."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


class NotReadableError(Exception):
    """Ajv compiles this, but what stands in for it does not: the answer is not known."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to, and the base URI of references inside it."""

    schema: Any
    base: str


@dataclass(slots=True)
class Document:
    """One document. Built with every ``$id`` and anchor in it; raises CompileError for those Ajv refuses."""

    root: dict[str, Any]
    base: str = ""
    resources: dict[str, Target] = field(default_factory=dict)
    anchors: dict[str, Target] = field(default_factory=dict)
    bases: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        identity = self.root.get("$id")
        if identity is not None and not isinstance(identity, str):
            raise CompileError("schema $id must be string", "/$id")
        self.base = _normal(identity or "")
        self.bases[id(self.root)] = self.base
        self.resources[_address(self.base)] = Target(self.root, self.base)
        for node, base, at in self._nodes():
            self._register(node, base, at)

    def _nodes(self) -> Iterator[tuple[dict[str, Any], str, str]]:
        """Every object below the root that Ajv takes for a schema, with its parent's base; parents first."""
        pending = [(child, self.base, at) for child, at in reversed(list(_children(self.root, "")))]
        while pending:
            node, base, at = pending.pop()
            yield node, base, at
            inner = self.bases[id(node)]
            pending.extend((child, inner, below) for child, below in reversed(list(_children(node, at))))

    def _register(self, node: dict[str, Any], base: str, at: str) -> None:
        identity = node.get("$id")
        if isinstance(identity, str):
            base = resolve(base, identity)
            self._add(base, Target(node, base), at)
        self.bases[id(node)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = node.get(keyword)
            if isinstance(anchor, str):
                if not _ANCHOR.fullmatch(anchor):
                    raise CompileError(f'invalid anchor "{anchor}"', f"{at}/{keyword}")
                self._add(f"{_address(base)}#{anchor}", Target(node, base), at)

    def _add(self, uri: str, target: Target, at: str) -> None:
        known = self.anchors if "#" in uri else self.resources
        if uri in known:
            raise CompileError(f'reference "{uri}" resolves to more than one schema', at)
        known[uri] = target

    def find(self, base: str, reference: str) -> Target | None:
        """Where ``reference`` leads from ``base``; None: nowhere within the document."""
        uri = resolve(base, reference)
        address, _, fragment = uri.partition("#")
        resource = self.resources.get(address)
        if resource is None:
            return None
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            return self.anchors.get(uri)
        return self._pointed(resource, fragment)

    def _pointed(self, resource: Target, fragment: str) -> Target | None:
        node, base = resource.schema, resource.base
        for token in fragment[1:].split("/"):
            key = unquote(token).replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
            base = self.bases.get(id(node), base) if isinstance(node, dict) else base
        return Target(node, base)


def _children(node: dict[str, Any], at: str) -> Iterator[tuple[dict[str, Any], str]]:
    for key, value in node.items():
        place = f"{at}/{escape(key)}"
        if isinstance(value, list):
            if key in _LISTS:
                yield from ((item, f"{place}/{index}") for index, item in enumerate(value) if isinstance(item, dict))
        elif isinstance(value, dict) and key in _MAPS:
            yield from ((item, f"{place}/{escape(name)}") for name, item in value.items() if isinstance(item, dict))
        elif isinstance(value, dict) and key not in _VALUES:
            yield value, place


def resolve(base: str, reference: str) -> str:
    """``reference`` as an absolute URI, or as it is where there is no base."""
    reference = _normal(reference)
    if not reference or reference.startswith("#"):
        return _address(base) + reference
    try:
        return urljoin(base, reference) if base else reference
    except ValueError as error:
        raise NotReadableError(f"`{reference}` is no URI: {error}") from error


def _normal(uri: str) -> str:
    return uri.removesuffix("/").removesuffix("#") if uri.endswith("#/") else uri.removesuffix("#")


def _address(uri: str) -> str:
    return uri.partition("#")[0]
