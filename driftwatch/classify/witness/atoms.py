"""Scalars worth trying: inside the bounds of one schema, just outside those of the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.pattern.members import members, near_misses

_PLAIN_STRINGS: Final = ("a", "", "0", "A-b_1", "example", "2020-01-01T00:00:00Z", "http://a.b", "a@b.co")
_ODD_STRINGS: Final = ("\n", "٣", "\u00a0", "é", "😀", "a\n")
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LONGEST: Final = 10_000

#: one of each type, for places where nothing is known
ONE_OF_EACH: Final[tuple[Any, ...]] = ("a", 0, 0.5, True, None, [], {})


def listed(judges: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """The values that ``enum`` and ``const`` name."""
    for judge in judges:
        yield from judge.get("enum", ())
        if "const" in judge:
            yield judge["const"]


def numbers(inside: dict[str, Any], outside: list[dict[str, Any]], *, whole: bool) -> list[int | float | Decimal]:
    """Numbers around every bound and divisor of both sides; whole ones only if asked."""
    judges = [inside, *outside]
    bounds = [bound for judge in judges for bound in _bounds(judge)]
    divisors = [judge["multipleOf"] for judge in judges if "multipleOf" in judge]
    found: list[int | float | Decimal] = []
    for bound in bounds:
        found += [bound, bound + 1, bound - 1]
    found += (1, 0, -1, 2, 3, 5, 7)
    found += _multiples(divisors, bounds)
    if not whole:
        halves = (Decimal("0.5"), Decimal("-0.5"), Decimal("0.25"))
        found += [exact.number(exact.decimal(bound) + half) for bound in (*bounds, 0) for half in halves]
    else:
        found = [math.floor(value) if value == value // 1 else math.ceil(value) for value in found]
    return [value for value in _unique(found) if _within(value, inside)]


def _bounds(judge: dict[str, Any]) -> Iterator[int | float | Decimal]:
    for word in _BOUNDS:
        value = judge.get(word)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            yield exact.number(value)


def _multiples(divisors: list[Any], bounds: list[Any]) -> list[int | float | Decimal]:
    out: list[int | float | Decimal] = []
    for divisor in divisors:
        step = exact.decimal(divisor)
        for start in (0, *bounds):
            first = int(exact.decimal(start) // step)
            out += [exact.number(step * factor) for factor in (first, first + 1, first - 1, first + 2, first + 3)]
    return out


def _within(value: float | Decimal, words: dict[str, Any]) -> bool:
    low, high = words.get("minimum"), words.get("maximum")
    return (isinstance(low, bool) or low is None or value >= low) and (
        isinstance(high, bool) or high is None or value <= high
    )


def strings(inside: dict[str, Any], outside: list[dict[str, Any]]) -> list[str]:
    """Strings of the lengths and patterns of both sides, and just off them."""
    least = min(inside.get("minLength", 0), _LONGEST)
    found: list[str] = []
    for pattern in inside.get("patterns", ()):
        found += members(pattern, least=least)
    for judge in outside:
        if "pattern" in judge:
            found += [*near_misses(judge["pattern"]), *members(judge["pattern"])]
    found += _PLAIN_STRINGS
    found += [_of_length(length) for length in _lengths([inside, *outside])]
    for pattern in inside.get("patterns", ()):
        found += near_misses(pattern)
    found += _ODD_STRINGS
    most = inside.get("maxLength", _LONGEST)
    fitting = [text if len(text) >= least else text + "a" * (least - len(text)) for text in found]
    return [text for text in _unique(fitting) if len(text) <= most]


def _lengths(judges: list[dict[str, Any]]) -> list[int]:
    edges = [judge[word] for judge in judges for word in ("minLength", "maxLength") if word in judge]
    return sorted({int(edge) + step for edge in edges for step in (-1, 0, 1) if 0 <= edge + step <= _LONGEST})


def _of_length(length: int) -> str:
    return "a" * length


def _unique(values: list[Any]) -> list[Any]:
    return list({exact.key(value): value for value in values}.values())
