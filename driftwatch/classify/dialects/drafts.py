"""The five drafts as tables: which keywords they know and what these mean. A keyword not listed is not known."""

from __future__ import annotations

from typing import Final

from referencing import jsonschema as specifications

from driftwatch.classify.dialects import applicators, collections, scalars, unevaluated
from driftwatch.classify.dialects.compiler import Dialect, Handler

_DRAFT_04: Final[dict[str, Handler]] = {
    "$ref": applicators.ref,
    "allOf": applicators.all_of,
    "anyOf": applicators.any_of,
    "oneOf": applicators.one_of,
    "not": applicators.not_,
    "type": scalars.type_04,
    "enum": scalars.enum_04,
    "minimum": scalars.bounds_04,
    "maximum": scalars.bounds_04,
    "multipleOf": scalars.multiple_of,
    "minLength": scalars.length,
    "maxLength": scalars.length,
    "pattern": scalars.pattern,
    "format": scalars.format_,
    "items": collections.items_or_tuple,
    "minItems": collections.array_size,
    "maxItems": collections.array_size,
    "uniqueItems": collections.unique,
    "properties": collections.properties,
    "patternProperties": collections.properties,
    "additionalProperties": collections.properties,
    "minProperties": collections.object_size,
    "maxProperties": collections.object_size,
    "required": collections.required,
    "dependencies": collections.dependencies,
}
_DRAFT_06: Final[dict[str, Handler]] = {
    **_DRAFT_04,
    "type": scalars.type_,
    "enum": scalars.enum,
    "const": scalars.const,
    "minimum": scalars.bounds,
    "maximum": scalars.bounds,
    "exclusiveMinimum": scalars.bounds,
    "exclusiveMaximum": scalars.bounds,
    "contains": collections.contains,
    "propertyNames": collections.property_names,
}
_DRAFT_07: Final[dict[str, Handler]] = {**_DRAFT_06, "if": applicators.if_}
_DRAFT_2019: Final[dict[str, Handler]] = {
    **_DRAFT_07,
    "$recursiveRef": applicators.recursive_ref,
    "contains": collections.counted_contains,
    "dependentRequired": collections.dependent_required,
    "dependentSchemas": collections.dependent_schemas,
    "unevaluatedProperties": unevaluated.unevaluated_properties,
    "unevaluatedItems": unevaluated.unevaluated_items_2019,
}
_DRAFT_2020: Final[dict[str, Handler]] = {
    **{keyword: handler for keyword, handler in _DRAFT_2019.items() if keyword != "$recursiveRef"},
    "$dynamicRef": applicators.dynamic_ref,
    "prefixItems": collections.items,
    "items": collections.items,
    "unevaluatedItems": unevaluated.unevaluated_items,
}

DIALECTS: Final = {
    dialect.name: dialect
    for dialect in (
        Dialect("draft-04", "draft-04/schema", specifications.DRAFT4, _DRAFT_04, True),
        Dialect("draft-06", "draft-06/schema", specifications.DRAFT6, _DRAFT_06, True),
        Dialect("draft-07", "draft-07/schema", specifications.DRAFT7, _DRAFT_07, True),
        Dialect("2019-09", "draft/2019-09/schema", specifications.DRAFT201909, _DRAFT_2019, False),
        Dialect("2020-12", "draft/2020-12/schema", specifications.DRAFT202012, _DRAFT_2020, False),
    )
}
DEFAULT: Final = "2020-12"


def named(uri: str) -> Dialect | None:
    """The dialect a ``$schema`` names, None for one we do not know."""
    return next((dialect for dialect in DIALECTS.values() if dialect.named_by(uri)), None)
