"""A digest of what a schema accepts, blind to annotations and to order where order means nothing.

Equal digests: the schemas accept the same values. Different digests prove nothing, the classifier is asked then.
Draft differences count only where a keyword is used that the drafts read differently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from driftwatch.capture.canonical import canonical

SINGLE: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAME_MAPS: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_SETS: Final = frozenset({"allOf", "anyOf", "oneOf"})
_VERBATIM: Final = frozenset(
    {
        "$anchor",
        "$async",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$ref",
        "const",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "formatMaximum",
        "formatMinimum",
        "id",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "nullable",
        "pattern",
        "uniqueItems",
        # callers that hold the old header rule get HEADER_MISMATCH; fastmcp wraps results by its mark
        "x-fastmcp-wrap-result",
        "x-mcp-header",
    }
)
#: Keywords that some pair of drafts from 07 on reads differently: with one of them the dialect is part of the meaning
_DRAFT_SENSITIVE: Final = frozenset(
    {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "additionalItems",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "id",
        "maxContains",
        "minContains",
        "prefixItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_DRAFTS_ALIKE: Final = frozenset(
    {
        None,
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    }
)
_POINTER_SAFE: Final = frozenset({"$defs", "definitions", "properties"})


def semantic_digest(schema: Any) -> str:
    """sha256 (hex) of the meaning of ``schema`` (any JSON value; a malformed schema stands for itself)."""
    if not isinstance(schema, dict):
        return _sha(schema)
    if not all(_lands_on_a_definition(pointer) for pointer in _pointers(schema)):
        # A reference that enters an annotation, an unknown keyword or a list by position: there nothing may be
        # dropped or sorted, and finding out how far that reaches is the prover's work, so the document is kept whole.
        return _sha(["whole", schema])
    dialect = dialect_of(schema)
    sensitive = dialect not in _DRAFTS_ALIKE or any(map(_draft_sensitive, subschemas(schema)))
    return _sha([dialect if sensitive else None, _meaning(schema)])


def dialect_of(schema: Any) -> str | None:
    """The ``$schema`` a schema declares, without an empty fragment; None when it declares none."""
    declared = schema.get("$schema") if isinstance(schema, Mapping) else None
    return declared.removesuffix("#") if isinstance(declared, str) else None


def subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """``schema`` and every object at a schema position below it (never what ``enum`` or an annotation holds)."""
    if not isinstance(schema, dict):
        return
    yield schema
    for _, child in children(schema):
        yield from subschemas(child)


def children(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The (keyword, subschema) pairs directly below a schema object."""
    for key, value in node.items():
        if isinstance(value, dict) and (key in NAME_MAPS or key == "dependencies"):
            yield from ((key, child) for child in value.values())
        elif isinstance(value, list) and (key in LISTS or key == "items"):
            yield from ((key, child) for child in value)
        elif key in SINGLE:
            yield key, value


def _pointers(schema: Any) -> Iterator[str]:
    for node in subschemas(schema):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = node.get(keyword)
            fragment = target.partition("#")[2] if isinstance(target, str) else ""
            if fragment.startswith("/"):
                yield fragment


def _lands_on_a_definition(pointer: str) -> bool:
    steps = pointer.split("/")[1:]
    return len(steps) % 2 == 0 and all(step in _POINTER_SAFE for step in steps[::2])


def _meaning(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {key: _keyword(key, value) for key, value in schema.items() if _has_meaning(key)}


def _has_meaning(key: str) -> bool:
    return key in _VERBATIM or key in _KEYWORDS


def _keyword(key: str, value: Any) -> Any:
    if key in _VERBATIM:
        return value
    if key in SINGLE and not isinstance(value, list):
        return _meaning(value)
    if key in ("required", "enum", "type"):
        return _as_set(key, value)
    if isinstance(value, list):
        # digests stand for the members of a set, so that no level of nesting is written out again for the next one
        members = [_meaning(member) for member in value]
        return sorted(map(_sha, members)) if key in _SETS else members
    return {name: _named(key, entry) for name, entry in value.items()} if isinstance(value, dict) else value


def _named(key: str, entry: Any) -> Any:
    """An entry of a name map; ``dependentRequired`` and ``dependencies`` may hold lists of property names."""
    return _as_set(key, entry) if key in ("dependentRequired", "dependencies") else _meaning(entry)


_KEYWORDS: Final = SINGLE | LISTS | NAME_MAPS | {"dependencies", "dependentRequired", "enum", "required", "type"}


def _as_set(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return value if key in ("required", "enum", "type") else _meaning(value)
    return [member for _, member in sorted({_bytes(member): member for member in value}.items())]


def _draft_sensitive(node: Mapping[str, Any]) -> bool:
    if not _DRAFT_SENSITIVE.isdisjoint(node) or isinstance(node.get("items"), list):
        return True
    return "$ref" in node and sum(map(_has_meaning, node)) > 1


def _bytes(value: Any) -> bytes:
    return canonical(value).data


def _sha(value: Any) -> str:
    return hashlib.sha256(_bytes(value)).hexdigest()
