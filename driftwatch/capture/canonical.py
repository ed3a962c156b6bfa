"""JSON read exactly and written in one form, so that equal definitions have equal bytes.

The form is RFC 8785 (JCS): keys in UTF-16 code unit order, its escapes, no white space, numbers as ECMAScript writes
them. It departs in one place: a number whose digits a double would change keeps its digits, laid out the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

from driftwatch.capture.errors import LoneSurrogateError, NotJsonError, NumberOutOfRangeError, TooDeepError
from driftwatch.errors import CaptureError

#: CPython refuses longer integers too; no validator is asked to hold more
MAX_DIGITS: Final = 4300
MAX_DEPTH: Final = 200
_SAFE_INTEGER: Final = 2**53
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPE: Final = re.compile('[\x00-\x1f"\\\\]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical bytes; ``algo`` 1: RFC 8785 exactly, 2: some number kept digits that a double would change."""

    data: bytes
    algo: int


def parse(data: bytes) -> Any:
    """The JSON value of ``data`` as Python values.

    Whole numbers (1.0 and 1e2 too) are exact ints; others are float, or Decimal where a double would change a digit.
    Of a repeated key the last one counts, as in every client; see :func:`duplicate_keys`.

    Raises:
        CaptureError: one of :mod:`driftwatch.capture.errors`.
    """
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError as error:
        raise NumberOutOfRangeError(f"a number has more than {MAX_DIGITS} digits") from error
    except msgspec.DecodeError as error:
        raise _named(data, error) from error
    except RecursionError as error:
        raise TooDeepError("the value is nested too deeply") from error


def canonical(value: Any) -> Canonical:
    """The canonical form of a value that :func:`parse` returned (or of plain JSON values).

    Raises:
        CaptureError: a float that is no number, a lone surrogate, or nesting deeper than MAX_DEPTH.
    """
    writer = _Writer()
    writer.write(value, MAX_DEPTH)
    try:
        return Canonical("".join(writer.out).encode(), writer.algo)
    except UnicodeEncodeError as error:
        raise LoneSurrogateError("a string holds an unpaired surrogate") from error


def duplicate_keys(data: bytes) -> tuple[str, ...]:
    """The keys that some object of ``data`` holds more than once, each once, in order of appearance."""
    found: dict[str, None] = {}

    def check(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found[key] = None
            seen.add(key)

    _read_loosely(data, check)
    return tuple(found)


def rescue_name(data: bytes) -> str | None:
    """The ``name`` of a tool whose bytes :func:`parse` refuses, when it can still be read."""
    try:
        value = _read_loosely(data, dict)
    except (ValueError, RecursionError):
        return None
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def _read_loosely(data: bytes, hook: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """The value with every number as 0: accepts numbers that nobody can hold."""
    return json.loads(data, object_pairs_hook=hook, parse_int=_zero, parse_float=_zero, parse_constant=_refuse_constant)


def _zero(_text: str) -> int:
    return 0


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)


def _named(data: bytes, error: msgspec.DecodeError) -> CaptureError:
    try:
        strings: list[str] = []
        strings.extend(_strings(_read_loosely(data, dict)))
    except (ValueError, RecursionError):
        return NotJsonError(str(error))
    if any(_SURROGATE.search(text) for text in strings):
        return LoneSurrogateError("a string holds an unpaired surrogate")
    return NotJsonError(str(error))


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)


def _number(text: str) -> int | float | Decimal:
    try:
        exact = Decimal(text)
    except InvalidOperation as error:
        raise NumberOutOfRangeError("a number's exponent is out of range") from error
    if not exact:
        return 0
    if exact.adjusted() < -MAX_DIGITS or len(exact.as_tuple().digits) > MAX_DIGITS:
        raise NumberOutOfRangeError(f"a number needs more than {MAX_DIGITS} digits")
    nearest = float(exact)
    if nearest in (float("inf"), float("-inf")):
        raise NumberOutOfRangeError("a number is larger than a double can hold")
    whole = int(exact)
    if whole == exact:
        return whole
    return nearest if Decimal(repr(nearest)) == exact else exact


_decoder: Final = msgspec.json.Decoder(float_hook=_number)


class _Writer:
    """Collects the pieces of one canonical form."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.algo = 1

    def write(self, value: Any, depth: int) -> None:
        if depth == 0:
            raise TooDeepError("the value is nested too deeply")
        if isinstance(value, str):
            self.out.append(_quoted(value))
        elif isinstance(value, dict):
            self._object(value, depth)
        elif isinstance(value, list | tuple):
            self._array(value, depth)
        elif value is None or isinstance(value, bool):
            self.out.append("null" if value is None else "true" if value else "false")
        elif isinstance(value, int) and -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
            self.out.append(str(value))
        else:
            self.out.append(self._number(value))

    def _object(self, value: dict[str, Any], depth: int) -> None:
        separator = "{"
        for key in sorted(value, key=_utf16):
            self.out.append(f"{separator}{_quoted(key)}:")
            self.write(value[key], depth - 1)
            separator = ","
        self.out.append("}" if value else "{}")

    def _array(self, value: Iterable[Any], depth: int) -> None:
        separator = "["
        for item in value:
            self.out.append(separator)
            self.write(item, depth - 1)
            separator = ","
        self.out.append("]" if separator == "," else "[]")

    def _number(self, value: Any) -> str:
        if not isinstance(value, int | float | Decimal):
            raise TypeError(f"not a JSON value: {type(value).__name__}")
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if not exact.is_finite():
            raise NumberOutOfRangeError("not a number that JSON can spell")
        if not exact:
            return "0"
        if not _survives_as_double(exact):
            self.algo = 2
            if exact == exact.to_integral_value():
                return str(int(exact))
        sign, digits, exponent = exact.as_tuple()
        text = "".join(map(str, digits))
        point = len(text) + int(exponent)
        return ("-" if sign else "") + _layout(text.rstrip("0"), point)


def _survives_as_double(exact: Decimal) -> bool:
    try:
        return Decimal(repr(float(exact))) == exact
    except OverflowError:
        return False


def _layout(digits: str, point: int) -> str:
    """ECMAScript's Number::toString for significant ``digits`` with the decimal point after ``point`` of them."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def _utf16(key: str) -> str:
    return key if key.isascii() else _code_units(key)


def _code_units(key: str) -> str:
    """A string whose code point order is the UTF-16 code unit order of ``key``."""
    units = key.encode("utf-16-be", "surrogatepass")
    return "".join(chr(units[i] << 8 | units[i + 1]) for i in range(0, len(units), 2))


def _quoted(text: str) -> str:
    return f'"{_ESCAPE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
