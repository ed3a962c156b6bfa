"""Random ECMA-262 patterns and the strings to try them on."""

from __future__ import annotations

import itertools
import random

ATOMS = (
    *("a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", r"\s", r"\S", "c", r"\n", "[a-c0-2]", r"\u0061", r"\x62"),
    *(r"\u{63}", r"[\w-]", r"[^\s\d]", r"\D", "é", "😀", "[😀-😂]", r"\ud83d\ude00", r"\cJ", r"[\b]", "[^]", r"\/"),
)
ANCHORED = ("^", "$", "(?:^|a)", "(?:b|$)", "a*^", "(?:^a)?", "(?:a$){0,2}", "(?!^)", "(?=$)")
TIMES = ("*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "{2,}")
STRINGS = tuple("".join(chars) for size in range(4) for chars in itertools.product("abc1\n é😀", repeat=size))


class Patterns:
    """A stream of random patterns, the same for the same seed.

    Quantifiers are not nested: a backtracking matcher, our oracle, takes for ever on those.
    """

    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)
        self.groups = 0

    def pattern(self) -> str:
        """A pattern, often anchored."""
        rnd = self.rnd
        text = self.part(3)
        if rnd.random() < 0.35:
            text = "^" + text
        if rnd.random() < 0.35:
            text += "$"
        return f"^{text}|{self.part(1)}$" if rnd.random() < 0.1 else text

    def part(self, depth: int, *, repeatable: bool = True) -> str:
        """A part of a pattern."""
        rnd = self.rnd
        choice = rnd.random()
        if depth == 0 or choice < 0.33:
            return rnd.choice(ATOMS)
        if choice < 0.58:
            return self.part(depth - 1, repeatable=repeatable) + self.part(depth - 1, repeatable=repeatable)
        if choice < 0.70:
            self.groups += 1
            opening = rnd.choice(["(?:", "(", f"(?<n{self.groups}>"])
            return f"{opening}{self.part(depth - 1, repeatable=repeatable)}|{self.part(depth - 1, repeatable=False)})"
        if choice < 0.88:
            return f"(?:{self.part(depth - 1, repeatable=False)}){rnd.choice(TIMES) if repeatable else ''}"
        if choice < 0.94 and repeatable:
            return f"{rnd.choice(['(?=', '(?!'])}{self.part(depth - 1)})"
        return rnd.choice(ANCHORED) if repeatable else rnd.choice(ATOMS)
