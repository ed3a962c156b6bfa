"""Where the references of a schema lead, within its own document. Nothing is ever fetched.

One walk builds an index and each reference is one look-up, so that a schema of a hundred thousand references costs no
more than any other of its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import unquote, urldefrag, urljoin

from driftwatch.capture.semantic import children, subschemas

_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_NOWHERE: Final = object()


@dataclass(frozen=True, slots=True)
class Problem:
    """A reference that leads nowhere, out of the document, or back to itself without consuming any value."""

    kind: Literal["unresolved", "remote", "endless"]
    target: str


def problems(schema: Any) -> tuple[Problem, ...]:
    """What is wrong with the references of a schema that its meta-schema accepts; one entry per kind and target."""
    if not any("$ref" in node for node in subschemas(schema)):
        return ()
    document = _Document(schema)
    found: dict[Problem, None] = {}
    # Identities are safe here: the document is alive, and look-ups answer its own nodes.
    edges: dict[int, list[int]] = {}
    for node, base in document.nodes:
        edges[id(node)] = [id(child) for key, child in children(node) if key in _IN_PLACE]
        target = node.get("$ref")
        if isinstance(target, str):
            leads_to = document.find(base, target)
            if isinstance(leads_to, Problem):
                found[leads_to] = None
            else:
                edges[id(node)].append(id(leads_to))
    if _has_cycle(edges):
        found[Problem("endless", "")] = None
    return tuple(found)


@dataclass(slots=True)
class _Document:
    """A schema document: its nodes with their base URIs, its embedded resources and its anchors."""

    root: Mapping[str, Any]
    nodes: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    resources: dict[str, Any] = field(default_factory=dict)
    anchors: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.resources[""] = self.root
        for node, base in _walk(self.root, ""):
            self.nodes.append((node, base))
            name = _identifier(node)
            if name is not None and name.startswith("#"):
                self.anchors.setdefault((base, name[1:]), node)
            elif name is not None:
                self.resources.setdefault(base, node)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    self.anchors.setdefault((base, node[keyword]), node)

    def find(self, base: str, target: str) -> Any:
        """The node that a reference leads to, or the Problem with it."""
        uri, fragment = urldefrag(_joined(base, target))
        resource = self.resources.get(uri, _NOWHERE)
        if resource is _NOWHERE:
            return Problem("remote", target)
        if not fragment:
            return resource
        if fragment.startswith("/"):
            found = _at(resource, unquote(fragment))
        else:
            found = self.anchors.get((uri, unquote(fragment)), _NOWHERE)
        return Problem("unresolved", target) if found is _NOWHERE else found


def _walk(node: Mapping[str, Any], base: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    name = _identifier(node)
    if name is not None and not name.startswith("#"):
        base = urldefrag(_joined(base, name))[0]
    yield node, base
    for _, child in children(node):
        if isinstance(child, dict):
            yield from _walk(child, base)


def _identifier(node: Mapping[str, Any]) -> str | None:
    """``$id``, or draft-04's ``id``; a bare fragment is an anchor, as drafts up to 07 have it."""
    name = node.get("$id", node.get("id"))
    return name if isinstance(name, str) else None


def _joined(base: str, target: str) -> str:
    if target.startswith("#"):  # urljoin loses the base of a urn:
        return base + target
    try:
        return urljoin(base, target) if base else target
    except ValueError:  # no URL at all, for example an unclosed IPv6 address
        return target


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key, _NOWHERE)
        elif isinstance(value, list) and key.isdecimal() and len(key) < 10:
            value = value[int(key)] if int(key) < len(value) else _NOWHERE
        else:
            return _NOWHERE
    return value


def _has_cycle(edges: Mapping[int, list[int]]) -> bool:
    done: set[int] = set()
    for start in edges:
        path: dict[int, Iterator[int]] = {} if start in done else {start: iter(edges[start])}
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
