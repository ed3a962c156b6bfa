"""Syntax trees of ECMA-262 patterns (flag ``u``). What a tree means is in ``driftwatch.classify.regex.meaning``."""

from __future__ import annotations

from dataclasses import dataclass

from driftwatch.classify.regex.charset import Charset


class RegexError(Exception):
    """A pattern we cannot read or do not model; ``reason`` is stable and kebab-case."""

    def __init__(self, reason: str, pattern: str) -> None:
        super().__init__(f"{reason}: {pattern}")
        self.reason = reason
        self.pattern = pattern


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of the set."""

    chars: Charset


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body ``least`` to ``most`` times (None: without end)."""

    body: Tree
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Start:
    """``^``: the position before the first character."""


@dataclass(frozen=True, slots=True)
class End:
    """``$``: the position after the last character."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead; ``negative`` for ``(?!``."""

    body: Tree
    negative: bool


Tree = Chars | Sequence | Choice | Repeat | Start | End | Look


def asserts(tree: Tree) -> bool:
    """Whether the tree looks at its surroundings (anchors, look-ahead)."""
    if isinstance(tree, Chars):
        return False
    if isinstance(tree, Sequence | Choice):
        return any(asserts(part) for part in tree.parts)
    if isinstance(tree, Repeat):
        return asserts(tree.body)
    return True
