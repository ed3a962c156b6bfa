"""A tool's input or output schema as rows for people: field, meaning, need. Pure.

References inside the document are expanded, each at most once on the way down; unions that only add null, and lists,
are looked through. Schemas come from servers: rows, depth and text are capped, and what was left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from driftwatch.web.pages import schema_words
from driftwatch.web.pages.schema_words import Schema, branches, clip, is_null, resolve

MAX_ROWS: Final = 2_000
MAX_NESTING: Final = 8
#: schemas looked into, with and without rows, and how far down: references can multiply without adding rows
MAX_VISITS: Final = 20_000
MAX_LEVEL: Final = 48
MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 600
MAX_DEFAULT: Final = 60
MAX_DEFINITIONS: Final = 40
MAX_DEFINITION_ROWS: Final = 60

#: path segments that are no property names; a property of the same name cannot collide with a one-element tuple
ITEMS: Final = ("[]",)
KEYS: Final = ("{}",)
REST: Final = ("*",)

Segment = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One field. ``path`` is its place in a value, ``pointers`` the places in the schema that describe it.

    ``implied``: nobody wrote this row down (an open object without additionalProperties).
    """

    path: tuple[Segment, ...]
    name: str
    depth: int
    words: str
    required: bool | None
    pointers: tuple[str, ...]
    default: str | None = None
    description: str | None = None
    deprecated: bool = False
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """A whole schema in rows. ``root`` says what the value is; ``left_out`` rows were over the cap."""

    root: str
    rows: tuple[Row, ...]
    left_out: int = 0
    dialect: str | None = None


def read(schema: Schema, *, max_rows: int = MAX_ROWS) -> Contract:
    """The rows of a schema, at most ``max_rows`` of them."""
    walk = _Walk(schema, max_rows)
    walk.inside(schema, _At(path=(), depth=0, physical="", logical=""))
    return Contract(schema_words.words(schema, schema), tuple(walk.rows), walk.left_out, dialect(schema))


def definitions(schema: Schema) -> list[tuple[str, Contract]]:
    """What references in the schema can lead to: each named definition in rows of its own."""
    found: list[tuple[str, Contract]] = []
    for key in ("$defs", "definitions"):
        named = schema.get(key) if isinstance(schema, Mapping) else None
        for name, part in list(named.items() if isinstance(named, Mapping) else ())[: MAX_DEFINITIONS - len(found)]:
            walk = _Walk(schema, MAX_DEFINITION_ROWS)
            place = f"/{key}/{_escape(name)}"
            walk.inside(part, _At(path=(), depth=0, physical=place, logical=place))
            words = schema_words.words(part, schema)
            found.append((clip(name, MAX_NAME), Contract(words, tuple(walk.rows), walk.left_out)))
    return found


