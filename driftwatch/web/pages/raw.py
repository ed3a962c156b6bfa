"""Two definitions as text, line against line, for those who want to see the JSON itself. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from driftwatch.web.pages.definitions import Definition

MAX_LINES: Final = 2_000
MAX_LINE: Final = 1_000
CONTEXT: Final = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text: ``sign`` is "+", "-", " ", or "@" where unchanged lines are left out."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Raw:
    """The lines, and how many were over the cap."""

    lines: tuple[Line, ...]
    left_out: int


def show(definition: Definition) -> Raw:
    """One definition."""
    lines = definition.pretty.splitlines()
    return Raw(tuple(Line(" ", _cut(line)) for line in lines[:MAX_LINES]), max(len(lines) - MAX_LINES, 0))


def compare(old: Definition, new: Definition) -> Raw:
    """What differs, with a few lines around it."""
    before, after = old.pretty.splitlines(), new.pretty.splitlines()
    left_out = max(len(before), len(after)) - MAX_LINES
    pairs = difflib.unified_diff(
        [_cut(line) for line in before[:MAX_LINES]], [_cut(line) for line in after[:MAX_LINES]], n=CONTEXT, lineterm=""
    )
    lines = [_line(text) for text in list(pairs)[2:]]
    return Raw(tuple(lines[:MAX_LINES]), max(left_out, 0))


def _line(text: str) -> Line:
    return Line("@", "…") if text.startswith("@@") else Line(text[:1], text[1:])


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… ({len(line)} characters)"
