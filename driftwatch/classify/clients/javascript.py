"""What JavaScript makes of JSON numbers: everything is a double, and remainders are taken in binary."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from typing import Any, Final

#: the keyword under which :class:`MultipleOf` stands in rewritten schemas
MULTIPLE_OF: Final = "ajvMultipleOf"
_EXACT: Final = 2**53
_EXPONENT_FROM: Final = 1e21


def value(json: Any) -> Any:
    """A JSON value as ``JSON.parse`` reads it."""
    if isinstance(json, dict):
        return {name: value(item) for name, item in json.items()}
    if isinstance(json, list):
        return [value(item) for item in json]
    if isinstance(json, Decimal) or (isinstance(json, int) and abs(json) > _EXACT):
        return _double(json)
    return json


def _double(number: int | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:
        # JavaScript holds Infinity here, which no validator of ours can; it is at least the largest number.
        return math.copysign(sys.float_info.max, number)


class MultipleOf:
    """Ajv's ``multipleOf``: the quotient of two doubles must print as a whole number. 0.3 is no multiple of 0.1."""

    def __init__(self, parent: dict[str, Any], divisor: Any, path: list[Any]) -> None:
        self._divisor = float(divisor)

    def validate(self, instance: Any) -> None:
        """Raises ValueError for a number that is no multiple."""
        if isinstance(instance, bool) or not isinstance(instance, int | float):
            return
        quotient = float(instance) / self._divisor if self._divisor else math.inf
        if not quotient.is_integer() or abs(quotient) >= _EXPONENT_FROM:
            raise ValueError(f"must be multiple of {self._divisor:g}")
