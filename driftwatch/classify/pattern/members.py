"""Strings to try against a pattern: members of it, and near misses. Whether they match is for a validator to say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from driftwatch.classify.pattern.syntax import PatternError, parse
from driftwatch.classify.pattern.tree import Anchor, Chars, Choice, Node, Repeat, Sequence

_PLAIN: Final = "a0A-_ .b1Z/"
#: characters engines disagree about: line ends, Unicode digits, spaces and letters
ODD: Final = ("\n", "٣", "\u00a0", "é", "\u2028", "😀")
_WIDTH: Final = 12
_LONGEST: Final = 4096


def members(pattern: str, *, least: int = 0) -> list[str]:
    """A few strings that should match, shortest first, then some of at least ``least`` characters."""
    try:
        tree = parse(pattern)
    except PatternError:
        return []
    found = [*_strings(tree, 0), *_strings(tree, 1)]
    if least:
        found += [text for stretch in (least, max(1, least // 2)) for text in _strings(tree, min(stretch, _LONGEST))]
    return list(dict.fromkeys(found))


def near_misses(pattern: str) -> list[str]:
    """Strings that differ from members by one character, and the ones engines disagree about."""
    out: list[str] = []
    for text in members(pattern)[:4]:
        out += [text + "x", "x" + text, "a" + text, text + "a", text[:-1], text[1:], text + "~", text.upper()]
        out += [text + odd for odd in ODD] + [text[:-1] + odd for odd in ODD if text]
    return list(dict.fromkeys(out))


def _strings(node: Node, stretch: int) -> list[str]:
    return list(dict.fromkeys(islice(_each(node, stretch), _WIDTH)))


def _each(node: Node, stretch: int) -> Iterator[str]:
    match node:
        case Chars(ranges, named):
            yield from _characters(ranges, named)
        case Sequence(parts):
            yield from _joined([_strings(part, stretch) for part in parts])
        case Choice(options):
            for option in options:
                yield from _strings(option, stretch)[:4]
        case Repeat(part, low, high):
            yield from _repeated(_strings(part, stretch), low, high, stretch)
        case Anchor():
            yield ""
        case _:
            # Look-around and back-references: the empty guess is often enough, and a validator decides.
            yield ""


def _characters(ranges: tuple[tuple[int, int], ...], named: str | None) -> Iterator[str]:
    if named is not None:
        yield from ("é", "a", "0", " ") if "^" not in named and named[0] == "p" else ("0", "-", "a")
    plain = [c for c in _PLAIN if any(low <= ord(c) <= high for low, high in ranges)]
    yield from plain[:6]
    for low, high in ranges[:4]:
        for code in (low, high):
            if not 0xD800 <= code <= 0xDFFF and code:
                yield chr(code)
    yield from (c for c in ODD if any(low <= ord(c) <= high for low, high in ranges))


def _joined(choices: list[list[str]]) -> Iterator[str]:
    """Rows of a table rather than the product: first of all, then each part varied alone."""
    if any(not options for options in choices):
        return
    base = [options[0] for options in choices]
    yield "".join(base)
    for column in range(1, _WIDTH):
        for index, options in enumerate(choices):
            if column < len(options):
                yield "".join([*base[:index], options[column], *base[index + 1 :]])


def _repeated(strings: list[str], low: int, high: int | None, stretch: int) -> Iterator[str]:
    counts = [low, low + stretch, low + 1] if stretch else [low]
    for count in dict.fromkeys(min(count, high) if high is not None else count for count in counts):
        for text in strings[:8]:
            if count * len(text) <= _LONGEST:
                yield text * count
            if count == 0:
                break
    if len(strings) > 1 and (high is None or high >= 2) and low <= 2:
        yield strings[0] + strings[1]
