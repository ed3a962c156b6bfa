"""Candidates for a witness: values built to satisfy one schema and to fail another, changed place by changed place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, pairwise
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import Schema
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.members import members, near_misses
from driftwatch.classify.witness import atoms
from driftwatch.classify.witness.merge import Alternative, alternatives
from driftwatch.classify.witness.places import Places, prefix_of
from driftwatch.classify.witness.samples import DEEPEST, LONGEST_ARRAY, Samples, scalars
from driftwatch.classify.witness.turns import in_turn

_FRESH: Final = ("x", "extra", "zz", "0", "A")
_MOST_NAMES: Final = 400
_MOST_POSITIONS: Final = 64
_BASES: Final = 12


class Candidates:
    """Directed candidates for ``inside`` without ``outside``. They are guesses; a validator decides.

    ``rich`` objects carry every declared member, others only the required ones.
    """

    def __init__(self, inside: Normal, outside: Normal, *, rich: bool = False) -> None:
        self.samples = Samples(inside, rich=rich)
        self.inside = self.samples.places
        self.outside = Places(outside)
        self._counted = Samples(outside)
        self._same_definitions = exact.key(inside.definitions) == exact.key(outside.definitions)

    def whole(self) -> Iterator[Any]:
        """Candidates for whole documents."""
        return self.values([self.inside.normal.body], [self.outside.normal.body], 0)

    def values(self, wanted: list[Schema], refused: list[Schema], depth: int) -> Iterator[Any]:
        """Values that should satisfy every schema of ``wanted`` and fail one of ``refused``."""
        if depth > DEEPEST or (depth and self._unchanged(wanted, refused)):
            return
        judges = self.outside.in_place(refused, negated=True)
        yield from in_turn(
            self._alternative(alternative, judges, depth) for alternative in alternatives(self.inside, wanted)
        )

    def _alternative(self, alternative: Alternative, judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        words = alternative.words
        ruled_out = self.inside.in_place(alternative.nots)
        judges = [*judges, *ruled_out]
        yield from atoms.listed([words])
        yield from atoms.listed(judges)
        kinds = {"array": self._arrays(words, judges, depth), "object": self._objects(words, judges, ruled_out, depth)}
        yield from in_turn(kinds.get(name) or scalars(name, words, judges) for name in alternative.types())

    def _unchanged(self, wanted: list[Schema], refused: list[Schema]) -> bool:
        mine, yours = ({exact.key(schema) for schema in side if schema not in (True, {})} for side in (wanted, refused))
        if not yours <= mine:
            return False
        return self._same_definitions or not any('"$ref"' in text for text in mine)

    # objects

    def _objects(
        self, words: dict[str, Any], judges: list[dict[str, Any]], ruled_out: list[dict[str, Any]], depth: int
    ) -> Iterator[Any]:
        base = self.samples.object(words, depth)
        yield base
        for name in base:
            yield {key: value for key, value in base.items() if key != name}
        yield from self._edited(base, words, judges, depth)
        if ruled_out:
            # What must not hold may need a change of its own, beside the one that proves the break.
            names = self._names({}, ruled_out, fresh=())
            for other in islice(self._edited(base, words, ruled_out, depth, names), _BASES):
                yield from islice(self._edited(other, words, judges, depth), _MOST_NAMES)
        yield from self._sized(words, judges, base, depth)

    def _edited(
        self,
        base: dict[str, Any],
        words: dict[str, Any],
        judges: list[dict[str, Any]],
        depth: int,
        names: list[str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """``base`` with one member added or replaced; ``names``: only one of these."""
        return in_turn(
            self._with_member(base, name, words, judges, depth)
            for name in (self._names(words, judges) if names is None else names)
        )

    def _with_member(
        self, base: dict[str, Any], name: str, words: dict[str, Any], judges: list[dict[str, Any]], depth: int
    ) -> Iterator[dict[str, Any]]:
        wanted, refused = self.inside.member([words], name), self.outside.member(judges, name)
        plain = self.samples.of(wanted, depth + 1)[:2] if name not in base else ()
        for value in chain(plain, self.values(wanted, refused, depth + 1)):
            yield {**base, name: value}

    def _names(
        self, words: dict[str, Any], judges: list[dict[str, Any]], *, fresh: tuple[str, ...] = _FRESH
    ) -> list[str]:
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
        return list(dict.fromkeys((*names, *fresh)))[:_MOST_NAMES]

    def _name_candidates(self, words: dict[str, Any], refused: Schema) -> list[str]:
        wanted: list[Schema] = [words.get("propertyNames", True), {"type": "string"}]
        found = islice(self.values(wanted, [refused], 1), 40)
        return [name for name in found if isinstance(name, str)]

    def _sized(
        self, words: dict[str, Any], judges: list[dict[str, Any]], base: dict[str, Any], depth: int
    ) -> Iterator[dict[str, Any]]:
        """Objects with as many members as somebody's limit, one less and one more."""
        edges = {judge.get(word) for judge in (words, *judges) for word in ("minProperties", "maxProperties")}
        for size in sorted({int(edge) + step for edge in edges if edge is not None for step in (-1, 0, 1)}):
            if 0 <= size <= LONGEST_ARRAY:
                out = dict(base)
                for name in chain(self.samples.spare_names(words), (f"y{index}" for index in range(size))):
                    if len(out) >= size:
                        break
                    self.samples.put(out, words, name, depth)
                for name in list(out):
                    if len(out) > size and name not in words.get("required", ()):
                        del out[name]
                yield out

    # arrays

    def _arrays(self, words: dict[str, Any], judges: list[dict[str, Any]], depth: int) -> Iterator[Any]:
        base = self.samples.array(words, depth)
        yield base
        for length in _lengths(words, judges):
            yield self.samples.array(words, depth, length)
        plain = {word: value for word, value in words.items() if word != "contains"}
        positions = 1 + max(len(prefix_of(judge)[0]) for judge in (words, *judges))
        yield from in_turn(
            self._with_item(base, index, plain, judges, depth) for index in range(min(positions, _MOST_POSITIONS))
        )
        yield from self._repeating(words, plain, judges, depth)

    def _with_item(
        self, base: list[Any], index: int, plain: dict[str, Any], judges: list[dict[str, Any]], depth: int
    ) -> Iterator[list[Any]]:
        wanted, refused = self.inside.item([plain], index), self.outside.item(judges, index)
        start = self.samples.filled([], plain, index, depth)
        if len(start) < index:
            return
        for value in chain(self.samples.of(wanted, depth + 1)[:3], self.values(wanted, refused, depth + 1)):
            yield self.samples.filled([*start, value], plain, len(base), depth)
            if base:
                yield [*start, value, *base]

    def _repeating(
        self, words: dict[str, Any], plain: dict[str, Any], judges: list[dict[str, Any]], depth: int
    ) -> Iterator[list[Any]]:
        """Arrays that hold something twice, or many of what ``contains`` counts."""
        found = self.samples.of(self.inside.item([words], 0), depth + 1)[:6]
        least = int(words.get("minItems", 0))
        yield from ([value] * max(2, least) for value in found)
        yield from ([first, second] for first, second in pairwise(found))
        for judge in (words, *judges):
            if "contains" in judge:
                yield from self._counts(judge, words, plain, least, depth)

    def _counts(
        self, judge: dict[str, Any], words: dict[str, Any], plain: dict[str, Any], least: int, depth: int
    ) -> Iterator[list[Any]]:
        own = self.samples.of([*self.inside.item([plain], 0), words.get("contains", True)], depth + 1)
        counted = [*self._counted.of([judge["contains"]], DEEPEST - 2), *own][:8]
        for count in {int(judge.get(word, 1)) + step for word in ("minContains", "maxContains") for step in (-1, 0, 1)}:
            for value in counted:
                if 0 <= count <= _MOST_POSITIONS:
                    yield [value] * count
                    yield self.samples.filled([value] * count, plain, max(least, count + 1), depth)


def _lengths(words: dict[str, Any], judges: list[dict[str, Any]]) -> list[int]:
    edges: list[int] = []
    for judge in (words, *judges):
        edges += [int(judge[word]) for word in ("minItems", "maxItems") if word in judge]
        prefix, rest = prefix_of(judge)
        if prefix or rest is False:
            edges.append(len(prefix))
    sizes = {edge + step for edge in edges for step in (-1, 0, 1)} | {0, 1, 2}
    return sorted(size for size in sizes if 0 <= size <= LONGEST_ARRAY)
