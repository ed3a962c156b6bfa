"""JSON equality and order without the traps of Python's: true is not 1, but 1.0 is 1, and big numbers stay exact."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, Final

#: beyond ±(2^53 − 1) many clients cannot hold an integer
SAFE_INTEGER: Final = 2**53 - 1
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MAX_DIGITS: Final = 4300
_MAX_BITS: Final = 14_280  # of an integer with that many digits


Number = int | float | Decimal


def number(value: Number) -> Number:
    """The same number, as int where it is whole, and never as a float that says something else."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if value.adjusted() <= _MAX_DIGITS and value == value.to_integral_value():
        return int(value)
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == value else value


def decimal(value: Number) -> Decimal:
    """The number that JSON text shows, exactly."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def key(value: Any) -> str:
    """A string that is equal for equal JSON values and only for them; objects in sorted order."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float | Decimal):
        return _number_key(number(value))
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(key, value)) + "]"
    return "{" + ",".join(f"{quoted(name)}:{key(value[name])}" for name in sorted(value)) + "}"


def _number_key(value: Number) -> str:
    if isinstance(value, int):
        return str(value)
    sign, digits, exponent = decimal(value).as_tuple()
    figures = "".join(map(str, digits))
    trimmed = figures.rstrip("0")
    return f"{'-' * sign}{trimmed}e{int(exponent) + len(figures) - len(trimmed)}"


def same(left: Any, right: Any) -> bool:
    """JSON equality."""
    kind = type(left)
    if kind is not type(right):
        return not isinstance(left, str | dict) and not isinstance(right, str | dict) and key(left) == key(right)
    if kind is dict:
        return left.keys() == right.keys() and all(same(item, right[name]) for name, item in left.items())
    if kind is list:
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def is_json(scalar: Any) -> bool:
    """Whether a scalar can be written as JSON and read by any parser: no surrogates, no infinity, no endless digits."""
    if isinstance(scalar, str):
        return scalar.isascii() or _SURROGATE.search(scalar) is None
    if isinstance(scalar, int):
        return scalar.bit_length() <= _MAX_BITS
    if isinstance(scalar, float):
        return math.isfinite(scalar)
    return scalar is None or (
        isinstance(scalar, Decimal) and scalar.is_finite() and abs(scalar.adjusted()) <= _MAX_DIGITS
    )


def unsafe(value: Any) -> bool:
    """Whether a number somewhere in the value is beyond ±(2^53 − 1)."""
    if isinstance(value, dict):
        return any(map(unsafe, value.values()))
    if isinstance(value, list):
        return any(map(unsafe, value))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return not -SAFE_INTEGER <= value <= SAFE_INTEGER
