"""Keywords about arrays and objects."""

from __future__ import annotations

from driftwatch.classify.dialects.compiler import Compiler, Spot
from driftwatch.classify.dialects.scalars import Raw, invalid, natural
from driftwatch.classify.ir import TOP, Node, keywords, type_
from driftwatch.classify.ir.boolean import all_of, any_of, not_
from driftwatch.classify.values import ARRAY, OBJECT


def array_size(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``minItems`` and ``maxItems``."""
    return keywords.size(ARRAY, natural(raw, "minItems", spot) or 0, natural(raw, "maxItems", spot))


def unique(_: Compiler, raw: Raw, __: Spot) -> Node:
    """``uniqueItems``."""
    return keywords.unique() if raw["uniqueItems"] is True else TOP


def items(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``prefixItems`` and ``items`` (2020-12)."""
    prefix = raw.get("prefixItems", [])
    if not isinstance(prefix, list):
        raise invalid(spot, "prefixItems")
    nodes = [compiler.node(each, spot.down("prefixItems", index)) for index, each in enumerate(prefix)]
    return keywords.items(nodes, compiler.node(raw.get("items", True), spot.down("items")))


def items_or_tuple(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``items`` as a schema or a list with ``additionalItems`` (up to 2019-09)."""
    value = raw["items"]
    if not isinstance(value, list):
        return keywords.items([], compiler.node(value, spot.down("items")))
    nodes = [compiler.node(each, spot.down("items", index)) for index, each in enumerate(value)]
    return keywords.items(nodes, compiler.node(raw.get("additionalItems", True), spot.down("additionalItems")))


def contains(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``contains`` (draft 06 and 07)."""
    return keywords.contains(compiler.node(raw["contains"], spot.down("contains")), 1, None)


def counted_contains(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``contains`` with ``minContains`` and ``maxContains`` (from 2019-09)."""
    least = natural(raw, "minContains", spot)
    most = natural(raw, "maxContains", spot)
    item = compiler.node(raw["contains"], spot.down("contains"))
    return keywords.contains(item, 1 if least is None else least, most)


def object_size(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``minProperties`` and ``maxProperties``."""
    return keywords.size(OBJECT, natural(raw, "minProperties", spot) or 0, natural(raw, "maxProperties", spot))


def required(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``required``."""
    names = raw["required"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise invalid(spot, "required")
    return keywords.required(names)


def properties(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``properties``, ``patternProperties`` and ``additionalProperties``."""
    named, patterned = raw.get("properties", {}), raw.get("patternProperties", {})
    if not isinstance(named, dict) or not isinstance(patterned, dict):
        raise invalid(spot, "properties")
    names = {name: compiler.node(named[name], spot.down("properties", name)) for name in sorted(named)}
    patterns = {
        source: compiler.node(patterned[source], spot.down("patternProperties", source)) for source in sorted(patterned)
    }
    rest = raw.get("additionalProperties", True)
    return keywords.props(names, patterns, compiler.node(rest, spot.down("additionalProperties")))


def property_names(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``propertyNames``."""
    return keywords.keys(compiler.node(raw["propertyNames"], spot.down("propertyNames")))


def has_key(name: str) -> Node:
    """Objects with this key, and nothing else."""
    return all_of([type_(OBJECT), keywords.required([name])])


def dependent_required(_: Compiler, raw: Raw, spot: Spot) -> Node:
    """``dependentRequired``."""
    table = raw["dependentRequired"]
    if not isinstance(table, dict) or not all(isinstance(names, list) for names in table.values()):
        raise invalid(spot, "dependentRequired")
    return all_of([any_of([not_(has_key(name)), keywords.required(table[name])]) for name in sorted(table)])


def dependent_schemas(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``dependentSchemas``."""
    return _dependent(compiler, raw, spot, "dependentSchemas")


def dependencies(compiler: Compiler, raw: Raw, spot: Spot) -> Node:
    """``dependencies``. From 2019-09 on it is asserted too, as the TypeScript clients and jsonschema-rs do."""
    return _dependent(compiler, raw, spot, "dependencies")


def _dependent(compiler: Compiler, raw: Raw, spot: Spot, keyword: str) -> Node:
    table = raw[keyword]
    if not isinstance(table, dict):
        raise invalid(spot, keyword)
    parts: list[Node] = []
    for name in sorted(table):
        needed = table[name]
        if isinstance(needed, list):
            then = keywords.required(needed)
        else:
            then = compiler.node(needed, spot.down(keyword, name))
        parts.append(any_of([not_(has_key(name)), then]))
    return all_of(parts)
