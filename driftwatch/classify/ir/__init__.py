"""The one small language all five drafts are compiled to.

A node denotes a set of JSON values. Nodes are interned by content: the digest of a node covers its whole meaning
(children, and for recursion the reachable definitions), so two nodes are the same object iff they have the same digest,
whatever document they came from. The digest is the semantic digest that history compares. Children of ``And``, ``Or``
and ``OneOf`` are ordered by digest, so neither key order nor branch order shows.

Each node knows two bounds by kind of value (``driftwatch.classify.values``): ``may``, the kinds of which some value may
be accepted, and ``must``, the kinds of which every value is accepted. A keyword of another kind then costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from hashlib import blake2b
from typing import Any, ClassVar, Final, TypeVar, cast
from weakref import WeakValueDictionary

from driftwatch.classify.values import ALL, ARRAY, NUMBER, OBJECT, STRING

Number = Fraction | int


class Node:
    """A set of JSON values. Immutable; compare with ``is``."""

    __slots__ = ("__weakref__", "digest", "holes", "may", "must")
    tag: ClassVar[bytes]
    digest: bytes
    may: int
    must: int
    #: True while a recursive definition below is not yet tied (only inside the compiler)
    holes: bool


class Type(Node):
    """Values of the kinds in ``mask``. ``Type(ALL)`` is everything, ``Type(0)`` nothing."""

    __slots__ = ("mask",)
    tag = b"T"
    mask: int


class Enum(Node):
    """Exactly these values; ``frozen`` holds their stand-ins for membership."""

    __slots__ = ("frozen", "values")
    tag = b"E"
    values: tuple[Any, ...]
    frozen: frozenset[Any]


class Range(Node):
    """Numbers between two bounds, and everything that is not a number."""

    __slots__ = ("high", "high_open", "low", "low_open")
    tag = b"R"
    low: Number | None
    high: Number | None
    low_open: bool
    high_open: bool


class MultipleOf(Node):
    """Multiples of ``step`` (positive), and everything that is not a number."""

    __slots__ = ("step",)
    tag = b"M"
    step: Number


class Size(Node):
    """Values of ``of`` (STRING, ARRAY or OBJECT) with least..most code points, items or keys; all other kinds."""

    __slots__ = ("least", "most", "of")
    tag = b"S"
    of: int
    least: int
    most: int | None


class Pattern(Node):
    """Strings in which the ECMA-262 pattern is found, and everything that is not a string."""

    __slots__ = ("source",)
    tag = b"P"
    source: str


class Items(Node):
    """Arrays whose item ``i`` is in ``prefix[i]``, and in ``rest`` beyond; everything that is not an array."""

    __slots__ = ("prefix", "rest")
    tag = b"I"
    prefix: tuple[Node, ...]
    rest: Node

    def at(self, index: int) -> Node:
        """The node that judges item ``index``."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


class Contains(Node):
    """Arrays with least..most items in ``item``; everything that is not an array."""

    __slots__ = ("item", "least", "most")
    tag = b"C"
    item: Node
    least: int
    most: int | None


class Unique(Node):
    """Arrays without two equal items; everything that is not an array."""

    __slots__ = ()
    tag = b"U"


class Props(Node):
    """Objects whose values are in the nodes of their keys; everything that is not an object.

    A key is judged by ``names`` and by every pattern found in it, or, when neither names it, by ``rest``.
    """

    __slots__ = ("names", "patterns", "rest")
    tag = b"O"
    names: Mapping[str, Node]
    patterns: tuple[tuple[str, Node], ...]
    rest: Node


class Required(Node):
    """Objects that have all these keys; everything that is not an object."""

    __slots__ = ("names",)
    tag = b"Q"
    names: frozenset[str]


class Keys(Node):
    """Objects whose keys, as strings, are all in ``key``; everything that is not an object."""

    __slots__ = ("key",)
    tag = b"K"
    key: Node


