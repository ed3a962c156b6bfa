"""Numbers: intervals of rationals, one step, forbidden steps and forbidden values; exact, within a search bound."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Final, NamedTuple

from driftwatch.classify.ir import Enum, MultipleOf, Number, Range
from driftwatch.classify.ir.keywords import common_step
from driftwatch.classify.prove.answers import Found, Result, Unknown
from driftwatch.classify.prove.state import State
from driftwatch.classify.values import FRACTION, NUMBER, WHOLE, exact, kind, to_json

MAX_TRIES: Final = 4_000


class Interval(NamedTuple):
    """Bounds (None: without) and whether they are left out."""

    low: Number | None
    low_open: bool
    high: Number | None
    high_open: bool

    def holds(self, number: Number) -> bool:
        """Is the number between the bounds."""
        above = self.low is None or number > self.low or (number == self.low and not self.low_open)
        return above and (self.high is None or number < self.high or (number == self.high and not self.high_open))

    def meet(self, low: Number | None, low_open: bool, high: Number | None, high_open: bool) -> Interval | None:
        """The part also within other bounds, None when empty."""
        mine = self
        if low is not None and (mine.low is None or low > mine.low or (low == mine.low and low_open)):
            mine = mine._replace(low=low, low_open=low_open)
        if high is not None and (mine.high is None or high < mine.high or (high == mine.high and high_open)):
            mine = mine._replace(high=high, high_open=high_open)
        if mine.low is None or mine.high is None or mine.low < mine.high:
            return mine
        return mine if mine.low == mine.high and not (mine.low_open or mine.high_open) else None


def solve(state: State) -> Result:
    """A number of the state's kind that satisfies its facts and denials."""
    parts: list[Interval] = [Interval(None, False, None, False)]
    step: Number | None = None if state.bit == FRACTION else 1
    for fact in state.facts:
        if isinstance(fact, Range):
            parts = _met(parts, fact.low, fact.low_open, fact.high, fact.high_open)
        elif isinstance(fact, MultipleOf):
            step = fact.step if step is None else common_step(step, fact.step)
    forbidden: list[Number] = [1] if state.bit == FRACTION else []
    excluded: set[Number] = set()
    for denial in state.denials:
        if isinstance(denial, Range):
            below = _met(parts, None, False, denial.low, not denial.low_open) if denial.low is not None else []
            above = _met(parts, denial.high, not denial.high_open, None, False) if denial.high is not None else []
            parts = below + above
        elif isinstance(denial, MultipleOf):
            forbidden.append(denial.step)
        elif isinstance(denial, Enum):
            excluded.update(exact(value) for value in denial.values if kind(value) & NUMBER)
    unknown: Unknown | None = None
    for part in parts:
        number = _pick(part, step, forbidden, excluded)
        if isinstance(number, Unknown):
            unknown = number
        elif number is not None:
            return Found(to_json(number, whole=state.bit == WHOLE))
    return unknown


def _met(
    parts: Iterable[Interval], low: Number | None, low_open: bool, high: Number | None, high_open: bool
) -> list[Interval]:
    met = (part.meet(low, low_open, high, high_open) for part in parts)
    return [part for part in met if part is not None]


def _pick(
    part: Interval, step: Number | None, forbidden: list[Number], excluded: set[Number]
) -> Number | Unknown | None:
    if step is None:
        return _from_dense(part, forbidden, excluded)
    return _from_grid(part, Fraction(step), forbidden, excluded)


def _from_grid(
    part: Interval, step: Fraction, forbidden: list[Number], excluded: set[Number]
) -> Number | Unknown | None:
    """A multiple of ``step``. ``t * step`` is forbidden iff one of the ``periods`` divides ``t``."""
    periods = [(step / each).denominator for each in forbidden]
    if 1 in periods:
        return None
    first = None if part.low is None else ceil(Fraction(part.low) / step)
    last = None if part.high is None else floor(Fraction(part.high) / step)
    if first is not None and part.low_open and first * step == part.low:
        first += 1
    if last is not None and part.high_open and last * step == part.high:
        last -= 1
    if first is not None and last is not None and first > last:
        return None
    period = lcm(1, *periods)
    for factor in _factors(first, last, period, len(excluded)):
        if all(factor % each for each in periods):
            number = factor * step
            if number not in excluded:
                return number.numerator if number.denominator == 1 else number
    complete = first is not None and last is not None and last - first < MAX_TRIES
    return None if complete else Unknown("number-search")


def _factors(first: int | None, last: int | None, period: int, spare: int) -> Iterable[int]:
    """Factors to try: small ones first, then the class 1 modulo ``period``, which no forbidden step divides."""
    start = first if first is not None and (first > 0 or last is None) else last
    near = 0 if (first is None or first <= 0) and (last is None or last >= 0) else None
    if first is not None and last is not None and last - first < MAX_TRIES:
        yield from sorted(range(first, last + 1), key=lambda factor: (abs(factor), factor < 0))
        return
    base = near if near is not None else start or 0
    down = last is not None and base == last
    for offset in range(MAX_TRIES // 4):
        for factor in (
            (base + offset, base - offset) if near is not None else (base - offset if down else base + offset,)
        ):
            if (first is None or factor >= first) and (last is None or factor <= last):
                yield factor
    aligned = base - base % period + 1
    for offset in range(spare + 2):
        for factor in (aligned + offset * period, aligned - offset * period):
            if (first is None or factor >= first) and (last is None or factor <= last):
                yield factor


def _from_dense(part: Interval, forbidden: list[Number], excluded: set[Number]) -> Number | Unknown | None:
    """A number of an interval without a step: halves, quarters … escape every forbidden step in the end."""
    if part.low is not None and part.low == part.high:
        return part.low if _allowed(part.low, forbidden, excluded) else None
    low, high = _small(part)
    tried = 0
    for bits in range(1, 400):
        unit = Fraction(1, 2**bits)
        numerator = floor(low / unit) + 1
        if numerator % 2 == 0:
            numerator += 1
        for index in range(8):
            number = (numerator + 2 * index) * unit
            if number >= high:
                break
            tried += 1
            if part.holds(number) and _allowed(number, forbidden, excluded):
                return number
        if tried > MAX_TRIES:
            break
    return Unknown("number-search")


def _small(part: Interval) -> tuple[Fraction, Fraction]:
    """A piece of the interval, as near to zero as it gets and at most one wide: small numbers are exact everywhere."""
    if part.low is not None and part.low >= 0:
        low = Fraction(part.low)
        return low, low + 1 if part.high is None else min(Fraction(part.high), low + 1)
    if part.high is None or part.high > 0:
        return Fraction(0), Fraction(1) if part.high is None else min(Fraction(part.high), Fraction(1))
    high = Fraction(part.high)
    return high - 1 if part.low is None else max(Fraction(part.low), high - 1), high


def _allowed(number: Number, forbidden: list[Number], excluded: set[Number]) -> bool:
    return number not in excluded and all((Fraction(number) / each).denominator != 1 for each in forbidden)
