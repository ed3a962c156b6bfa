"""The space of property names, split by the patterns that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from driftwatch.classify.budget import Budget
from driftwatch.classify.ir import Enum, Node, Props
from driftwatch.classify.prove.structure import literal, strings_of
from driftwatch.classify.regex.meaning import language
from driftwatch.classify.regex.syntax import RegexError
from driftwatch.classify.regex.terms import EVERYTHING, NONE, Term, intersection, negation, union
from driftwatch.classify.regex.words import matches, shortest

MAX_ATOMS: Final = 64
MAX_LISTED: Final = 64
_SPARE: Final = ("x", "y", "z")


class KeySpace:
    """All strings, divided by patterns and by the key languages of facts and denials.

    ``admitted``: nodes every key must be in; ``contested``: nodes some key must be outside. ``listed``: the only keys
    there can be, where that is a short list. Raises RegexError when a pattern is outside the fragment or there are too
    many.
    """

    def __init__(
        self, sources: Iterable[str], admitted: Sequence[Node], contested: Sequence[Node], budget: Budget
    ) -> None:
        self.budget = budget
        self._patterns = {source: language(source) for source in dict.fromkeys(sources)}
        self._nodes = {node: strings_of(node) for node in contested}
        lists = [node for node in admitted if isinstance(node, Enum) and len(node.values) <= MAX_LISTED]
        self.listed = _common(lists) if lists else None
        self._admitted = intersection([strings_of(node) for node in admitted if node not in lists])
        dividing = dict.fromkeys([*self._patterns.values(), *self._nodes.values()])
        self._dividing = [term for term in dividing if term is not EVERYTHING and term is not NONE]
        self._atoms: list[Term] | None = None
        self._spares: dict[tuple[int, frozenset[str]], str | None] = {}

    def allowed(self, key: str) -> bool:
        """May an object have this key at all."""
        listed = self.listed is None or key in self.listed
        return listed and (self._admitted is EVERYTHING or matches(self._admitted, key))

    def found(self, source: str, key: str) -> bool:
        """Is the pattern found in the key."""
        return matches(self._patterns[source], key)

    def inside(self, node: Node, key: str) -> bool:
        """Is the key in a contested node."""
        return matches(self._nodes[node], key)

    def representatives(self, names: AbstractSet[str]) -> list[tuple[int, str]]:
        """One key outside ``names`` for every atom that has one."""
        if self._atoms is None:
            self._atoms = self._divided()
        keys = [(atom, self.another(atom, names)) for atom in range(len(self._atoms))]
        return [(atom, key) for atom, key in keys if key is not None]

    def another(self, atom: int, taken: AbstractSet[str]) -> str | None:
        """A key of the atom that is not taken."""
        if self._atoms is None:
            self._atoms = self._divided()
        term = self._atoms[atom]
        if term is EVERYTHING:
            return next(key for key in _names() if key not in taken)
        at = (atom, frozenset(taken))
        if at not in self._spares:
            mine = [literal(key) for key in sorted(taken) if matches(term, key)]
            self._spares[at] = shortest(intersection([term, negation(union(mine))]), self.budget)
        return self._spares[at]

    def _divided(self) -> list[Term]:
        if self.listed is not None:
            return []  # each key there can be has a name
        atoms = [self._admitted]
        for term in self._dividing:
            halves = [intersection([atom, half]) for atom in atoms for half in (term, negation(term))]
            atoms = [half for half in halves if shortest(half, self.budget) is not None]
            if len(atoms) > MAX_ATOMS:
                raise RegexError("many-patterns", "")
        return atoms


def _common(lists: Sequence[Enum]) -> frozenset[str]:
    """The strings in every list."""
    names = (frozenset(value for value in each.values if isinstance(value, str)) for each in lists)
    return frozenset.intersection(*names)


def _names() -> Iterable[str]:
    yield from _SPARE
    number = 1
    while True:
        yield f"x{number}"
        number += 1


def judges(props: Props, key: str, space: KeySpace) -> list[Node]:
    """The nodes that judge the value of a key."""
    found = [props.names[key]] if key in props.names else []
    found.extend(judge for source, judge in props.patterns if space.found(source, key))
    return found or [props.rest]