def dialect(schema: Schema) -> str | None:
    """The dialect a schema names, short (``2020-12``, ``draft-07``); None when it names none."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    if not isinstance(named, str):
        return None
    plain = named.removeprefix("https://json-schema.org/").removeprefix("http://json-schema.org/").rstrip("#")
    return clip(plain.removesuffix("/schema").removeprefix("draft/"), 60)


@dataclass(frozen=True, slots=True)
class _At:
    """Where the walk is: ``physical`` in the document, ``logical`` as if every reference were written in place."""

    path: tuple[Segment, ...]
    depth: int
    physical: str
    logical: str
    entered: frozenset[str] = field(default_factory=frozenset)
    level: int = 0

    def down(self, tail: str, segment: Segment | None = None, *, deeper: bool = False) -> _At:
        return _At(
            self.path if segment is None else (*self.path, segment),
            self.depth + deeper,
            self.physical + tail,
            self.logical + tail,
            self.entered,
            self.level + 1,
        )


class _Walk:
    def __init__(self, root: Schema, max_rows: int) -> None:
        self.root = root
        self.max_rows = max_rows
        self.rows: list[Row] = []
        self.seen: set[tuple[Segment, ...]] = set()
        self.left_out = 0
        self.visits = 0

    def inside(self, schema: Schema, at: _At) -> None:
        """Emit the rows below a schema."""
        self.visits += 1
        schema, at = self._enter(schema, at)
        if not isinstance(schema, Mapping) or self._tired(at):
            return
        for keyword in ("anyOf", "oneOf"):
            self._union(schema.get(keyword), keyword, at)
        if isinstance(schema.get("allOf"), list):
            for number, part in enumerate(schema["allOf"][: schema_words.MAX_BRANCHES]):
                self.inside(part, at.down(f"/allOf/{number}"))
        if isinstance(schema.get("items"), Mapping):
            self.inside(schema["items"], at.down("/items", ITEMS))
        self._properties(schema, at)

    def _enter(self, schema: Schema, at: _At) -> tuple[Schema, _At]:
        target, where, _ = resolve(schema, self.root)
        if where is None:
            return schema, at
        if where in at.entered:
            return None, at
        return target, _At(at.path, at.depth, where, at.logical, at.entered | {where}, at.level)

    def _union(self, options: Any, keyword: str, at: _At) -> None:
        if not isinstance(options, list):
            return
        real = [(number, option) for number, option in enumerate(options) if not is_null(option)]
        if len(real) == 1:
            number, option = real[0]
            self.inside(option, at.down(f"/{keyword}/{number}"))
            return
        for number, option in real[: schema_words.MAX_BRANCHES * 4]:
            target, _, name = resolve(option, self.root)
            if _has_fields(target):
                label = _label(target, name, number)
                inner = at.down(f"/{keyword}/{number}", ("or", label), deeper=True)
                self._emit(f"if {label}", option, inner, required=None)

    def _properties(self, schema: Mapping[str, Any], at: _At) -> None:
        properties = schema.get("properties")
        needed = schema.get("required")
        required = {name for name in needed if isinstance(name, str)} if isinstance(needed, list) else set()
        if isinstance(properties, Mapping):
            for position, (name, part) in enumerate(properties.items()):
                if self._full():
                    self.left_out += len(properties) - position
                    return
                below = at.down(f"/properties/{_escape(name)}", name, deeper=True)
                self._emit(name, part, below, required=name in required)
        for name in sorted(required - set(properties if isinstance(properties, Mapping) else ())):
            self._emit(name, True, at.down("/required", name, deeper=True), required=True)
        self._patterns(schema, at)
        self._rest(schema, at)

    def _patterns(self, schema: Mapping[str, Any], at: _At) -> None:
        patterns = schema.get("patternProperties")
        for pattern, part in patterns.items() if isinstance(patterns, Mapping) else ():
            below = at.down(f"/patternProperties/{_escape(pattern)}", ("keys", pattern), deeper=True)
            self._emit(f"keys like {pattern}", part, below, required=None)

    def _rest(self, schema: Mapping[str, Any], at: _At) -> None:
        if not (_is_object(schema) and (isinstance(schema.get("properties"), Mapping) or at.depth == 0)):
            return
        keyword = next((k for k in ("additionalProperties", "unevaluatedProperties") if k in schema), None)
        part = schema[keyword] if keyword else True
        below = at.down(f"/{keyword or 'additionalProperties'}", REST, deeper=True)
        if part is True or part == {}:
            self._append("any other key", "allowed, not described", below, part, implied=keyword is None)
        elif part is False:
            self._append("any other key", "refused", below, part)
        else:
            self._emit("any other key", part, below, required=None)

    def _emit(self, name: str, schema: Schema, at: _At, *, required: bool | None) -> None:
        if self._append(name, schema_words.words(schema, self.root), at, schema, required=required):
            self.inside(schema, at)

    def _append(
        self, name: str, text: str, at: _At, schema: Schema, *, required: bool | None = None, implied: bool = False
    ) -> bool:
        if at.path in self.seen:
            return False
        if self._full():
            self.left_out += 1
            return False
        self.seen.add(at.path)
        self.rows.append(
            Row(
                path=at.path,
                name=clip(name, MAX_NAME),
                depth=at.depth - 1,
                words=text,
                required=required,
                pointers=tuple(self._pointers(schema, at)),
                implied=implied,
                **_notes(schema, self.root),
            )
        )
        return True

    def _pointers(self, schema: Schema, at: _At) -> Iterator[str]:
        yield at.logical
        if at.physical != at.logical:
            yield at.physical
        where = resolve(schema, self.root)[1]
        if where is not None and where not in (at.logical, at.physical):
            yield where

    def _tired(self, at: _At) -> bool:
        return at.depth > MAX_NESTING or at.level > MAX_LEVEL or self.visits > MAX_VISITS or self._full()

    def _full(self) -> bool:
        return len(self.rows) >= self.max_rows


def _notes(schema: Schema, root: Schema) -> dict[str, Any]:
    target, _, _ = resolve(schema, root)
    if not isinstance(target, Mapping):
        return {}
    description = target.get("description")
    return {
        "default": clip(schema_words.value(target["default"]), MAX_DEFAULT) if "default" in target else None,
        "description": clip(description, MAX_DESCRIPTION) if isinstance(description, str) and description else None,
        "deprecated": target.get("deprecated") is True,
    }


def _is_object(schema: Mapping[str, Any]) -> bool:
    return "object" in schema_words.types(schema)


def _has_fields(schema: Schema) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return bool(schema.get("properties") or branches(schema) or schema.get("allOf"))


def _label(schema: Mapping[str, Any], name: str | None, number: int) -> str:
    properties = schema.get("properties")
    for key, part in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping) and isinstance(part.get("const"), str):
            return clip(f"{key} is {part['const']}", 60)
    title = name or schema.get("title")
    return clip(title, 60) if isinstance(title, str) and title else f"kind {number + 1}"


def _escape(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
