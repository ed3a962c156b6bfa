"""Plain values of a schema: a few that should be valid, made of the schema alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import Schema
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.members import members
from driftwatch.classify.witness import atoms
from driftwatch.classify.witness.merge import Alternative, alternatives
from driftwatch.classify.witness.places import Places, prefix_of

DEEPEST: Final = 10
LONGEST_ARRAY: Final = 1_000
_ALTERNATIVES: Final = 12
_EACH: Final = 4


class Samples:
    """Values of one document. ``rich`` objects carry every declared member, others only what they must."""

    def __init__(self, normal: Normal, *, rich: bool = False) -> None:
        self.places = Places(normal)
        self.rich = rich
        self._known: dict[str, list[Any]] = {}

    def of(self, wanted: list[Schema], depth: int) -> list[Any]:
        """A few values that should satisfy every schema of ``wanted``; none below DEEPEST."""
        if depth > DEEPEST:
            return []
        key = f"{depth}{exact.key(wanted)}"
        if key not in self._known:
            self._known[key] = []
            found: list[Any] = []
            for alternative in islice(alternatives(self.places, wanted), _ALTERNATIVES):
                found += islice(self._plain(alternative, depth), _EACH)
            self._known[key] = list({exact.key(value): value for value in found}.values())
        return self._known[key]

    def _plain(self, alternative: Alternative, depth: int) -> Iterator[Any]:
        words = alternative.words
        listed = list(atoms.listed([words]))
        if listed:
            yield from listed
            return
        for name in alternative.types():
            match name:
                case "object":
                    yield self.object(words, depth)
                case "array":
                    yield self.array(words, depth)
                case _:
                    yield from scalars(name, words, [])

    def object(self, words: dict[str, Any], depth: int, *, rich: bool | None = None) -> dict[str, Any]:
        """An object of the required members, or of all declared ones."""
        names = list(words.get("required", ()))
        if self.rich if rich is None else rich:
            names += [name for name in words.get("properties", {}) if name not in names]
        out: dict[str, Any] = {}
        for name in names:
            self.put(out, words, name, depth)
        for name in self.spare_names(words):
            if len(out) >= words.get("minProperties", 0):
                break
            self.put(out, words, name, depth)
        return out

    def put(self, out: dict[str, Any], words: dict[str, Any], name: str, depth: int) -> None:
        """Give ``out`` a member ``name`` if it lacks one and a value for it is known."""
        found = self.of(self.places.member([words], name), depth + 1)
        if found and name not in out:
            out[name] = found[0]

    def spare_names(self, words: dict[str, Any]) -> Iterator[str]:
        """Names for members that only have to be there."""
        yield from words.get("properties", {})
        names = words.get("propertyNames")
        if names is not None:
            yield from (name for name in self.of([names, {"type": "string"}], DEEPEST - 1) if isinstance(name, str))
        for pattern in words.get("patternProperties", {}):
            yield from members(pattern)[:3]
        yield from (f"x{index}" for index in range(64))

    def array(self, words: dict[str, Any], depth: int, length: int | None = None) -> list[Any]:
        """An array of ``length`` items, or as few as allowed."""
        needed = words.get("minItems", 0)
        if "contains" in words:
            needed = max(needed, words.get("minContains", 1))
        return self.filled([], words, needed if length is None else length, depth)

    def filled(self, start: list[Any], words: dict[str, Any], length: int, depth: int) -> list[Any]:
        """``start`` continued to ``length`` items, or as far as values are known."""
        out = list(start)
        seen = {exact.key(value) for value in out}
        contained = words.get("minContains", 1) if "contains" in words else 0
        known: dict[int, list[Any]] = {}
        prefix, _ = prefix_of(words)
        while len(out) < min(length, LONGEST_ARRAY):
            index = len(out)
            slot = min(index, len(prefix)) if index >= contained else -1 - index
            if slot not in known:
                plain = {word: value for word, value in words.items() if word != "contains" or index < contained}
                known[slot] = self.of(self.places.item([plain], index), depth + 1)
            options: Iterable[Any] = known[slot]
            if words.get("uniqueItems"):
                options = _distinct(known[slot], seen)
            value = next(iter(options), _NOTHING)
            if value is _NOTHING:
                break
            out.append(value)
            seen.add(exact.key(value))
        return out


_NOTHING: Final = object()


def scalars(name: str, words: dict[str, Any], judges: list[dict[str, Any]]) -> Iterator[Any]:
    """Values of a scalar type inside ``words``, around the edges of ``judges`` too."""
    match name:
        case "string":
            yield from atoms.strings(words, judges)
        case "integer" | "number":
            yield from atoms.numbers(words, judges, whole=name == "integer")
        case "boolean":
            yield from (True, False)
        case "null":
            yield None


def _distinct(options: list[Any], seen: set[str]) -> Iterator[Any]:
    yield from (value for value in options if exact.key(value) not in seen)
    for value in options:
        if isinstance(value, str):
            yield from (text for text in (f"{value}{index}" for index in range(1000)) if exact.key(text) not in seen)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield from (number for number in range(value, value + 2000) if exact.key(number) not in seen)
