"""Finding what a reference means, always within its own document: nothing is ever fetched.

Plain documents (no embedded ``$id`` or anchor) need only local JSON pointers. All others go through ``referencing``
with an otherwise empty registry. Dynamic references are resolved for the dynamic scope of the place, so one raw
subschema may be compiled more than once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from referencing import Registry, Resource, Specification
from referencing.exceptions import NoSuchResource, Unresolvable
from referencing.jsonschema import DynamicAnchor

from driftwatch.classify.dialects.errors import SchemaError

_EMBEDDED: Final = frozenset(("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef"))
_OWN: Final = "https://driftwatch.invalid/document"


class Place(NamedTuple):
    """Where a subschema stands: its base URI and the resources entered on the way to it, outermost first."""

    base: str = ""
    scope: tuple[str, ...] = ()


class Document:
    """One schema document in one dialect. Raises SchemaError for references that lead out of it or nowhere."""

    def __init__(self, root: Any, specification: Specification[Any]) -> None:
        self.root = root
        self.specification = specification
        self.plain = not _embeds(root)
        self.start = Place()
        if not self.plain:
            resource: Resource[Any] = specification.create_resource(root)
            own = urljoin(_OWN, (resource.id() or "").rstrip("#"))
            self.registry = Registry().with_resource(own, resource).crawl()
            self.start = Place(own, (own,))
            self._uris = {id(self.registry.contents(uri)): uri for uri in self.registry}

    def enter(self, raw: Mapping[str, Any], place: Place) -> Place:
        """The place inside ``raw``, which may be an embedded resource with its own base URI."""
        if self.plain or raw is self.root:
            return place
        own = self._uris.get(id(raw))
        return place if own is None else _into(place, own)

    def lookup(self, reference: str, place: Place, pointer: str) -> tuple[Any, Place]:
        """The subschema a ``$ref`` means, and its place."""
        if self.plain:
            if reference in ("", "#"):
                return self.root, place
            if reference.startswith("#/"):
                return self._walk(reference, pointer), place
        try:
            if self.plain:
                return self._outside(reference, pointer), place
            return self._static(reference, place)
        except (Unresolvable, NoSuchResource) as error:
            raise SchemaError("unresolved-reference", pointer, reference) from error

    def dynamic(self, reference: str, place: Place, pointer: str) -> tuple[Any, Place]:
        """The subschema a ``$dynamicRef`` means from this place."""
        contents, found = self.lookup(reference, place, pointer)
        uri, fragment = _split(place, reference)
        if self.plain or not fragment or fragment.startswith("/"):
            return contents, found
        if isinstance(self._anchor(uri, fragment), DynamicAnchor):
            for outer in place.scope:
                anchor = self._anchor(outer, fragment)
                if isinstance(anchor, DynamicAnchor):
                    return anchor.resource.contents, _into(place, outer)
        return contents, found

    def recursive(self, place: Place, pointer: str) -> tuple[Any, Place]:
        """The subschema ``$recursiveRef: "#"`` means from this place (2019-09)."""
        contents, found = self.lookup("#", place, pointer)
        if self.plain or not (isinstance(contents, dict) and contents.get("$recursiveAnchor") is True):
            return contents, found
        for outer in reversed(place.scope):
            candidate = self.registry.contents(outer)
            if not (isinstance(candidate, dict) and candidate.get("$recursiveAnchor") is True):
                break
            contents, found = candidate, _into(place, outer)
        return contents, found

    def _walk(self, reference: str, pointer: str) -> Any:
        here = self.root
        for raw in unquote(reference[2:]).split("/"):
            step = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(here, dict) and step in here:
                here = here[step]
            elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
                here = here[int(step)]
            else:
                raise SchemaError("unresolved-reference", pointer, reference)
        return here

    def _outside(self, reference: str, pointer: str) -> Any:
        own = self.root.get("$id", self.root.get("id", "")) if isinstance(self.root, dict) else ""
        base = own if isinstance(own, str) else ""
        uri, fragment = urldefrag(urljoin(base, reference))
        if uri == urldefrag(base)[0] and (not fragment or fragment.startswith("/")):
            return self._walk(f"#{fragment}", pointer) if fragment else self.root
        raise SchemaError("unresolved-reference", pointer, reference)

    def _static(self, reference: str, place: Place) -> tuple[Any, Place]:
        uri, fragment = _split(place, reference)
        if fragment and not fragment.startswith("/"):
            retrieved = self.registry.anchor(uri, fragment)
            return retrieved.value.resource.contents, _into(place, uri)
        resolved = self.registry.resolver(place.base).lookup(reference)
        # The pointer may have crossed into an embedded resource: only the one it ends in counts as entered.
        return resolved.contents, _into(place, resolved.resolver._base_uri)

    def _anchor(self, uri: str, name: str) -> Any:
        try:
            return self.registry.anchor(uri, name).value
        except (Unresolvable, LookupError):
            return None


def _split(place: Place, reference: str) -> tuple[str, str]:
    if reference.startswith("#"):
        return place.base, reference[1:]
    parts = urldefrag(urljoin(place.base, reference))
    return parts.url, parts.fragment


def _into(place: Place, base: str) -> Place:
    return Place(base, place.scope if base in place.scope else (*place.scope, base))


def _embeds(root: Any) -> bool:
    """Whether anything below the root could change what a reference means."""
    todo: list[Any] = [root]
    while todo:
        here = todo.pop()
        if isinstance(here, list):
            todo.extend(here)
        elif isinstance(here, dict):
            todo.extend(here.values())
            for keyword in () if _EMBEDDED.isdisjoint(here) else _EMBEDDED.intersection(here):
                if isinstance(here[keyword], str | bool) and (here is not root or keyword not in ("$id", "id")):
                    return True
    return False
