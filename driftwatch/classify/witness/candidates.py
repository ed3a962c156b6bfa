"""Candidates for a witness: values built to satisfy one schema and to fail another, changed place by changed place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import Schema
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.members import members, near_misses
from driftwatch.classify.witness import atoms
from driftwatch.classify.witness.merge import Alternative, alternatives
from driftwatch.classify.witness.places import Places, prefix_of

_DEEPEST: Final = 10
_PER_MEMBER: Final = 60
_LONGEST_ARRAY: Final = 1_000
_FRESH: Final = ("x", "extra", "zz", "0", "A")


class Candidates:
    """Directed candidates for ``inside`` without ``outside``. They are guesses; a validator decides.

    ``rich`` objects carry every declared member, others only the required ones.
    """

    def __init__(self, inside: Normal, outside: Normal, *, rich: bool = False) -> None:
        self.inside = Places(inside)
        self.outside = Places(outside)
        self.rich = rich
        self._same_definitions = exact.key(inside.definitions) == exact.key(outside.definitions)

    def whole(self) -> Iterator[Any]:
        """Candidates for whole documents."""
        return self.values([self.inside.normal.body], [self.outside.normal.body], 0)

    def values(self, wanted: list[Schema], refused: list[Schema], depth: int) -> Iterator[Any]:
        """Values that should satisfy every schema of ``wanted`` and fail one of ``refused``."""
        if depth > _DEEPEST or (depth and self._unchanged(wanted, refused)):
            return
        for alternative in alternatives(self.inside, wanted):
            judges = [*self.outside.in_place(refused, negated=True), *self.inside.in_place(alternative.nots)]
            listed = [*atoms.listed([alternative.words]), *atoms.listed(judges)]
            yield from listed
            for name in alternative.types():
                yield from self._of_type(name, alternative, judges, depth)

    def sample(self, wanted: list[Schema], depth: int) -> list[Any]:
        """A few plain values that should satisfy every schema of ``wanted``."""
        if depth > _DEEPEST:
            return []
        out: list[Any] = []
        for alternative in islice(alternatives(self.inside, wanted), 12):
            out += list(islice(self._plain(alternative, depth), 4))
        return list({exact.key(value): value for value in out}.values())

    def _plain(self, alternative: Alternative, depth: int) -> Iterator[Any]:
        listed = list(atoms.listed([alternative.words]))
        if listed:
            yield from listed
            return
        for name in alternative.types():
            match name:
                case "object":
                    yield self._object(alternative, depth, rich=self.rich)
                case "array":
                    yield self._array(alternative, depth)
                case _:
                    yield from self._of_type(name, alternative, [], depth)

    def _unchanged(self, wanted: list[Schema], refused: list[Schema]) -> bool:
        mine, yours = ({exact.key(schema) for schema in side if schema not in (True, {})} for side in (wanted, refused))
        if not yours <= mine:
            return False
        return self._same_definitions or not any('"$ref"' in text for text in mine)

    def _of_type(self, name: str, alternative: Alternative, judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        match name:
            case "string":
                yield from atoms.strings(alternative.words, judges)
            case "integer" | "number":
                yield from atoms.numbers(alternative.words, judges, whole=name == "integer")
            case "boolean":
                yield from (True, False)
            case "null":
                yield None
            case "array":
                yield from self._arrays(alternative, judges, depth)
            case _:
                yield from self._objects(alternative, judges, depth)

    # objects

    def _object(
        self, alternative: Alternative, depth: int, *, rich: bool, without: str | None = None
    ) -> dict[str, Any]:
        words = alternative.words
        names = list(words.get("required", ()))
        if rich:
            names += [name for name in words.get("properties", {}) if name not in names]
        out: dict[str, Any] = {}
        for name in names:
            if name != without:
                self._put(out, words, name, depth)
        for name in self._spare_names(words):
            if len(out) >= words.get("minProperties", 0):
                break
            self._put(out, words, name, depth)
        return out

    def _put(self, out: dict[str, Any], words: dict[str, Any], name: str, depth: int) -> None:
        found = self.sample(self.inside.member([words], name), depth + 1)
        if found and name not in out:
            out[name] = found[0]

    def _spare_names(self, words: dict[str, Any]) -> Iterator[str]:
        yield from words.get("properties", {})
        names = words.get("propertyNames")
        if names is not None:
            yield from (
                name for name in self.sample([names, {"type": "string"}], _DEEPEST - 1) if isinstance(name, str)
            )
        for pattern in words.get("patternProperties", {}):
            yield from members(pattern)[:3]
        yield from (f"x{index}" for index in range(64))

    def _objects(self, alternative: Alternative, judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        words = alternative.words
        base = self._object(alternative, depth, rich=self.rich)
        yield base
        for name in list(base):
            yield {key: value for key, value in base.items() if key != name}
        required = set(words.get("required", ()))
        for name in self._names(words, judges):
            wanted = self.inside.member([words], name)
            refused = self.outside.member(judges, name)
            for value in chain(
                self.sample(wanted, depth + 1)[:2] if name not in base else (),
                islice(self.values(wanted, refused, depth + 1), _PER_MEMBER),
            ):
                yield {**base, name: value}
                if required - base.keys():
                    yield {**self._object(alternative, depth, rich=True), name: value}
        yield from self._sized_objects(alternative, judges, base, depth)

    def _names(self, words: dict[str, Any], judges: list[dict[str, Any]]) -> list[str]:
        names: list[str] = []
        for judge in (words, *judges):
            names += judge.get("properties", {})
            names += judge.get("required", ())
            for word in ("dependentRequired", "dependentSchemas", "dependencies"):
                names += judge.get(word, {})
            for pattern in judge.get("patternProperties", {}):
                names += [*members(pattern)[:4], *near_misses(pattern)[:6]]
            if "propertyNames" in judge:
                names += self._name_candidates(words, judge["propertyNames"])
        return list(dict.fromkeys((*names, *_FRESH)))[:400]

    def _name_candidates(self, words: dict[str, Any], refused: Schema) -> list[str]:
        wanted: list[Schema] = [words.get("propertyNames", True), {"type": "string"}]
        found = islice(self.values(wanted, [refused], 1), 40)
        return [name for name in found if isinstance(name, str)]

    def _sized_objects(
        self, alternative: Alternative, judges: list[dict[str, Any]], base: dict[str, Any], depth: int
    ) -> Iterator[Any]:
        words = alternative.words
        edges = {judge.get(word) for judge in (words, *judges) for word in ("minProperties", "maxProperties")}
        for size in sorted({int(edge) + step for edge in edges if edge is not None for step in (-1, 0, 1)}):
            if 0 <= size <= _LONGEST_ARRAY:
                out = dict(base)
                for name in chain(self._spare_names(words), (f"y{index}" for index in range(size))):
                    if len(out) >= size:
                        break
                    self._put(out, words, name, depth)
                for name in list(out):
                    if len(out) > size and name not in words.get("required", ()):
                        del out[name]
                yield out

    # arrays

    def _array(self, alternative: Alternative, depth: int, length: int | None = None) -> list[Any]:
        words = alternative.words
        needed = words.get("minItems", 0)
        if "contains" in words:
            needed = max(needed, words.get("minContains", 1))
        return self._filled([], words, needed if length is None else length, depth)

    def _filled(self, start: list[Any], words: dict[str, Any], length: int, depth: int) -> list[Any]:
        out = list(start)
        seen = {exact.key(value) for value in out}
        contained = words.get("minContains", 1) if "contains" in words else 0
        cache: dict[int, list[Any]] = {}
        prefix, _ = prefix_of(words)
        while len(out) < min(length, _LONGEST_ARRAY):
            index = len(out)
            slot = min(index, len(prefix)) if index >= contained else -1 - index
            if slot not in cache:
                plain = {word: value for word, value in words.items() if word != "contains" or index < contained}
                cache[slot] = self.sample(self.inside.item([plain], index), depth + 1)
            options = cache[slot]
            if words.get("uniqueItems"):
                options = [value for value in options if exact.key(value) not in seen] or list(_distinct(options, seen))
            if not options:
                break
            out.append(options[0])
            seen.add(exact.key(options[0]))
        return out

    def _arrays(self, alternative: Alternative, judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        words = alternative.words
        base = self._array(alternative, depth)
        yield base
        for length in _lengths(words, judges):
            yield self._array(alternative, depth, length)
        plain = {word: value for word, value in words.items() if word != "contains"}
        positions = 1 + max(len(prefix_of(judge)[0]) for judge in (words, *judges))
        for index in range(min(positions, 64)):
            wanted = self.inside.item([plain], index)
            refused = self.outside.item(judges, index)
            for value in chain(self.sample(wanted, depth + 1)[:3], islice(self.values(wanted, refused, depth + 1), 60)):
                start = self._filled([], words, index, depth)
                if len(start) == index:
                    yield self._filled([*start, value], words, len(base), depth)
                    yield [*start, value, *base]
        yield from self._repeating(words, judges, depth)

    def _repeating(self, words: dict[str, Any], judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        """Arrays that hold something twice, or many of what ``contains`` counts."""
        found = self.sample(self.inside.item([words], 0), depth + 1)[:6]
        least = int(words.get("minItems", 0))
        for value in found:
            yield [value] * max(2, least)
        for first, second in pairwise(found):
            yield [first, second]
        for judge in (words, *judges):
            if "contains" in judge:
                plain = {word: value for word, value in words.items() if word != "contains"}
                some = self.sample([*self.inside.item([plain], 0), words.get("contains", True)], depth + 1)
                counted = [v for v in self._outside_samples(judge["contains"]) if v is not None] + some
                for count in {int(judge.get(w, 1)) + s for w in ("minContains", "maxContains") for s in (-1, 0, 1)}:
                    for value in counted[:6]:
                        if 0 <= count <= 64:
                            yield [value] * count
                            yield self._filled([value] * count, plain, max(least, count + 1), depth)

    def _outside_samples(self, schema: Schema) -> list[Any]:
        return Candidates(self.outside.normal, self.inside.normal).sample([schema], _DEEPEST - 2)


def _lengths(words: dict[str, Any], judges: list[dict[str, Any]]) -> list[int]:
    edges: list[int] = []
    for judge in (words, *judges):
        edges += [int(judge[word]) for word in ("minItems", "maxItems") if word in judge]
        prefix, rest = prefix_of(judge)
        if prefix or rest is False:
            edges.append(len(prefix))
    sizes = {edge + step for edge in edges for step in (-1, 0, 1)} | {0, 1, 2}
    return sorted(size for size in sizes if 0 <= size <= _LONGEST_ARRAY)


def _distinct(options: Iterable[Any], seen: set[str]) -> Iterator[Any]:
    for value in options:
        if isinstance(value, str):
            yield from (text for text in (f"{value}{index}" for index in range(1000)) if exact.key(text) not in seen)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield from (number for number in range(value, value + 2000) if exact.key(number) not in seen)
