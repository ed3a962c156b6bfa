"""A JSON schema in a few words: ``string or null``, ``integer ≥ 1``, ``list of object, 1 or more``. Pure.

Everything here is hostile input: every part is capped, nothing is fetched, nothing is compiled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

#: caps: a line for people, not a copy of the schema
MAX_WORDS: Final = 240
MAX_CHOICES: Final = 8
MAX_BRANCHES: Final = 6
MAX_VALUE: Final = 60
MAX_DEPTH: Final = 12
MAX_REF_HOPS: Final = 16
#: subschemas looked at for one line: a few dozen definitions that refer to each other twice make 2^n paths
MAX_STEPS: Final = 120

Schema = Any


@dataclass(slots=True)
class _Reading:
    """The document that references lead into, and how many more subschemas this line may look at."""

    root: Schema
    steps: int = MAX_STEPS


def resolve(schema: Schema, root: Schema) -> tuple[Schema, str | None, str | None]:
    """Follow local ``$ref`` (``#``, ``#/…``) hops.

    Answers (schema, pointer it was found at or None, name of the last definition or None). A reference that leads
    outside the document, nowhere, or in a circle is answered as it stands.
    """
    where: str | None = None
    name: str | None = None
    seen: set[str] = set()
    while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str) and len(seen) < MAX_REF_HOPS:
        reference = schema["$ref"]
        if reference in seen:
            break
        seen.add(reference)
        found, target = lookup(root, reference)
        if not found:
            break
        name = reference.rsplit("/", 1)[-1] or None
        where = reference[1:]
        schema = _with_siblings(schema, target)
    return schema, where, name


def lookup(root: Schema, reference: str) -> tuple[bool, Schema]:
    """The subschema at ``#`` or ``#/…``; (False, None) for anything else."""
    if reference == "#":
        return True, root
    if not reference.startswith("#/"):
        return False, None
    node = root
    for token in reference[2:].split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 8 and int(key) < len(node):
            node = node[int(key)]
        else:
            return False, None
    return True, node


def words(schema: Schema, root: Schema) -> str:
    """What a value of this schema is, in at most MAX_WORDS characters."""
    return clip(_words(schema, _Reading(root), 0), MAX_WORDS)


def value(item: Any) -> str:
    """A JSON value on one short line."""
    return clip(json.dumps(item, ensure_ascii=False, default=str), MAX_VALUE)


def choice(item: Any) -> str:
    """An enum member: a plain word stays bare, everything else is JSON."""
    if isinstance(item, str) and item and all(c.isalnum() or c in "_-./" for c in item) and item not in _LITERALS:
        return clip(item, MAX_VALUE)
    return value(item)


def clip(text: str, size: int) -> str:
    """At most ``size`` characters, with an ellipsis where something was cut."""
    return text if len(text) <= size else text[: size - 1] + "…"


def branches(schema: Mapping[str, Any]) -> Sequence[Schema] | None:
    """The alternatives of anyOf or oneOf, None without any."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            return options
    return None


def is_null(schema: Schema) -> bool:
    """True for a schema that says nothing but null."""
    return isinstance(schema, Mapping) and (schema.get("type") in ("null", ["null"]) or schema.get("const", 0) is None)


_LITERALS: Final = frozenset({"true", "false", "null"})
_CONDITIONS: Final = ("if", "not", "dependentSchemas", "dependentRequired", "dependencies")


def _words(schema: Schema, doc: _Reading, depth: int) -> str:
    doc.steps -= 1
    schema, _, name = resolve(schema, doc.root)
    if schema is True or schema == {}:
        return "anything"
    if schema is False:
        return "nothing"
    if not isinstance(schema, Mapping):
        return "not a schema"
    if depth > MAX_DEPTH or doc.steps < 0:
        return name or "…"
    if isinstance(schema.get("$ref"), str):
        return f"see {value(schema['$ref'])}"
    return ", ".join([_core(schema, doc, depth, name), *_conditions(schema)])


def _core(schema: Mapping[str, Any], doc: _Reading, depth: int, name: str | None) -> str:
    if "const" in schema:
        return f"exactly {value(schema['const'])}"
    if isinstance(schema.get("enum"), list):
        return _choices(schema["enum"])
    alternatives = branches(schema)
    if alternatives is not None:
        return _either(alternatives, doc, depth)
    if isinstance(schema.get("allOf"), list) and schema["allOf"] and "type" not in schema:
        parts = [_words(part, doc, depth + 1) for part in schema["allOf"][:MAX_BRANCHES]]
        return " and ".join(dict.fromkeys(parts))
    return " or ".join(_typed(kind, schema, doc, depth, name) for kind in types(schema))


def types(schema: Mapping[str, Any]) -> list[str]:
    """The types a schema names, or the one its keywords suggest; ``any`` when there is no hint. null comes last."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named]
    if isinstance(named, list) and named:
        return sorted((str(item) for item in named[:MAX_BRANCHES]), key=lambda item: item == "null")
    if isinstance(schema.get("properties"), Mapping):
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    return ["any"]


def _choices(options: list[Any]) -> str:
    if not options:
        return "nothing"
    plain = [option for option in options if option is not None]
    shown = [choice(option) for option in plain[:MAX_CHOICES]]
    if len(plain) > MAX_CHOICES:
        shown.append(f"{len(plain) - MAX_CHOICES} more")
    text = f"one of {', '.join(shown)}" if len(plain) > 1 else f"exactly {shown[0]}" if shown else ""
    return " or ".join(part for part in (text, "null" if len(plain) < len(options) else "") if part)


def _either(options: Sequence[Schema], doc: _Reading, depth: int) -> str:
    ordered = sorted(options[: MAX_BRANCHES * 2], key=is_null)
    parts = list(dict.fromkeys(_words(option, doc, depth + 1) for option in ordered))
    if len(parts) > MAX_BRANCHES or len(options) > MAX_BRANCHES * 2:
        hidden = len(options) - MAX_BRANCHES
        return f"{' or '.join(parts[:MAX_BRANCHES])} or {hidden} more kinds"
    return " or ".join(parts)


def _typed(kind: str, schema: Mapping[str, Any], doc: _Reading, depth: int, name: str | None) -> str:
    if kind == "array":
        return _array(schema, doc, depth)
    if kind == "object":
        return _object(schema, doc, depth, name)
    if kind in ("integer", "number"):
        return _number(kind, schema)
    if kind == "string":
        return _string(schema)
    return "anything" if kind == "any" else clip(kind, MAX_VALUE)


def _string(schema: Mapping[str, Any]) -> str:
    parts = ["string"]
    if isinstance(schema.get("format"), str):
        parts.append(clip(schema["format"], MAX_VALUE))
    parts.extend(_range(schema, "minLength", "maxLength", "characters"))
    if isinstance(schema.get("pattern"), str):
        parts.append(f"like {clip(schema['pattern'], MAX_VALUE)}")
    return ", ".join(parts)


def _number(kind: str, schema: Mapping[str, Any]) -> str:
    bounds = []
    low, high = schema.get("minimum"), schema.get("maximum")
    if _is_number(low) and _is_number(high):
        bounds.append(f"{low} to {high}")
    else:
        bounds.extend(f"{sign} {limit}" for sign, limit in (("≥", low), ("≤", high)) if _is_number(limit))
    bounds.extend(
        f"{sign} {schema[key]}"
        for key, sign in (("exclusiveMinimum", ">"), ("exclusiveMaximum", "<"))
        if _is_number(schema.get(key))
    )
    if _is_number(schema.get("multipleOf")):
        bounds.append(f"multiple of {schema['multipleOf']}")
    return clip(" ".join([kind, ", ".join(bounds)]).strip(), MAX_VALUE * 2)


def _array(schema: Mapping[str, Any], doc: _Reading, depth: int) -> str:
    prefix = schema.get("prefixItems")
    items = schema.get("items", True)
    if isinstance(items, list):
        prefix, items = items, schema.get("additionalItems", True)
    parts = []
    if isinstance(prefix, list) and prefix:
        parts.append(f"list: {', then '.join(_words(part, doc, depth + 1) for part in prefix[:MAX_BRANCHES])}")
        if items is not False and schema.get("maxItems") != len(prefix):
            parts.append("then more")
    elif items is True or items == {}:
        parts.append("list")
    else:
        parts.append(f"list of {_words(items, doc, depth + 1)}")
    parts.extend(_range(schema, "minItems", "maxItems", ""))
    if schema.get("uniqueItems") is True:
        parts.append("no repeats")
    return ", ".join(parts)


def _object(schema: Mapping[str, Any], doc: _Reading, depth: int, name: str | None) -> str:
    described = isinstance(schema.get("properties"), Mapping) and schema["properties"]
    rest = schema.get("additionalProperties", True)
    if not described and isinstance(rest, Mapping) and rest:
        parts = [f"object, each key {_words(rest, doc, depth + 1)}"]
    else:
        title = name or schema.get("title")
        parts = [clip(title, MAX_VALUE) if depth and isinstance(title, str) and title else "object"]
    parts.extend(_range(schema, "minProperties", "maxProperties", "keys"))
    return ", ".join(parts)


def _range(schema: Mapping[str, Any], low_key: str, high_key: str, noun: str) -> list[str]:
    low, high = schema.get(low_key), schema.get(high_key)
    tail = f" {noun}" if noun else ""
    if _is_number(low) and _is_number(high):
        return [f"exactly {low}{tail}" if low == high else f"{low} to {high}{tail}"]
    if low is not None and _is_number(low) and low > 0:
        return [f"{low} or more{tail}"]
    if _is_number(high):
        return [f"up to {high}{tail}"]
    return []


def _conditions(schema: Mapping[str, Any]) -> list[str]:
    return ["with conditions"] if any(keyword in schema for keyword in _CONDITIONS) else []


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float | Decimal) and not isinstance(item, bool)


def _with_siblings(reference: Mapping[str, Any], target: Schema) -> Schema:
    """The target with the notes that stand beside the reference, where they only add words."""
    notes = {key: reference[key] for key in ("description", "default", "title", "deprecated") if key in reference}
    return {**target, **notes} if notes and isinstance(target, Mapping) else target
