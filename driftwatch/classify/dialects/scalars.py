"""Keywords about types, values, numbers and strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from driftwatch.classify import ir
from driftwatch.classify.dialects.compiler import Compiler, Spot
from driftwatch.classify.dialects.errors import SchemaError
from driftwatch.classify.ir import Node, Number, keywords
from driftwatch.classify.ir.boolean import all_of
from driftwatch.classify.values import ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING, WHOLE, exact, plain

Raw = Mapping[str, Any]

_MASKS: Final = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": INTEGER | WHOLE,
    "number": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
#: draft 04: "a JSON number without a fraction or exponent part", so 1.0 is no integer
_MASKS_04: Final = _MASKS | {"integer": INTEGER}


def invalid(spot: Spot, keyword: str) -> SchemaError:
    """A keyword with a value its draft does not allow."""
    return SchemaError("invalid-schema", f"{spot.pointer}/{keyword}")


def _type(masks: Mapping[str, int], raw: Raw, spot: Spot) -> Node:
    value = raw["type"]
    mask = 0
    for name in [value] if isinstance(value, str) else value:
        if name not in masks:
            raise invalid(spot, "type")
        mask |= masks[name]
    return ir.type_(mask)


def type_(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``type`` from draft 06 on."""
    return _type(_MASKS, raw, spot)


def type_04(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``type`` in draft 04."""
    return _type(_MASKS_04, raw, spot)


def enum(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``enum`` from draft 06 on."""
    values = raw["enum"]
    if not isinstance(values, list):
        raise invalid(spot, "enum")
    return keywords.enum(map(plain, values))


def enum_04(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``enum`` in draft 04: ``1`` and ``1.0`` stay apart, because only one of them is an integer."""
    values = raw["enum"]
    if not isinstance(values, list):
        raise invalid(spot, "enum")
    return keywords.enum(values)


def const(_: Compiler, raw: Raw, __: Spot) -> Node:
    """``const``."""
    return keywords.enum([plain(raw["const"])])


def numeral(raw: Raw, keyword: str, spot: Spot) -> Number | None:
    """The exact number a keyword holds, None when it is absent."""
    value = raw.get(keyword)
    if value is None:
        return None
    if isinstance(value, bool | str | list | dict):
        raise invalid(spot, keyword)
    return exact(value)


def natural(raw: Raw, keyword: str, spot: Spot) -> int | None:
    """The size a keyword holds, None when it is absent. ``2.0`` is 2."""
    value = numeral(raw, keyword, spot)
    if value is None:
        return None
    if not isinstance(value, int) or value < 0:
        raise invalid(spot, keyword)
    return value


def bounds(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``minimum``, ``maximum`` and their exclusive forms from draft 06 on."""
    return all_of(
        [
            keywords.bounds(numeral(raw, "minimum", spot), False, numeral(raw, "maximum", spot), False),
            keywords.bounds(numeral(raw, "exclusiveMinimum", spot), True, numeral(raw, "exclusiveMaximum", spot), True),
        ]
    )


def bounds_04(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``minimum`` and ``maximum`` with boolean ``exclusiveMinimum`` and ``exclusiveMaximum``."""
    low, high = numeral(raw, "minimum", spot), numeral(raw, "maximum", spot)
    return keywords.bounds(low, raw.get("exclusiveMinimum") is True, high, raw.get("exclusiveMaximum") is True)


def multiple_of(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``multipleOf``."""
    step = numeral(raw, "multipleOf", spot)
    if step is None or step <= 0:
        raise invalid(spot, "multipleOf")
    return keywords.multiple_of(step)


def length(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``minLength`` and ``maxLength``, in code points."""
    return keywords.size(STRING, natural(raw, "minLength", spot) or 0, natural(raw, "maxLength", spot))


def pattern(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``pattern``."""
    source = raw["pattern"]
    if not isinstance(source, str):
        raise invalid(spot, "pattern")
    return keywords.pattern(source)


def format_(compiler: Compiler, raw: Raw, _: Spot) -> Node:
    """``format``: an annotation, unless the policy asserts it; then a property of strings nothing else is known of."""
    if not compiler.formats:
        return ir.TOP
    return keywords.opaque("format", str(raw["format"]), ir.BESIDE[STRING])
