"""Which patterns are valid: ECMA-262 with the ``u`` flag (ECMA-262 2024, 22.2.1), as TypeScript clients compile them.

What a valid pattern means is for ``driftwatch.classify.regex`` to say, which knows only a part of the language.
"""

from __future__ import annotations

from typing import Final

_CONTROL: Final = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_SHORTHANDS: Final = frozenset("dDwWsS")
_MAX_CODE_POINT: Final = 0x10FFFF


class PatternError(ValueError):
    """The pattern is not valid ECMA-262 with the ``u`` flag."""


def check(pattern: str) -> None:
    """Raises PatternError when an ECMA-262 engine refuses the pattern under ``u``."""
    parser = _Parser(pattern)
    parser.disjunction()
    if parser.at < len(pattern):
        raise PatternError(f"unmatched `{pattern[parser.at]}` at {parser.at}")
    parser.check_references()


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

    def disjunction(self) -> None:
        self.alternative()
        while self.take("|"):
            self.alternative()

    def alternative(self) -> None:
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            self.term()

    def term(self) -> None:
        character = self.next()
        if character in "^$":
            return
        if character == "(" and self.text[self.at : self.at + 2] in ("?=", "?!"):
            self.at += 2
            self.rest_of_group()
        elif character == "(" and self.text[self.at : self.at + 3] in ("?<=", "?<!"):
            self.at += 3
            self.rest_of_group()
        elif character == "\\" and self.at < len(self.text) and self.text[self.at] in "bB":
            self.at += 1
        else:
            self.atom(character)
            self.quantifier()

    def rest_of_group(self) -> None:
        self.disjunction()
        self.expect(")")

    def atom(self, character: str) -> None:
        if character == "(":
            self.group()
        elif character == "[":
            self.character_class()
        elif character == "\\":
            self.atom_escape()
        elif character in "*+?{}])":
            raise PatternError(f"nothing to repeat or close at {self.at - 1}: `{character}`")

    def group(self) -> None:
        if self.take("?:"):
            pass
        elif self.take("?<"):
            self.groups += 1
            self.named(self.group_name())
        elif self.peek("?"):
            raise PatternError(f"unknown group at {self.at}")
        else:
            self.groups += 1
        self.rest_of_group()

    def named(self, name: str) -> None:
        """A name may come again in another alternative only (ECMA-262 2025)."""
        if name in self.names and "|" not in self.text:
            raise PatternError(f"the group name `{name}` is used twice")
        self.names.add(name)

    def group_name(self) -> str:
        end = self.text.find(">", self.at)
        name = self.text[self.at : end] if end > 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise PatternError(f"invalid group name at {self.at}")
        self.at = end + 1
        return name

    def quantifier(self) -> None:
        if self.take("{"):
            low = high = self.digits()
            if self.take(",") and not self.peek("}"):
                high = self.digits()
            self.expect("}")
            if high < low:
                raise PatternError("numbers out of order in a quantifier")
        elif not (self.take("*") or self.take("+") or self.take("?")):
            return
        self.take("?")

    def digits(self) -> int:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        if start == self.at or self.at - start > 15:
            raise PatternError(f"a count expected at {start}")
        return int(self.text[start : self.at])

    def atom_escape(self) -> None:
        character = self.next()
        if character in "123456789":
            self.at -= 1
            self.references.append(self.digits())
        elif character == "k":
            self.expect("<")
            self.references.append(self.group_name())
        elif not self.shorthand(character):
            self.character_escape(character)

    def shorthand(self, character: str) -> bool:
        """Whether the escape stands for a class of characters."""
        if character in "pP":
            self.expect("{")
            end = self.text.find("}", self.at)
            name = self.text[self.at : end] if end > 0 else ""
            if not name.replace("=", "_").isidentifier():
                raise PatternError("invalid property name")
            self.at = end + 1
            return True
        return character in _SHORTHANDS

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
            if code > _MAX_CODE_POINT:
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

    def character_class(self) -> None:
        self.take("^")
        while not self.take("]"):
            low = self.class_atom()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                high = self.class_atom()
                if low is None or high is None:
                    raise PatternError("invalid character class")
                if high < low:
                    raise PatternError("range out of order in a character class")

    def class_atom(self) -> int | None:
        """The code point; None for an escape that stands for a class."""
        character = self.next()
        if character != "\\":
            return ord(character)
        escaped = self.next()
        if escaped == "b":
            return 0x08
        if escaped == "-":
            return ord("-")
        return None if self.shorthand(escaped) else self.character_escape(escaped)
