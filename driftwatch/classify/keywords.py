"""Where schemas live inside a schema, per dialect. The one table every reader of schemas shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from driftwatch.classify.dialect import Dialect, Schema

Shape = Literal["value", "schema", "list", "schema-or-list", "map", "dependencies"]

_DRAFT_04: Final[dict[str, Shape]] = {
    **dict.fromkeys(
        (
            *("type", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
            *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"),
            *("maxProperties", "minProperties", "required", "format"),
        ),
        "value",
    ),
    "not": "schema",
    "additionalProperties": "schema",
    "additionalItems": "schema",
    "items": "schema-or-list",
    "allOf": "list",
    "anyOf": "list",
    "oneOf": "list",
    "properties": "map",
    "patternProperties": "map",
    "definitions": "map",
    "dependencies": "dependencies",
}
_DRAFT_06: Final[dict[str, Shape]] = {**_DRAFT_04, "const": "value", "contains": "schema", "propertyNames": "schema"}
_DRAFT_07: Final[dict[str, Shape]] = {**_DRAFT_06, "if": "schema", "then": "schema", "else": "schema"}
_2019_09: Final[dict[str, Shape]] = {
    **_DRAFT_07,
    "$defs": "map",
    "dependentRequired": "value",
    "dependentSchemas": "map",
    "minContains": "value",
    "maxContains": "value",
    "unevaluatedItems": "schema",
    "unevaluatedProperties": "schema",
}
# additionalItems means nothing in 2020-12; "dependencies" is still asserted by jsonschema-rs and both Ajv clients.
_2020_12: Final[dict[str, Shape]] = {
    **{word: shape for word, shape in _2019_09.items() if word != "additionalItems"},
    "items": "schema",
    "prefixItems": "list",
}

VOCABULARY: Final[dict[Dialect, dict[str, Shape]]] = {
    "draft-04": _DRAFT_04,
    "draft-06": _DRAFT_06,
    "draft-07": _DRAFT_07,
    "2019-09": _2019_09,
    "2020-12": _2020_12,
}

#: keywords whose schemas judge the same instance as the schema that holds them
IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
#: name maps that only hold definitions
DEFINITIONS: Final = frozenset({"$defs", "definitions"})
#: what a schema says about itself without accepting or refusing anything
ANNOTATIONS: Final = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
        *("format", "contentEncoding", "contentMediaType", "contentSchema"),
    }
)


def children(schema: dict[str, Any], dialect: Dialect) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schemas directly inside ``schema`` with the pointer tokens that lead to them."""
    words = VOCABULARY[dialect]
    for keyword, value in schema.items():
        shape = words.get(keyword, "value")
        if shape != "value":
            for token, child in held(shape, value):
                yield (keyword, *token), child


def held(shape: Shape, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schemas that a keyword's ``value`` of this ``shape`` holds."""
    if shape in ("map", "dependencies") and isinstance(value, dict):
        for name, child in value.items():
            if is_schema(child):
                yield (name,), child
    elif shape in ("list", "schema-or-list") and isinstance(value, list):
        for index, child in enumerate(value):
            if is_schema(child):
                yield (str(index),), child
    elif shape in ("schema", "schema-or-list") and is_schema(value):
        yield (), value


def rebuilt(shape: Shape, value: Any, change: Callable[[Any], Any]) -> Any:
    """A keyword's ``value`` of this ``shape`` with every schema it holds changed; nothing else is touched."""
    if shape in ("schema", "schema-or-list") and is_schema(value):
        return change(value)
    inner = {tokens[0]: change(child) for tokens, child in held(shape, value) if tokens}
    if isinstance(value, list):
        return [inner.get(str(index), item) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: inner.get(name, item) for name, item in value.items()}
    return value


def is_schema(value: Any) -> bool:
    """Whether a JSON value has the form of a schema."""
    return isinstance(value, (dict, bool))


def positions(schema: Schema, dialect: Dialect) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every schema object in the document with its pointer tokens, outermost first. References are not followed."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while pending:
        at, node = pending.pop()
        if isinstance(node, dict):
            yield at, node
            pending.extend((at + tokens, child) for tokens, child in children(node, dialect))


def escape(token: str) -> str:
    """A token as JSON Pointer (RFC 6901) writes it."""
    return token.replace("~", "~0").replace("/", "~1")


def pointer(tokens: tuple[str | int, ...]) -> str:
    """Tokens as a JSON Pointer."""
    return "".join("/" + escape(str(token)) for token in tokens)