class Opaque(Node):
    """A set we cannot reason about (``reason`` says why). Equal reasons and details are the same set."""

    __slots__ = ("detail", "reason")
    tag = b"X"
    reason: str
    detail: str


class And(Node):
    """Values in all children."""

    __slots__ = ("cached_tags", "children")
    tag = b"&"
    children: tuple[Node, ...]
    cached_tags: Mapping[str, Node] | None


class Or(Node):
    """Values in at least one child."""

    __slots__ = ("children",)
    tag = b"|"
    children: tuple[Node, ...]


class OneOf(Node):
    """Values in exactly one child (a multiset)."""

    __slots__ = ("children",)
    tag = b"1"
    children: tuple[Node, ...]


class Not(Node):
    """Values outside the child."""

    __slots__ = ("child",)
    tag = b"!"
    child: Node


class If(Node):
    """Values in ``test`` and ``then``, and values outside ``test`` in ``other``."""

    __slots__ = ("other", "test", "then")
    tag = b"?"
    test: Node
    then: Node
    other: Node


class Rec(Node):
    """A recursive definition; ``body`` mentions it again below a property or an item."""

    __slots__ = ("_body", "_make")
    tag = b"@"
    _body: Node | None
    _make: Callable[[], Node] | None

    @property
    def body(self) -> Node:
        """The definition, one step unrolled. Raises :class:`Unguarded` when it means itself in place."""
        return self._body if self._body is not None else self.build()

    def build(self) -> Node:
        """Build the body once, while the document it came from is at hand."""
        if self._body is None:
            make, self._make = self._make, None
            if make is None:
                raise Unguarded
            self._body = make()
        return self._body


class Hole(Node):
    """A mention of a definition that is still being compiled. Never leaves the compiler."""

    __slots__ = ("key",)
    tag = b"H"
    key: Any


class Unguarded(Exception):  # noqa: N818 - says what is wrong with the schema, like StopIteration
    """A definition that refers to itself without going through a property or an item: it has no meaning."""


_TABLE: WeakValueDictionary[bytes, Node] = WeakValueDictionary()
N = TypeVar("N", bound=Node)


def digest_of(tag: bytes, *parts: bytes) -> bytes:
    """The digest of a node with these serialised fields."""
    return blake2b(tag + b"".join(parts), digest_size=16).digest()


def intern(cls: type[N], parts: Iterable[bytes], may: int, must: int, holes: bool, **fields: Any) -> N:
    """The one node of this class and content."""
    digest = digest_of(cls.tag, *parts)
    found = _TABLE.get(digest)
    if found is not None:
        return cast(N, found)
    node = cls.__new__(cls)
    node.digest, node.may, node.must, node.holes = digest, may, must, holes
    for name, value in fields.items():
        setattr(node, name, value)
    _TABLE[digest] = node
    return node


def number(value: int | None) -> bytes:
    """An optional whole number as digest input."""
    return b"-;" if value is None else b"%d;" % value


def text(value: str) -> bytes:
    """A string as digest input."""
    raw = value.encode("utf-8", "surrogatepass")
    return b"%d:" % len(raw) + raw


def recursive(digest: bytes, make: Callable[[], Node]) -> Rec:
    """The recursive definition with this digest; ``make`` builds its body when first asked."""
    found = _TABLE.get(digest)
    if found is not None:
        return cast(Rec, found)
    node = Rec.__new__(Rec)
    node.digest, node.may, node.must, node.holes = digest, ALL, 0, False
    node._body, node._make = None, make
    _TABLE[digest] = node
    return node


def type_(mask: int) -> Type:
    """Values of the kinds in ``mask``."""
    return _TYPES[mask]


_TYPES: Final = tuple(intern(Type, (b"%d" % mask,), mask, mask, False, mask=mask) for mask in range(ALL + 1))
TOP: Final = _TYPES[ALL]
BOTTOM: Final = _TYPES[0]
#: All kinds but one: what a keyword of that kind accepts without looking
BESIDE: Final = {of: ALL & ~of for of in (NUMBER, STRING, ARRAY, OBJECT)}
