"""The syntax tree of a pattern, and the character sets patterns name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

MAX_CODE_POINT: Final = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]

DIGITS: Final[Ranges] = ((0x30, 0x39),)
WORD: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Final[Ranges] = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
    *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
LINE_TERMINATORS: Final[Ranges] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of ``ranges``; ``named`` is a Unicode property whose members are not listed here."""

    ranges: Ranges
    named: str | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``low`` to ``high`` times; ``high`` None: without end."""

    part: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    r"""``^``, ``$``, ``\b`` or ``\B``."""

    kind: Literal["^", "$", "b", "B"]


@dataclass(frozen=True, slots=True)
class Look:
    """Look-ahead or look-behind."""

    part: Node
    behind: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Backreference:
    """The text of an earlier group again."""

    group: int | str


Node = Chars | Sequence | Choice | Repeat | Anchor | Look | Backreference


def complement(ranges: Ranges) -> Ranges:
    """Every code point outside ``ranges``."""
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            out.append((start, low - 1))
        start = max(start, high + 1)
    if start <= MAX_CODE_POINT:
        out.append((start, MAX_CODE_POINT))
    return tuple(out)
