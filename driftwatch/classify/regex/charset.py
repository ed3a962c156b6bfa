"""Sets of Unicode scalar values as sorted, disjoint intervals. Surrogates are in no string, so in no set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

Charset = tuple[tuple[int, int], ...]

LAST: Final = 0x10FFFF


def charset(intervals: Iterable[tuple[int, int]]) -> Charset:
    """The normal form of a union of intervals (ends included), without surrogates."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    result: list[tuple[int, int]] = []
    for low, high in merged:
        if low < 0xD800:
            result.append((low, min(high, 0xD7FF)))
        if high > 0xDFFF:
            result.append((max(low, 0xE000), high))
    return tuple(result)


def complement(chars: Charset) -> Charset:
    """Every scalar value that is not in ``chars``."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in chars:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        gaps.append((start, LAST))
    return charset(gaps)


def single(code: int) -> Charset:
    """One code point; nothing when it is a surrogate."""
    return charset([(code, code)])


def has(chars: Charset, code: int) -> bool:
    """Whether the code point is in the set."""
    return any(low <= code <= high for low, high in chars)


EVERY: Final = charset([(0, LAST)])
LINE_TERMINATORS: Final = charset([(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)])
DOT: Final = complement(LINE_TERMINATORS)
DIGITS: Final = charset([(0x30, 0x39)])
WORD: Final = charset([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACE: Final = charset(
    [
        (0x09, 0x0D),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ]
)
