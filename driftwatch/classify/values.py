"""JSON values as JSON Schema compares them: exact numbers, kinds of values, equality that is not Python's.

Python says ``1 == True`` and ``0.1 + 0.2 != 0.3``; JSON Schema says neither. Everything here works on parsed JSON
(``None``, ``bool``, ``int``, ``float`` or ``Decimal``, ``str``, ``list``, ``dict``).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

#: Kinds of values, one bit each. Draft 04 tells ``1`` from ``1.0`` (WHOLE), later drafts do not.
NULL: Final = 1
BOOLEAN: Final = 2
INTEGER: Final = 4
WHOLE: Final = 8
FRACTION: Final = 16
STRING: Final = 32
ARRAY: Final = 64
OBJECT: Final = 128
NUMBER: Final = INTEGER | WHOLE | FRACTION
ALL: Final = 255
MAX_DIGITS: Final = 4_000


def exact(number: float | Decimal) -> Fraction | int:
    """The number as written in JSON, without binary rounding (``0.1`` is one tenth).

    Raises OverflowError where writing it down would take thousands of digits, ValueError for what is no number.
    """
    if isinstance(number, int):
        return number
    decimal = number if isinstance(number, Decimal) else Decimal(repr(number))
    if decimal.is_finite() and abs(decimal.adjusted()) > MAX_DIGITS:
        raise OverflowError
    fraction = Fraction(decimal)
    return fraction.numerator if fraction.denominator == 1 else fraction


def to_json(number: Fraction | int, *, whole: bool = False) -> float | int | Decimal:
    """A JSON number equal to ``number``; ``whole`` writes an integral one as ``1.0``."""
    if isinstance(number, int) or number.denominator == 1:
        return float(int(number)) if whole else int(number)
    try:
        as_float = float(number)
    except OverflowError:
        as_float = 0.0
    if exact(as_float) == number:
        return as_float
    return Decimal(number.numerator) / Decimal(number.denominator)


def kind(value: Any) -> int:
    """The one kind bit of a JSON value."""
    if isinstance(value, str):
        return STRING
    if isinstance(value, dict):
        return OBJECT
    if isinstance(value, list):
        return ARRAY
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return INTEGER
    return WHOLE if isinstance(exact(value), int) else FRACTION


def frozen(value: Any) -> Any:
    """A hashable stand-in: two values have equal stand-ins iff JSON Schema calls them equal."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return ("literal", value)
    if isinstance(value, dict):
        return ("object", frozenset((key, frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(frozen(item) for item in value))
    return ("number", exact(value))


def plain(value: Any) -> Any:
    """An equal value in which integral numbers are integers, up to those every client can hold."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float | Decimal) and -(2**53) <= value <= 2**53:
        number = exact(value)
        return number if isinstance(number, int) else value
    return value


def written(value: Any) -> str:
    """A canonical text of a value as it is written (``1`` is not ``1.0``). Used for digests, not for people."""
    if isinstance(value, str):
        return f"s{len(value)}:{value}"
    if value is None:
        return "n"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, dict):
        items = "".join(written(key) + written(value[key]) for key in sorted(value))
        return f"{{{items}}}"
    if isinstance(value, list):
        return f"[{''.join(map(written, value))}]"
    return f"#{exact(value)}{'.' if kind(value) == WHOLE else ''}"
