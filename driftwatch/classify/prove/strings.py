"""Strings: a window of lengths and a regular language."""

from __future__ import annotations

from typing import Final

from driftwatch.classify.budget import Budget
from driftwatch.classify.ir import Enum, Pattern, Size
from driftwatch.classify.prove.answers import Found, Result, Unknown, better
from driftwatch.classify.prove.state import State
from driftwatch.classify.prove.structure import lengths, literal
from driftwatch.classify.regex.meaning import language
from driftwatch.classify.regex.syntax import RegexError
from driftwatch.classify.regex.terms import EVERYTHING, Term, intersection, negation, union
from driftwatch.classify.regex.words import shortest

MAX_LENGTH: Final = 1_000_000
Window = tuple[int, int | None]


def solve(state: State, budget: Budget) -> Result:
    """A string that satisfies the facts and denials of the state."""
    windows: list[Window] = [(0, None)]
    terms: list[Term] = []
    excluded: set[str] = set()
    doubt: Unknown | None = None
    for fact in state.facts:
        if isinstance(fact, Size):
            windows = meet(windows, fact.least, fact.most)
        elif isinstance(fact, Pattern):
            try:
                terms.append(language(fact.source))
            except RegexError as error:
                doubt = Unknown(error.reason)
    for denial in state.denials:
        if isinstance(denial, Size):
            windows = outside(windows, denial.least, denial.most)
        elif isinstance(denial, Enum):
            excluded.update(value for value in denial.values if isinstance(value, str))
        elif isinstance(denial, Pattern):
            try:
                terms.append(negation(language(denial.source)))
            except RegexError as error:
                doubt = Unknown(error.reason)
    term = intersection(terms)
    unknown: Unknown | None = None
    for least, most in windows:
        if least > MAX_LENGTH:
            unknown = better(unknown, Unknown("size"))
            continue
        word = _plain(least, most, excluded) if term is EVERYTHING else None
        if word is None:
            word = _word(term, least, most, excluded, budget)
        if word is None:
            continue
        if doubt is None:
            return Found(word)
        unknown = better(unknown, Unknown(doubt.reason, doubt.pointer, Found(word)))
    return unknown


def meet(windows: list[Window], least: int, most: int | None) -> list[Window]:
    """The lengths that are also within least..most."""
    result: list[Window] = []
    for low, high in windows:
        top = high if most is None else most if high is None else min(high, most)
        if top is None or top >= max(low, least):
            result.append((max(low, least), top))
    return result


def outside(windows: list[Window], least: int, most: int | None) -> list[Window]:
    """The lengths that are not within least..most."""
    below = meet(windows, 0, least - 1) if least > 0 else []
    return below + (meet(windows, most + 1, None) if most is not None else [])


def _plain(least: int, most: int | None, excluded: set[str]) -> str | None:
    """A string of some length where nothing else is asked; None when the few tries are all excluded."""
    base = "a" * least
    for text in (base or "a", base, base + "a", base + "b", *(f"{base}{number}" for number in range(40))):
        if text not in excluded and (most is None or len(text) <= most):
            return text
    return None


def _word(term: Term, least: int, most: int | None, excluded: set[str], budget: Budget) -> str | None:
    """A shortest string of the language that is long enough, if it is not too long."""
    parts = [term]
    if excluded:
        parts.append(negation(union([literal(text) for text in excluded])))
    if least:
        parts.append(lengths(least, None))
    word = shortest(intersection(parts), budget)
    return word if word is None or most is None or len(word) <= most else None
