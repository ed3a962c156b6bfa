"""ECMA-262 patterns, flag ``u``, to syntax trees.

Outside the fragment: back-references, word boundaries and look-behind.
"""

from __future__ import annotations

from typing import Final

from driftwatch.classify.regex.charset import DIGITS, DOT, SPACE, WORD, Charset, charset, complement, single
from driftwatch.classify.regex.properties import property_members
from driftwatch.classify.regex.syntax import Chars, Choice, End, Look, RegexError, Repeat, Sequence, Start, Tree

_CLASSES: Final = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": SPACE,
    "S": complement(SPACE),
}
_CONTROL: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_DECIMAL: Final = frozenset("0123456789")
MAX_DEPTH: Final = 100


def parse(pattern: str) -> Tree:
    """The tree of a pattern. Raises :class:`RegexError`: ``invalid-pattern`` or ``unsupported-pattern``."""
    parser = _Parser(pattern)
    tree = parser.choice()
    if parser.at < len(pattern):
        raise parser.invalid()
    return tree


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0

    def invalid(self) -> RegexError:
        return RegexError("invalid-pattern", self.pattern)

    def unsupported(self) -> RegexError:
        return RegexError("unsupported-pattern", self.pattern)

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def eat(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def next(self) -> str:
        char = self.peek()
        if not char:
            raise self.invalid()
        self.at += 1
        return char

    def choice(self) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.unsupported()
        parts = [self.sequence()]
        while self.eat("|"):
            parts.append(self.sequence())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Tree:
        parts: list[Tree] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.term())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def term(self) -> Tree:
        if self.eat("^"):
            return Start()
        if self.eat("$"):
            return End()
        if self.eat("(?="):
            return Look(self.group(), negative=False)
        if self.eat("(?!"):
            return Look(self.group(), negative=True)
        atom = self.atom()
        times = self.quantifier()
        return atom if times is None else Repeat(atom, *times)

    def quantifier(self) -> tuple[int, int | None] | None:
        times: tuple[int, int | None]
        if self.eat("*"):
            times = (0, None)
        elif self.eat("+"):
            times = (1, None)
        elif self.eat("?"):
            times = (0, 1)
        elif self.eat("{"):
            least = self.decimal()
            most: int | None = least
            if self.eat(","):
                most = None if self.peek() == "}" else self.decimal()
            if not self.eat("}") or (most is not None and most < least):
                raise self.invalid()
            times = (least, most)
        else:
            return None
        self.eat("?")  # laziness changes what is captured, never whether the pattern is found
        return times

    def decimal(self) -> int:
        start = self.at
        while self.peek() in _DECIMAL and self.peek():
            self.at += 1
        if not start < self.at < start + 10:
            raise self.invalid()
        return int(self.pattern[start : self.at])

    def group(self) -> Tree:
        body = self.choice()
        if not self.eat(")"):
            raise self.invalid()
        return body

    def atom(self) -> Tree:
        if self.eat("(?:"):
            return self.group()
        if self.eat("(?<"):
            if self.peek() in ("=", "!"):
                raise self.unsupported()
            end = self.pattern.find(">", self.at)
            if end < 0 or not self.pattern[self.at : end].isidentifier():
                raise self.invalid()
            self.at = end + 1
            return self.group()
        if self.eat("(?"):
            raise self.unsupported()
        if self.eat("("):
            return self.group()
        if self.eat("["):
            return Chars(self.char_class())
        if self.eat("."):
            return Chars(DOT)
        if self.eat("\\"):
            return Chars(self.escape(in_class=False))
        char = self.next()
        if char in _SYNTAX and char != "/":
            raise self.invalid()
        return Chars(single(ord(char)))

    def escape(self, *, in_class: bool) -> Charset:
        char = self.next()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROL:
            return single(_CONTROL[char])
        if in_class and char == "b":
            return single(8)
        if char == "0" and self.peek() not in _DECIMAL - {""}:
            return single(0)
        if char == "0" and not self.peek():
            return single(0)
        if char in "pP":
            return self.unicode_property(negated=char == "P")
        if char in "bBk" or char in "123456789":
            raise self.unsupported()
        if char == "x":
            return single(self.hexadecimal(2))
        if char == "u":
            return single(self.unicode())
        if char == "c":
            letter = self.next()
            if not (letter.isascii() and letter.isalpha()):
                raise self.invalid()
            return single(ord(letter) % 32)
        if char in _SYNTAX or (in_class and char == "-"):
            return single(ord(char))
        # Flag u refuses other identity escapes; validators that read the pattern without it take the character itself.
        if char.isascii() and not char.isalnum() and char != "_":
            return single(ord(char))
        raise self.invalid()

    def unicode_property(self, *, negated: bool) -> Charset:
        end = self.pattern.find("}", self.at)
        if not self.eat("{") or end < 0:
            raise self.invalid()
        members = property_members(self.pattern[self.at : end])
        self.at = end + 1
        if members is None:
            raise self.unsupported()
        return complement(members) if negated else members

    def hexadecimal(self, digits: int) -> int:
        text = self.pattern[self.at : self.at + digits]
        if len(text) < digits or not set(text) <= _HEX:
            raise self.invalid()
        self.at += digits
        return int(text, 16)

    def unicode(self) -> int:
        if self.eat("{"):
            end = self.pattern.find("}", self.at)
            text = self.pattern[self.at : max(end, self.at)]
            if not 1 <= len(text.lstrip("0") or "0") <= 6 or not text or not set(text) <= _HEX:
                raise self.invalid()
            self.at = end + 1
            code = int(text, 16)
            if code > 0x10FFFF:
                raise self.invalid()
            return code
        code = self.hexadecimal(4)
        if 0xD800 <= code <= 0xDBFF and self.pattern.startswith("\\u", self.at):
            mark = self.at
            self.at += 2
            if self.peek() != "{":
                low = self.hexadecimal(4)
                if 0xDC00 <= low <= 0xDFFF:
                    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.at = mark
        return code

    def char_class(self) -> Charset:
        negated = self.eat("^")
        intervals: list[tuple[int, int]] = []
        while not self.eat("]"):
            first, first_code = self.class_atom()
            if self.peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
                intervals.extend(first)
                continue
            self.at += 1
            _, last_code = self.class_atom()
            if first_code is None or last_code is None or last_code < first_code:
                raise self.invalid()
            intervals.append((first_code, last_code))
        chars = charset(intervals)
        return complement(chars) if negated else chars

    def class_atom(self) -> tuple[Charset, int | None]:
        """A set, and its code point when it was written as one character (surrogates have a code but no member)."""
        start = self.at
        char = self.next()
        if char != "\\":
            return single(ord(char)), ord(char)
        marker = self.peek()
        chars = self.escape(in_class=True)
        if marker in _CLASSES or marker in ("p", "P"):
            return chars, None
        if marker == "u" and not chars:
            self.at = start + 2
            code = self.unicode() if self.peek() != "u" else -1
            if code < 0:
                self.at += 1
                code = self.unicode()
            return chars, code
        return chars, chars[0][0]
