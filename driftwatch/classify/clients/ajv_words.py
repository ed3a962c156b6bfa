"""Complaints in Ajv's words, so that what people read here is what they find in a client's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import jsonschema_rs

from driftwatch.classify.gate import Refusal
from driftwatch.classify.keywords import pointer

#: by the keyword that refuses; each takes what jsonschema-rs says about the failure
_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "type": lambda kind: f"must be {','.join(kind.types)}",
    "required": lambda kind: f"must have required property '{kind.property}'",
    "const": lambda kind: "must be equal to constant",
    "enum": lambda kind: "must be equal to one of the allowed values",
    "additionalProperties": lambda kind: "must NOT have additional properties",
    "unevaluatedProperties": lambda kind: "must NOT have unevaluated properties",
    "maximum": lambda kind: f"must be <= {kind.limit}",
    "minimum": lambda kind: f"must be >= {kind.limit}",
    "exclusiveMaximum": lambda kind: f"must be < {kind.limit}",
    "exclusiveMinimum": lambda kind: f"must be > {kind.limit}",
    "maxLength": lambda kind: f"must NOT have more than {kind.limit} characters",
    "minLength": lambda kind: f"must NOT have fewer than {kind.limit} characters",
    "maxItems": lambda kind: f"must NOT have more than {kind.limit} items",
    "minItems": lambda kind: f"must NOT have fewer than {kind.limit} items",
    "maxProperties": lambda kind: f"must NOT have more than {kind.limit} properties",
    "minProperties": lambda kind: f"must NOT have fewer than {kind.limit} properties",
    "pattern": lambda kind: f'must match pattern "{kind.pattern}"',
    "format": lambda kind: f'must match format "{kind.format}"',
    "anyOf": lambda kind: "must match a schema in anyOf",
    "oneOf": lambda kind: "must match exactly one schema in oneOf",
    "not": lambda kind: "must NOT be valid",
    "falseSchema": lambda kind: "boolean schema is false",
    "propertyNames": lambda kind: "property name must be valid",
}


def of(error: jsonschema_rs.ValidationError) -> Refusal:
    """A complaint of jsonschema-rs as Ajv would put it; in its own words where Ajv's are not known."""
    name = error.kind.name
    if name == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        name = "additionalProperties"
    words = _WORDS.get(name)
    return Refusal(error.message if words is None else words(error.kind), pointer(tuple(error.instance_path)))
