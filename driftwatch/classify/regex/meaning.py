"""From a syntax tree to the language of all strings in which the pattern is found (ECMA-262 search semantics).

Continuation passing: the meaning of a tree is taken with the language of what follows it, which is what look-ahead and
``$`` need. The continuation is asked for with ``start``: are we certainly still before the first character? (``^``.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from driftwatch.classify.regex.parse import parse
from driftwatch.classify.regex.syntax import (
    Chars,
    Choice,
    End,
    Look,
    RegexError,
    Repeat,
    Sequence,
    Start,
    Tree,
    asserts,
)
from driftwatch.classify.regex.terms import (
    ANY_CHAR,
    EMPTY,
    EVERYTHING,
    NONE,
    Term,
    cat,
    chars,
    intersection,
    negation,
    repeat,
    union,
)

Rest = Callable[[bool], Term]

_NONEMPTY: Final = repeat(ANY_CHAR, 1, None)
#: repeats of assertions are unrolled up to here
MAX_UNROLL: Final = 4
MAX_REPEAT: Final = 5_000


@lru_cache(maxsize=2_048)
def language(pattern: str) -> Term:
    """All strings in which ``pattern`` is found. Raises RegexError."""
    tree = parse(pattern)
    meaning = _Meaning(pattern)
    found_at_start = meaning.of(tree, lambda _: EVERYTHING, start=True)
    if found_at_start is EVERYTHING:
        return EVERYTHING
    found_later = meaning.of(tree, lambda _: EVERYTHING, start=False)
    return union([found_at_start, cat(_NONEMPTY, found_later)])


class _Meaning:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.steps = 0

    def of(self, tree: Tree, rest: Rest, *, start: bool) -> Term:
        """Strings that begin with a match of ``tree`` and go on as ``rest``."""
        self.steps += 1
        if self.steps > 10_000:
            raise RegexError("unsupported-pattern", self.pattern)
        if isinstance(tree, Chars):
            return cat(chars(tree.chars), rest(False))
        if isinstance(tree, Sequence):
            return self.sequence(tree.parts, rest, start=start)
        if isinstance(tree, Choice):
            return union([self.of(part, rest, start=start) for part in tree.parts])
        if isinstance(tree, Start):
            return rest(True) if start else NONE
        if isinstance(tree, End):
            return EMPTY if rest(start).nullable else NONE
        if isinstance(tree, Look):
            ahead = self.of(tree.body, lambda _: EVERYTHING, start=start)
            return intersection([rest(start), negation(ahead) if tree.negative else ahead])
        return self.repeated(tree, rest, start=start)

    def sequence(self, parts: tuple[Tree, ...], rest: Rest, *, start: bool) -> Term:
        if not parts:
            return rest(start)
        if len(parts) == 1:
            return self.of(parts[0], rest, start=start)
        return self.of(parts[0], lambda begun: self.sequence(parts[1:], rest, start=begun), start=start)

    def repeated(self, tree: Repeat, rest: Rest, *, start: bool) -> Term:
        if max(tree.least, tree.most or 0) > MAX_REPEAT:
            raise RegexError("unsupported-pattern", self.pattern)
        if asserts(tree.body):
            return self.unrolled(tree, rest, start=start)
        body = self.of(tree.body, lambda _: EMPTY, start=False)
        whole = repeat(body, tree.least, tree.most)
        if not (start and whole.nullable):
            return cat(whole, rest(False))
        at_start, later = rest(True), rest(False)
        if at_start is later:
            return cat(whole, later)
        return union([at_start, cat(intersection([whole, _NONEMPTY]), later)])

    def unrolled(self, tree: Repeat, rest: Rest, *, start: bool) -> Term:
        if tree.most is None or tree.most > MAX_UNROLL:
            raise RegexError("unsupported-pattern", self.pattern)
        if tree.most == 0:
            return rest(start)
        fewer = Repeat(tree.body, max(0, tree.least - 1), tree.most - 1)
        once = self.of(tree.body, lambda begun: self.unrolled(fewer, rest, start=begun), start=start)
        return once if tree.least else union([once, rest(start)])
