"""``unevaluatedProperties`` and ``unevaluatedItems`` as a case split.

Which keys (or items) are evaluated depends on which branches accept the value. For every combination of accepting
branches there is one alternative: those branches hold, and the rest of the keys is judged by the keyword. Accepting
more branches only evaluates more keys, so it is enough to demand that the chosen branches hold; nothing is said about
the others, and the union of the alternatives is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.classify.dialects.applicators import target
from driftwatch.classify.dialects.collections import has_key
from driftwatch.classify.dialects.compiler import Compiler, Spot
from driftwatch.classify.dialects.errors import SchemaError
from driftwatch.classify.dialects.scalars import Raw
from driftwatch.classify.ir import TOP, Node, keywords
from driftwatch.classify.ir.boolean import all_of, any_of, not_

MAX_CASES: Final = 128
MAX_STEPS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What is evaluated: all of it, or these names and patterns (keys), or a prefix and items in ``matching``."""

    everything: bool = False
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    prefix: int = 0
    matching: frozenset[Node] = frozenset()

    def __or__(self, other: Seen) -> Seen:
        """Evaluated by either."""
        return Seen(
            self.everything or other.everything,
            self.names | other.names,
            self.patterns | other.patterns,
            max(self.prefix, other.prefix),
            self.matching | other.matching,
        )


NOTHING: Final = Seen()
#: a condition on the value, and what is evaluated when it holds
Case = tuple[Node, Seen]
Own = Callable[["Cases", Raw, Spot], Seen]


