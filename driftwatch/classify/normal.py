"""The normal form of a schema document: what it accepts and nothing else, in one fixed spelling.

Annotations, unknown keywords, ``$id`` and ``$anchor`` are gone; every reference that is reached points at
``#/$defs/dN``, numbered in the order a reader meets them; sets are sorted. References are resolved on the document as
written, before anything is dropped: a reference may enter ``default`` or an unknown keyword. Equal normal forms accept
equal values; the reverse need not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from referencing import Registry
from referencing import jsonschema as specifications
from referencing.exceptions import Unresolvable

from driftwatch.classify import exact
from driftwatch.classify.dialect import SIBLINGS_IGNORED, URIS, Dialect, Schema
from driftwatch.classify.keywords import VOCABULARY, Shape, is_schema, pointer

_SPECIFICATIONS: Final[dict[Dialect, Any]] = {
    "draft-04": specifications.DRAFT4,
    "draft-06": specifications.DRAFT6,
    "draft-07": specifications.DRAFT7,
    "2019-09": specifications.DRAFT201909,
    "2020-12": specifications.DRAFT202012,
}
_DYNAMIC: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_BASE: Final = "urn:driftwatch:schema"
#: a schema inside the document asks for another dialect
EMBEDDED: Final = "embedded-dialect"


class NotNormalError(Exception):
    """The document has something this form cannot say; ``reason`` names it."""

    def __init__(self, reason: str, at: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class UnresolvedError(Exception):
    """A reference inside the document leads nowhere."""

    def __init__(self, reference: str, at: str) -> None:
        super().__init__(f"`{reference}` leads nowhere")
        self.reference = reference
        self.at = at


@dataclass(frozen=True, slots=True)
class Normal:
    """A schema in normal form. ``body`` has its definitions under ``$defs``."""

    body: Schema
    dialect: Dialect

    @property
    def definitions(self) -> dict[str, Schema]:
        """Every definition that is reached, by name."""
        return self.body.get("$defs", {}) if isinstance(self.body, dict) else {}


def normalise(schema: Schema, dialect: Dialect, *, formats: bool = False, embedded: bool = False) -> Normal:
    """The normal form of ``schema``, which must be valid under its meta-schema.

    Raises NotNormalError for remote and dynamic references and embedded dialects (unless ``embedded`` says that they
    change nothing), UnresolvedError for a reference within the document that leads nowhere.
    """
    reader = _Reader(dialect, formats, embedded)
    return Normal(reader.document(schema), dialect)


class _Reader:
    def __init__(self, dialect: Dialect, formats: bool, embedded: bool) -> None:
        self.dialect = dialect
        self.embedded = embedded
        self.formats = formats
        self.specification = _SPECIFICATIONS[dialect]
        self._identity = "id" if dialect == "draft-04" else "$id"
        self.names: dict[tuple[int, str], str] = {}
        self.definitions: dict[str, Schema] = {}

    def document(self, schema: Schema) -> Schema:
        if isinstance(schema, bool):
            return schema
        root = self.specification.create_resource(schema)
        registry: Registry[Any] = Registry().with_resource(_BASE, root)
        identity = root.id()
        if identity:
            registry = registry.with_resource(identity, root)
        body = self.schema(schema, registry.resolver(identity or _BASE), ())
        if self.definitions and isinstance(body, dict):
            body["$defs"] = self.definitions
        return body

    def schema(self, node: Any, resolver: Any, at: tuple[str, ...], *, root: bool = False) -> Schema:
        if isinstance(node, bool):
            return node
        if at and not root:
            resolver = self._entered(node, resolver, at)
        words = VOCABULARY[self.dialect]
        if "$ref" in node and self.dialect in SIBLINGS_IGNORED:
            return {"$ref": self._reference(node["$ref"], resolver, at)}
        out: dict[str, Any] = {}
        for word in sorted(node):
            shape = words.get(word)
            if word == "$ref":
                out[word] = self._reference(node[word], resolver, at)
            elif word in _DYNAMIC:
                raise NotNormalError("dynamic-reference", pointer((*at, word)))
            elif shape is not None and word not in ("$defs", "definitions") and (word != "format" or self.formats):
                out[word] = self._value(word, shape, node[word], resolver, (*at, word))
        return out

    def _value(self, word: str, shape: Shape, value: Any, resolver: Any, at: tuple[str, ...]) -> Any:
        if shape == "schema" or (shape == "schema-or-list" and is_schema(value)):
            return self.schema(value, resolver, at)
        if shape in ("list", "schema-or-list"):
            return [self.schema(child, resolver, (*at, str(index))) for index, child in enumerate(value)]
        if shape in ("map", "dependencies"):
            return {
                name: self.schema(child, resolver, (*at, name)) if is_schema(child) else sorted(child)
                for name, child in sorted(value.items())
            }
        return _as_set(word, value)

    def _entered(self, node: dict[str, Any], resolver: Any, at: tuple[str, ...]) -> Any:
        if self._identity not in node and "$schema" not in node:
            return resolver
        written = node.get("$schema")
        if written is not None and written.rstrip("#") != URIS[self.dialect]:
            if self.embedded and self._identity not in node:
                return resolver
            raise NotNormalError(EMBEDDED, pointer(at))
        return resolver.in_subresource(self.specification.create_resource(node))

    def _reference(self, reference: str, resolver: Any, at: tuple[str, ...]) -> str:
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, AttributeError) as error:
            if _local(reference, resolver):
                raise UnresolvedError(reference, pointer((*at, "$ref"))) from error
            raise NotNormalError("remote-reference", pointer((*at, "$ref"))) from error
        target = found.contents
        if not is_schema(target):
            raise UnresolvedError(reference, pointer((*at, "$ref")))
        # The target is part of the document, which outlives this reader: its identity is not reused.
        identity = (id(target), found.resolver._base_uri)
        if identity not in self.names:
            name = self.names[identity] = f"d{len(self.names)}"
            self.definitions[name] = True
            self.definitions[name] = self.schema(target, found.resolver, at, root=True)
        return f"#/$defs/{self.names[identity]}"


def _local(reference: str, resolver: Any) -> bool:
    if reference.startswith("#"):
        return True
    base = resolver._base_uri
    return bool(base) and reference.split("#")[0] == base.split("#")[0]


def _as_set(word: str, value: Any) -> Any:
    if word == "type":
        return _types(value)
    if word == "required":
        return sorted(set(value))
    if word == "enum" and isinstance(value, list):
        unique = {exact.key(item): item for item in value}
        return [unique[item] for item in sorted(unique)]
    if word == "dependentRequired":
        return {name: sorted(set(names)) for name, names in sorted(value.items())}
    return value


def _types(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    names = sorted(set(value))
    return names[0] if len(names) == 1 else names
