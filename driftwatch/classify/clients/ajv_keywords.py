"""What Ajv 8 knows: which keywords each of its classes applies, and the JSON type each keyword's value must have.

Ajv compiles without looking at the meta-schema here, but refuses a keyword whose value has the wrong type. Measured on
Ajv 8.18 and 8.20 as the TypeScript SDKs set it up (``strict`` and ``validateSchema`` off, formats on).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

#: Ajv's classes: ``classic`` reads draft-07, whatever the document says
Engine = Literal["classic", "2019-09", "2020-12"]

_SCHEMA: Final = ("object", "boolean")
_ANY: Final[tuple[str, ...]] = ()

_SHARED: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("$schema", "$id", "$defs", "$vocabulary", "$comment", "definitions", "$async"), _ANY),
    **dict.fromkeys(("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"), _ANY),
    **dict.fromkeys(("contentMediaType", "contentEncoding", "contentSchema", "const", "id"), _ANY),
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"), ("number",)),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), ("number",)),
    **dict.fromkeys(("$ref", "pattern", "format"), ("string",)),
    **dict.fromkeys(("required", "enum", "allOf", "anyOf", "oneOf"), ("array",)),
    **dict.fromkeys(("uniqueItems", "nullable"), ("boolean",)),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"), _SCHEMA),
    **dict.fromkeys(("properties", "patternProperties", "dependencies"), ("object",)),
    **dict.fromkeys(
        ("formatMaximum", "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum"), ("string",)
    ),
    "type": ("string", "array"),
}
_TUPLES: Final[dict[str, tuple[str, ...]]] = {"items": ("object", "array", "boolean"), "additionalItems": _SCHEMA}
_NEXT: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), ("object",)),
    **dict.fromkeys(("maxContains", "minContains"), ("number",)),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _SCHEMA),
    **dict.fromkeys(("$dynamicAnchor", "$dynamicRef", "$recursiveRef"), ("string",)),
    "$recursiveAnchor": ("boolean",),
}

KEYWORDS: Final[Mapping[Engine, Mapping[str, tuple[str, ...]]]] = {
    "classic": {**_SHARED, **_TUPLES},
    "2019-09": {**_SHARED, **_TUPLES, **_NEXT},
    "2020-12": {**_SHARED, **_NEXT, "items": _SCHEMA, "prefixItems": ("array",)},
}
TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})

#: names that every JavaScript object answers to: Ajv takes them for present
INHERITED: Final = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
        *("valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__"),
    }
)


def has_type(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a keyword's value has one of the JSON types; no names: anything goes."""
    return not names or json_type(value) in names


def json_type(value: Any) -> str:
    """The JSON type of a value, as JavaScript tells types apart: integers are numbers."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    kinds: tuple[tuple[type, str], ...] = ((str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "number")


def idle(engine: Engine, node: Any) -> bool:
    """Whether Ajv does not compile this schema at all, because it holds no keyword it knows."""
    if isinstance(node, bool):
        return node
    return isinstance(node, dict) and not any(word in KEYWORDS[engine] for word in node)