def unevaluated_properties(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``unevaluatedProperties`` (from 2019-09)."""
    rest = compiler.node(raw["unevaluatedProperties"], spot.down("unevaluatedProperties"))
    cases = Cases(compiler, "unevaluatedProperties", own_keys)
    return any_of([all_of([condition, _keys(seen, rest)]) for condition, seen in cases.of(raw, spot)])


def _keys(seen: Seen, rest: Node) -> Node:
    if seen.everything:
        return TOP
    return keywords.props(dict.fromkeys(seen.names, TOP), dict.fromkeys(seen.patterns, TOP), rest)


def _items(seen: Seen, rest: Node) -> Node:
    if seen.everything:
        return TOP
    return keywords.items([TOP] * seen.prefix, any_of([rest, *seen.matching]))


def _unevaluated_items(own: Own) -> Callable[[Compiler, Raw, Spot], Node]:
    def handler(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
        rest = compiler.node(raw["unevaluatedItems"], spot.down("unevaluatedItems"))
        cases = Cases(compiler, "unevaluatedItems", own)
        return any_of([all_of([condition, _items(seen, rest)]) for condition, seen in cases.of(raw, spot)])

    return handler


def own_keys(_: Cases, raw: Raw, __: Spot) -> Seen:
    """Keys evaluated by the keywords next to an unevaluatedProperties."""
    return Seen(
        "additionalProperties" in raw,
        frozenset(raw.get("properties", ())),
        frozenset(raw.get("patternProperties", ())),
    )


def own_items(cases: Cases, raw: Raw, spot: Spot) -> Seen:
    """Items evaluated by the keywords next to an unevaluatedItems in 2020-12."""
    return Seen("items" in raw, prefix=len(raw.get("prefixItems", ())), matching=_contained(cases, raw, spot))


def own_items_2019(cases: Cases, raw: Raw, spot: Spot) -> Seen:
    """Items evaluated by the keywords next to an unevaluatedItems in 2019-09.

    ``contains`` counts, as in 2020-12: the draft's text leaves it open and the validators agree on it.
    """
    listed = raw.get("items")
    matching = _contained(cases, raw, spot)
    if isinstance(listed, list):
        return Seen("additionalItems" in raw, prefix=len(listed), matching=matching)
    return Seen(listed is not None, matching=matching)


def _contained(cases: Cases, raw: Raw, spot: Spot) -> frozenset[Node]:
    if "contains" not in raw:
        return frozenset()
    return frozenset([cases.compiler.node(raw["contains"], spot.down("contains"))])


class Cases:
    """The alternatives of one unevaluated keyword in one document."""

    def __init__(self, compiler: Compiler, keyword: str, own: Own) -> None:
        self.compiler = compiler
        self.keyword = keyword
        self.own = own
        self.open: set[int] = set()
        self.steps = 0

    def of(self, raw: Raw, spot: Spot) -> list[Case]:
        """The cases of the keywords beside the unevaluated keyword in ``raw``."""
        if id(raw) in self.open:
            raise SchemaError("unguarded-recursion", spot.pointer)
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise SchemaError("budget", spot.pointer, self.keyword)
        self.open.add(id(raw))
        cases: list[Case] = [(TOP, self.own(self, raw, spot))]
        for group in self._applicators(raw, spot):
            cases = _tidy((all_of([one, two]), seen | also) for one, seen in cases for two, also in group)
            if len(cases) > MAX_CASES:
                raise SchemaError("budget", spot.pointer, self.keyword)
        self.open.discard(id(raw))
        return cases

    def _below(self, raw: Any, spot: Spot) -> list[Case]:
        """The cases of a subschema that is known to hold."""
        if not isinstance(raw, dict):
            return [(TOP, NOTHING)]
        place = self.compiler.document.enter(raw, spot.place)
        spot = spot if place is spot.place else spot.at(place)
        if self.keyword in raw:
            return [(TOP, Seen(everything=True))]
        return self.of(raw, spot)

    def _applicators(self, raw: Raw, spot: Spot) -> Iterable[list[Case]]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in raw and keyword in self.compiler.dialect.handlers:
                yield self._below(*target(self.compiler, raw, spot, keyword))
        for index, each in enumerate(raw.get("allOf", ())):
            yield self._below(each, spot.down("allOf", index))
        for index, each in enumerate(raw.get("anyOf", ())):
            yield [(TOP, NOTHING), *self._holding(each, spot.down("anyOf", index))]
        if "oneOf" in raw:
            exclusive = [self._holding(each, spot.down("oneOf", index)) for index, each in enumerate(raw["oneOf"])]
            yield [(TOP, NOTHING), *(case for cases in exclusive for case in cases)]
        if "if" in raw:
            yield self._conditional(raw, spot)
        for name, each in raw.get("dependentSchemas", {}).items():
            below = self._below(each, spot.down("dependentSchemas", name))
            yield [(TOP, NOTHING), *((all_of([has_key(name), condition]), seen) for condition, seen in below)]

    def _holding(self, raw: Any, spot: Spot) -> list[Case]:
        """The cases of a branch, under the condition that it holds; a branch that evaluates nothing is no case."""
        node = self.compiler.node(raw, spot)
        return [(all_of([node, condition]), seen) for condition, seen in self._below(raw, spot) if seen != NOTHING]

    def _conditional(self, raw: Raw, spot: Spot) -> list[Case]:
        test = self.compiler.node(raw["if"], spot.down("if"))
        if_cases = self._below(raw["if"], spot.down("if"))
        then_cases = self._below(raw.get("then", True), spot.down("then"))
        cases: list[Case] = [(TOP, NOTHING)]
        cases.extend((all_of([test, one, two]), seen | also) for one, seen in if_cases for two, also in then_cases)
        other = not_(test)
        cases.extend(
            (all_of([other, one]), seen) for one, seen in self._below(raw.get("else", True), spot.down("else"))
        )
        return cases


def _tidy(cases: Iterable[Case]) -> list[Case]:
    """Cases without repetitions, and without those an unconditional case already covers."""
    unique = list(dict.fromkeys(cases))
    always = [seen for condition, seen in unique if condition is TOP]
    return [
        (condition, seen)
        for condition, seen in unique
        if not any((seen | other) == other and (condition is not TOP or seen != other) for other in always)
    ]


unevaluated_items = _unevaluated_items(own_items)
unevaluated_items_2019 = _unevaluated_items(own_items_2019)
