"""A schema document to one IR node. What the keywords mean is in the drafts; here is the walk, and recursion.

Recursive definitions are found while walking: meeting a subschema that is still being compiled leaves a ``Hole``. When
the walk is done, each holed definition gets a digest that depends only on the infinite tree it stands for (see
``recursion``), so renamed or reordered recursion is the same node; then the holes are filled with ``Rec`` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from referencing import Specification

from driftwatch.classify.dialects.document import Document, Place
from driftwatch.classify.dialects.errors import SchemaError
from driftwatch.classify.dialects.recursion import tie
from driftwatch.classify.ir import BOTTOM, TOP, Hole, Node, intern
from driftwatch.classify.ir.boolean import all_of

Handler = Callable[["Compiler", Mapping[str, Any], "Spot"], Node]
_LABELS: Final = count()
MAX_NODES: Final = 50_000
MAX_DEPTH: Final = 150


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft: how it is called, where its ``$schema`` points, what its keywords mean.

    ``ref_alone``: up to draft 07 ``$ref`` hides its siblings. ``formats``: handlers asserting ``format`` are added.
    """

    name: str
    uri: str
    specification: Specification[Any]
    handlers: Mapping[str, Handler]
    ref_alone: bool

    def named_by(self, uri: str) -> bool:
        """Whether a ``$schema`` means this dialect, with or without an empty fragment, http or https."""
        return uri.rstrip("#").partition("://")[2] == f"json-schema.org/{self.uri}"


class Spot:
    """A place in the document and how the walk got there (for messages only)."""

    __slots__ = ("_above", "_steps", "place")

    def __init__(self, place: Place, above: Spot | None = None, steps: tuple[str | int, ...] = ()) -> None:
        self.place = place
        self._above = above
        self._steps = steps

    def down(self, *steps: str | int) -> Spot:
        """The same place, further down."""
        return Spot(self.place, self, steps)

    def at(self, place: Place) -> Spot:
        """Another place reached from here."""
        return Spot(place, self)

    @property
    def pointer(self) -> str:
        """JSON pointer of the walk; references are passed through without a step."""
        above = self._above.pointer if self._above else ""
        return above + "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self._steps)


class Compiler:
    """Compiles one document. ``formats`` asserts ``format`` as an opaque property of strings.

    ``switching``: what a ``$schema`` inside the document names; its subschema is then read in that dialect. Without it
    such a ``$schema`` changes nothing, and ``embedded`` is the first one met.
    """

    def __init__(
        self,
        root: Any,
        dialect: Dialect,
        *,
        formats: bool = False,
        switching: Callable[[str], Dialect | None] | None = None,
    ) -> None:
        self.dialect = dialect
        self.switching = switching
        self.embedded: SchemaError | None = None
        self.document = Document(root, dialect.specification)
        self.formats = formats
        self.done: dict[tuple[int, Place, str], Node] = {}
        self.open: dict[tuple[int, Place, str], Hole | None] = {}
        self.bodies: dict[Hole, Node] = {}
        self.steps = 0

    def compile(self) -> Node:
        """The node of the whole document. Raises SchemaError."""
        node = self.node(self.document.root, Spot(self.document.start))
        return tie(node, self.bodies) if self.bodies else node

    def node(self, raw: Any, spot: Spot) -> Node:
        """The node of a subschema (with holes while a recursive definition around it is open)."""
        if raw is True or raw is False:
            return TOP if raw else BOTTOM
        if not isinstance(raw, dict):
            raise SchemaError("invalid-schema", spot.pointer, "a schema is an object or a boolean")
        place = self.document.enter(raw, spot.place)
        if "$schema" not in raw:
            return self._node(raw, spot, place)
        outer = self.dialect
        self.dialect = self._declared(raw, spot)
        try:
            return self._node(raw, spot, place)
        finally:
            self.dialect = outer

    def _node(self, raw: dict[str, Any], spot: Spot, place: Place) -> Node:
        key = (id(raw), place, self.dialect.name)
        found = self.done.get(key)
        if found is not None:
            return found
        if key in self.open:
            hole = self.open[key]
            if hole is None:
                label = next(_LABELS)
                hole = self.open[key] = intern(Hole, [b"%d" % label], 255, 0, True, key=label)
            return hole
        self.steps += 1
        if self.steps > MAX_NODES or len(self.open) > MAX_DEPTH:
            raise SchemaError("budget", spot.pointer, "too large or too deep")
        self.open[key] = None
        node = self._assertions(raw, spot if place is spot.place else spot.at(place))
        hole = self.open.pop(key)
        if hole is not None:
            self.bodies[hole] = node
            node = hole
        self.done[key] = node
        return node

    def _declared(self, raw: dict[str, Any], spot: Spot) -> Dialect:
        """The dialect of a subschema with a ``$schema`` of its own; validators do not agree on what that changes."""
        declared = raw["$schema"]
        if not isinstance(declared, str) or raw is self.document.root or self.dialect.named_by(declared):
            return self.dialect
        found = None if self.switching is None else self.switching(declared)
        if self.embedded is None:
            self.embedded = SchemaError("embedded-dialect", f"{spot.pointer}/$schema", declared)
        if self.switching is not None and found is None:
            raise self.embedded
        return found or self.dialect

    def _assertions(self, raw: dict[str, Any], spot: Spot) -> Node:
        handlers = self.dialect.handlers
        if self.dialect.ref_alone and "$ref" in raw:
            return handlers["$ref"](self, raw, spot)
        needed = {handlers[keyword]: None for keyword in raw if keyword in handlers}
        parts = [handler(self, raw, spot) for handler in needed]
        return parts[0] if len(parts) == 1 and parts[0].may != parts[0].must else all_of(parts)
