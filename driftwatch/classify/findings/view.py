"""A schema position as people read it: references followed, ``allOf`` folded in, ``null`` set aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import SIBLINGS_IGNORED, Dialect, Schema
from driftwatch.classify.keywords import escape

_ALL_TYPES: Final = frozenset({"string", "number", "boolean", "null", "array", "object", "integer"})
_FOLLOWED: Final = 16
_MOVING: Final = frozenset({"$ref", "$id", "id", "$anchor", "$dynamicRef", "$recursiveRef"})


@dataclass(slots=True)
class Document:
    """A schema document, for looking up references within it."""

    schema: Schema
    dialect: Dialect
    _refers: bool | None = field(default=None, repr=False)

    @property
    def refers(self) -> bool:
        """Whether there is any reference, or anything that moves what one means."""
        if self._refers is None:
            self._refers = any(True for _ in references(self.schema))
        return self._refers

    def find(self, reference: str) -> tuple[Any, str] | None:
        """What a local reference names and the pointer to it; None for any other reference."""
        if reference == "#":
            return self.schema, ""
        if not reference.startswith("#/"):
            return None
        node: Any = self.schema
        for token in reference[2:].split("/"):
            plain = _unquoted(token).replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and plain in node:
                node = node[plain]
            elif isinstance(node, list) and plain.isdigit() and int(plain) < len(node):
                node = node[int(plain)]
            else:
                return None
        return node, reference[1:]

    @property
    def definitions(self) -> dict[str, Any]:
        """The definition keywords of the root, for documents cut out of this one."""
        if isinstance(self.schema, bool):
            return {}
        return {word: self.schema[word] for word in ("$defs", "definitions") if word in self.schema}


def _unquoted(token: str) -> str:
    from urllib.parse import unquote

    return unquote(token)


@dataclass(frozen=True, slots=True)
class View:
    """One position. ``schema``: as written there; ``words``: its keywords, those of targets and ``allOf`` folded in.

    ``types`` None: any type. ``null``: null is one of several things it admits. ``branches``: of a union, without null.
    """

    document: Document
    pointer: str
    schema: Schema
    words: dict[str, Any]
    types: frozenset[str] | None
    null: bool
    branches: tuple[Schema, ...]
    reference: str | None
    homes: dict[str, str]
    """The pointer of the schema object that holds a keyword, or a property (``properties/NAME``)."""

    @property
    def properties(self) -> dict[str, Any]:
        """Declared properties by name."""
        found = self.words.get("properties", {})
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        """Names that must be there."""
        found = self.words.get("required", ())
        return frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()

    @property
    def listed(self) -> list[Any] | None:
        """The values it is restricted to, null set aside."""
        if "const" in self.words:
            return [self.words["const"]]
        found = self.words.get("enum")
        return [value for value in found if value is not None] if isinstance(found, list) else None

    @property
    def nothing(self) -> bool:
        """Whether it is the schema that accepts nothing."""
        return self.words.get("not") in ({}, True)

    @property
    def closed(self) -> bool:
        """Whether undeclared keys are refused."""
        return any(
            self.words.get(word, True) in (False, {"not": {}})
            for word in ("additionalProperties", "unevaluatedProperties")
        )


def view(document: Document, schema: Schema, pointer: str) -> View:
    """The position ``pointer`` of ``document``, which holds ``schema``."""
    words: dict[str, Any] = {}
    homes: dict[str, str] = {}
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    _fold(document, schema, pointer, words, homes, _FOLLOWED)
    null, branches = _union(document, words)
    if len(branches) == 1 and null:
        # The usual spelling of "or null": what is said about the one branch is said about this position.
        inner = branches[0]
        at = _branch_pointer(words, homes, inner)
        for word in ("anyOf", "oneOf"):
            words.pop(word, None)
        reference = reference or (inner.get("$ref") if isinstance(inner, dict) else None)
        _fold(document, inner, at, words, homes, _FOLLOWED)
        branches = []
    types = _types(document, words, branches)
    null = null or (types is not None and "null" in types)
    if types is not None:
        types = (types | {"null"}) if null else types
    return View(document, pointer, schema, words, types, null, tuple(branches), reference, homes)


def _branch_pointer(words: dict[str, Any], homes: dict[str, str], branch: Schema) -> str:
    for word in ("anyOf", "oneOf"):
        for index, option in enumerate(words.get(word, ())):
            if option is branch:
                return f"{homes[word]}/{word}/{index}"
    return ""


def _fold(document: Document, schema: Any, at: str, words: dict[str, Any], homes: dict[str, str], left: int) -> None:
    if not isinstance(schema, dict) or left == 0:
        if schema is False:
            words.setdefault("not", {})
        return
    reference = schema.get("$ref")
    alone = isinstance(reference, str) and document.dialect in SIBLINGS_IGNORED
    if not alone:
        _absorb({word: value for word, value in schema.items() if word not in ("$ref", "allOf")}, at, words, homes)
    found = document.find(reference) if isinstance(reference, str) else None
    if found is not None:
        _fold(document, found[0], found[1], words, homes, left - 1)
    if not alone:
        for index, part in enumerate(schema.get("allOf", ()) if isinstance(schema.get("allOf"), list) else ()):
            _fold(document, part, f"{at}/allOf/{index}", words, homes, left - 1)


def _absorb(more: dict[str, Any], at: str, words: dict[str, Any], homes: dict[str, str]) -> None:
    for word, value in more.items():
        homes.setdefault(word, at)
        if word == "properties" and isinstance(value, dict):
            for name in value:
                homes.setdefault(f"properties/{name}", at)
            words[word] = {**value, **words.get(word, {})}
        elif word == "required" and isinstance(value, list):
            words[word] = [*words.get(word, ()), *value]
        else:
            words.setdefault(word, value)


def _union(document: Document, words: dict[str, Any]) -> tuple[bool, list[Schema]]:
    options = [option for word in ("anyOf", "oneOf") for option in words.get(word, ())]
    kept = [option for option in options if not _only_null(document, option)]
    return len(kept) < len(options), kept


def _only_null(document: Document, schema: Schema) -> bool:
    folded: dict[str, Any] = {}
    _fold(document, schema, "", folded, {}, 4)
    return (
        folded.get("type") == "null" or folded.get("enum") == [None] or ("const" in folded and folded["const"] is None)
    )


def _types(document: Document, words: dict[str, Any], branches: list[Schema], left: int = 4) -> frozenset[str] | None:
    written = words.get("type")
    if written is not None:
        named = {written} if isinstance(written, str) else set(written)
        kept = named & _ALL_TYPES
        values = words.get("enum")
        if "null" in kept and isinstance(values, list) and None not in values:
            kept -= {"null"}
        return frozenset(kept)
    if "const" in words or isinstance(words.get("enum"), list):
        return frozenset(type_of(value) for value in ([words["const"]] if "const" in words else words["enum"]))
    if not branches or left == 0:
        return None
    out: set[str] = set()
    for branch in branches:
        folded: dict[str, Any] = {}
        _fold(document, branch, "", folded, {}, 4)
        inner = _types(document, folded, [o for w in ("anyOf", "oneOf") for o in folded.get(w, ())], left - 1)
        if inner is None:
            return None
        out |= inner
    return frozenset(out)


def type_of(value: Any) -> str:
    """The JSON type of a value; whole numbers are integers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    if isinstance(value, dict):
        return "object"
    return "integer" if isinstance(exact.number(value), int) else "number"


def child(parent: View, tokens: tuple[str, ...], schema: Any) -> View:
    """The position below ``parent`` that ``tokens`` lead to."""
    home = "/".join(tokens) if tokens[:1] == ("properties",) else "".join(tokens[:1])
    at = parent.homes.get(home, parent.pointer) + "".join("/" + escape(token) for token in tokens)
    return view(parent.document, schema if isinstance(schema, dict | bool) else True, at)


def references(schema: Any) -> Iterator[str]:
    """Every ``$ref`` string anywhere in a JSON value (and ``$id``s and anchors, which move what references mean)."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if not _MOVING.isdisjoint(node):
                yield from (node[word] for word in _MOVING if isinstance(node.get(word), str))
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
