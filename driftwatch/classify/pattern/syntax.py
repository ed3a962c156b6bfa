"""Parser for ECMA-262 patterns with the ``u`` flag (ECMA-262 2024, 22.2.1), as TypeScript clients compile them."""

from __future__ import annotations

from typing import Final

from driftwatch.classify.pattern.tree import (
    DIGITS,
    LINE_TERMINATORS,
    MAX_CODE_POINT,
    SPACE,
    WORD,
    Anchor,
    Backreference,
    Chars,
    Choice,
    Look,
    Node,
    Repeat,
    Sequence,
    complement,
)

_CONTROL: Final = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_CLASSES: Final = {"d": DIGITS, "w": WORD, "s": SPACE}


class PatternError(ValueError):
    """The pattern is not valid ECMA-262 with the ``u`` flag."""


def parse(pattern: str) -> Node:
    """The pattern's syntax tree. Raises PatternError when an ECMA-262 engine refuses it under ``u``."""
    parser = _Parser(pattern)
    node = parser.disjunction()
    if parser.at < len(pattern):
        raise PatternError(f"unmatched `{pattern[parser.at]}` at {parser.at}")
    parser.check_references()
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0
        self.names: set[str] = set()
        self.references: list[int | str] = []

    def check_references(self) -> None:
        for wanted in self.references:
            if wanted not in self.names and not (isinstance(wanted, int) and wanted <= self.groups):
                raise PatternError(f"no group `{wanted}`")

    def peek(self, ahead: str) -> bool:
        return self.text.startswith(ahead, self.at)

    def take(self, wanted: str) -> bool:
        if self.peek(wanted):
            self.at += len(wanted)
            return True
        return False

    def expect(self, wanted: str) -> None:
        if not self.take(wanted):
            raise PatternError(f"`{wanted}` expected at {self.at}")

    def next(self) -> str:
        if self.at >= len(self.text):
            raise PatternError("the pattern ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def disjunction(self) -> Node:
        options = [self.alternative()]
        while self.take("|"):
            options.append(self.alternative())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def alternative(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.term())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def term(self) -> Node:
        character = self.next()
        if character in "^$":
            return Anchor("^" if character == "^" else "$")
        if character == "(" and self.text[self.at : self.at + 2] in ("?=", "?!"):
            return self.look(behind=False)
        if character == "(" and self.text[self.at : self.at + 3] in ("?<=", "?<!"):
            return self.look(behind=True)
        if character == "\\" and self.at < len(self.text) and self.text[self.at] in "bB":
            return Anchor("b" if self.next() == "b" else "B")
        return self.quantified(self.atom(character))

    def look(self, *, behind: bool) -> Node:
        self.at += 2 if behind else 1
        negative = self.next() == "!"
        part = self.disjunction()
        self.expect(")")
        return Look(part, behind, negative)

    def atom(self, character: str) -> Node:
        if character == ".":
            return Chars(complement(LINE_TERMINATORS))
        if character == "(":
            return self.group()
        if character == "[":
            return self.character_class()
        if character == "\\":
            return self.atom_escape()
        if character in "*+?{}])":
            raise PatternError(f"nothing to repeat or close at {self.at - 1}: `{character}`")
        return Chars(((ord(character), ord(character)),))

    def group(self) -> Node:
        if self.take("?:"):
            pass
        elif self.take("?<"):
            self.groups += 1
            self.names.add(self.group_name())
        elif self.peek("?"):
            raise PatternError(f"unknown group at {self.at}")
        else:
            self.groups += 1
        node = self.disjunction()
        self.expect(")")
        return node

    def group_name(self) -> str:
        end = self.text.find(">", self.at)
        name = self.text[self.at : end] if end > 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise PatternError(f"invalid group name at {self.at}")
        self.at = end + 1
        return name

    def quantified(self, atom: Node) -> Node:
        bounds = self.quantifier()
        if bounds is None:
            return atom
        self.take("?")
        low, high = bounds
        if high is not None and high < low:
            raise PatternError("numbers out of order in a quantifier")
        return Repeat(atom, low, high)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        if not self.take("{"):
            return None
        low = self.digits()
        high: int | None = low
        if self.take(","):
            high = None if self.peek("}") else self.digits()
        self.expect("}")
        return low, high

    def digits(self) -> int:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        if start == self.at or self.at - start > 15:
            raise PatternError(f"a count expected at {start}")
        return int(self.text[start : self.at])

    def atom_escape(self) -> Node:
        character = self.next()
        if character in "123456789":
            self.at -= 1
            return self.reference(self.digits())
        if character == "k":
            self.expect("<")
            return self.reference(self.group_name())
        shorthand = self.shorthand(character)
        if shorthand is not None:
            return shorthand
        code = self.character_escape(character)
        return Chars(((code, code),))

    def reference(self, group: int | str) -> Node:
        self.references.append(group)
        return Backreference(group)

    def shorthand(self, character: str) -> Chars | None:
        if character.lower() in _CLASSES:
            ranges = _CLASSES[character.lower()]
            return Chars(ranges if character.islower() else complement(ranges))
        if character in "pP":
            self.expect("{")
            end = self.text.find("}", self.at)
            name = self.text[self.at : end] if end > 0 else ""
            if not name.replace("=", "_").isidentifier():
                raise PatternError("invalid property name")
            self.at = end + 1
            return Chars((), character + name)
        return None

    def character_escape(self, character: str) -> int:
        if character in _CONTROL:
            return _CONTROL[character]
        if character == "0" and not self.text[self.at : self.at + 1].isdigit():
            return 0
        if character == "c":
            letter = self.next()
            if letter.isascii() and letter.isalpha():
                return ord(letter) % 32
        elif character == "x":
            return self.hexadecimal(2)
        elif character == "u":
            return self.unicode_escape()
        elif character in _SYNTAX:
            return ord(character)
        raise PatternError(f"invalid escape `\\{character}` at {self.at - 1}")

    def unicode_escape(self) -> int:
        if self.take("{"):
            end = self.text.find("}", self.at)
            digits = self.text[self.at : end] if end > 0 else ""
            if not digits or any(d not in "0123456789abcdefABCDEF" for d in digits) or len(digits) > 8:
                raise PatternError("invalid Unicode escape")
            self.at = end + 1
            code = int(digits, 16)
            if code > MAX_CODE_POINT:
                raise PatternError("invalid Unicode escape")
            return code
        code = self.hexadecimal(4)
        if 0xD800 <= code < 0xDC00 and self.peek("\\u"):
            before = self.at
            self.at += 2
            low = self.hexadecimal(4) if not self.peek("{") else 0
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.at = before
        return code

    def hexadecimal(self, length: int) -> int:
        digits = self.text[self.at : self.at + length]
        if len(digits) != length or any(d not in "0123456789abcdefABCDEF" for d in digits):
            raise PatternError(f"invalid escape at {self.at}")
        self.at += length
        return int(digits, 16)

    def character_class(self) -> Node:
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        named: str | None = None
        while not self.take("]"):
            low = self.class_atom()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                high = self.class_atom()
                if isinstance(low, Chars) or isinstance(high, Chars):
                    raise PatternError("invalid character class")
                if high < low:
                    raise PatternError("range out of order in a character class")
                ranges.append((low, high))
            elif isinstance(low, Chars):
                named = low.named or named
                ranges.extend(low.ranges)
            else:
                ranges.append((low, low))
        kept = complement(tuple(ranges)) if negated else tuple(ranges)
        return Chars(kept, f"^{named}" if negated and named else named)

    def class_atom(self) -> int | Chars:
        character = self.next()
        if character != "\\":
            return ord(character)
        escaped = self.next()
        if escaped == "b":
            return 0x08
        if escaped == "-":
            return ord("-")
        return self.shorthand(escaped) or self.character_escape(escaped)
