"""Regular languages as hash-consed terms with Brzozowski derivatives.

Concatenation, repetition, union, intersection and complement. A term is compared with ``is``. Derivatives of a term are
finitely many up to the simplifications done here, which is what makes emptiness decidable; whoever explores them counts
them, because complements can be exponential.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

from driftwatch.classify.regex.charset import EVERY, Charset, has

Op = Literal["none", "empty", "chars", "cat", "repeat", "or", "and", "not"]


class Term:
    """A regular language. ``nullable``: it holds the empty string."""

    __slots__ = ("__weakref__", "cache", "chars", "cuts", "least", "most", "nullable", "number", "op", "parts")
    op: Op
    parts: tuple[Term, ...]
    chars: Charset
    least: int
    most: int | None
    nullable: bool
    #: first code points of classes of characters that all have the same derivative
    cuts: frozenset[int]
    cache: dict[int, Term]
    number: int


_TABLE: WeakValueDictionary[Any, Term] = WeakValueDictionary()
_COUNT = [0]


def _term(
    op: Op,
    parts: tuple[Term, ...] = (),
    chars: Charset = (),
    least: int = 0,
    most: int | None = 0,
    *,
    nullable: bool,
    cuts: frozenset[int] = frozenset(),
) -> Term:
    key = (op, frozenset(parts) if op in ("or", "and") else parts, chars, least, most)
    found = _TABLE.get(key)
    if found is None:
        found = Term()
        found.op, found.parts, found.chars, found.least, found.most = op, parts, chars, least, most
        found.nullable, found.cuts, found.cache = nullable, cuts, {}
        _COUNT[0] += 1
        found.number = _COUNT[0]
        _TABLE[key] = found
    return found


NONE: Final = _term("none", nullable=False)
EMPTY: Final = _term("empty", nullable=True)


def chars(members: Charset) -> Term:
    """One character of the set."""
    if not members:
        return NONE
    edges = {low for low, _ in members} | {high + 1 for _, high in members}
    return _term("chars", chars=members, nullable=False, cuts=frozenset(edges))


def negation(term: Term) -> Term:
    """Every string that is not in ``term``."""
    if term.op == "not":
        return term.parts[0]
    return _term("not", (term,), nullable=not term.nullable, cuts=term.cuts)


EVERYTHING: Final = negation(NONE)
ANY_CHAR: Final = chars(EVERY)


def cat(first: Term, second: Term) -> Term:
    """A string of ``first``, then one of ``second``."""
    if first is NONE or second is NONE:
        return NONE
    if first is EMPTY:
        return second
    if second is EMPTY:
        return first
    if first is EVERYTHING and second is EVERYTHING:
        return EVERYTHING
    if first.op == "cat":
        return cat(first.parts[0], cat(first.parts[1], second))
    cuts = first.cuts | second.cuts if first.nullable else first.cuts
    return _term("cat", (first, second), nullable=first.nullable and second.nullable, cuts=cuts)


def repeat(body: Term, least: int, most: int | None) -> Term:
    """``body`` least..most times."""
    if most == 0 or body is EMPTY:
        return EMPTY
    if body is NONE:
        return EMPTY if least == 0 else NONE
    if least == 1 and most == 1:
        return body
    if body.nullable:
        least = 0
    if least == 0 and most is None:
        if body is ANY_CHAR:
            return EVERYTHING
        if body.op == "repeat" and body.most is None and body.least <= 1:
            body = body.parts[0]
    return _term("repeat", (body,), least=least, most=most, nullable=least == 0, cuts=body.cuts)


def union(terms: Iterable[Term]) -> Term:
    """Strings in at least one term."""
    kept: dict[Term, None] = {}
    for term in terms:
        if term.op == "or":
            kept.update(dict.fromkeys(term.parts))
        elif term is not NONE:
            kept[term] = None
    if EVERYTHING in kept or any(term.op == "not" and term.parts[0] in kept for term in kept):
        return EVERYTHING
    if len(kept) < 2:
        return next(iter(kept), NONE)
    return _combined("or", kept)


def intersection(terms: Iterable[Term]) -> Term:
    """Strings in every term."""
    kept: dict[Term, None] = {}
    for term in terms:
        if term.op == "and":
            kept.update(dict.fromkeys(term.parts))
        elif term is not EVERYTHING:
            kept[term] = None
    if NONE in kept or any(term.op == "not" and term.parts[0] in kept for term in kept):
        return NONE
    if EMPTY in kept:
        return EMPTY if all(term.nullable for term in kept) else NONE
    if len(kept) < 2:
        return next(iter(kept), EVERYTHING)
    return _combined("and", kept)


def _combined(op: Literal["or", "and"], kept: dict[Term, None]) -> Term:
    parts = tuple(sorted(kept, key=lambda term: term.number))
    flags = [term.nullable for term in parts]
    nullable = any(flags) if op == "or" else all(flags)
    return _term(op, parts, nullable=nullable, cuts=frozenset().union(*(term.cuts for term in parts)))


def derivative(term: Term, code: int) -> Term:
    """What may follow the character ``code`` (one representative per class of ``term.cuts`` is cached)."""
    found = term.cache.get(code)
    if found is None:
        found = term.cache[code] = _derived(term, code)
    return found


def _derived(term: Term, code: int) -> Term:
    op = term.op
    if op == "chars":
        return EMPTY if has(term.chars, code) else NONE
    if op == "cat":
        first, second = term.parts
        after = cat(derivative(first, code), second)
        return union([after, derivative(second, code)]) if first.nullable else after
    if op == "repeat":
        body = term.parts[0]
        rest = repeat(body, max(0, term.least - 1), None if term.most is None else term.most - 1)
        return cat(derivative(body, code), rest)
    if op == "or":
        return union([derivative(part, code) for part in term.parts])
    if op == "and":
        return intersection([derivative(part, code) for part in term.parts])
    if op == "not":
        return negation(derivative(term.parts[0], code))
    return NONE


def forget(limit: int) -> None:
    """Drop derivatives when more than ``limit`` terms are alive: hostile patterns must not fill the memory."""
    if len(_TABLE) > limit:
        for term in list(_TABLE.values()):
            term.cache.clear()
