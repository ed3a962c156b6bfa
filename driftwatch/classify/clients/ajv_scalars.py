"""Keywords that hold no schema, as Ajv reads them, in the form jsonschema-rs accepts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.clients import formats, javascript
from driftwatch.classify.clients.ajv_document import CompileError, NotReadableError
from driftwatch.classify.clients.ajv_keywords import INHERITED, TYPES
from driftwatch.classify.pattern import match
from driftwatch.classify.pattern.syntax import PatternError, check

Scalar = Callable[[str, dict[str, Any], dict[str, Any], str], None]


def types(node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    """``type`` and OpenAPI's ``nullable``, which Ajv reads together."""
    written = node.get("type")
    names = list(written) if isinstance(written, list) else [written] if written else []
    unknown = [name for name in names if not isinstance(name, str) or name not in TYPES]
    if unknown:
        raise CompileError(f"type must be JSONType or JSONType[]: {','.join(map(str, names))}", f"{at}/type")
    if "null" in names:
        if node.get("nullable") is False:
            raise CompileError("type: null contradicts nullable: false", f"{at}/nullable")
    elif not names and "nullable" in node:
        raise CompileError('"nullable" cannot be used without "type"', f"{at}/nullable")
    elif node.get("nullable") is True:
        names.append("null")
    if names:
        out["type"] = sorted(set(names))


def readable(pattern: str, at: str) -> None:
    """Raises CompileError for a pattern no JavaScript engine compiles with the ``u`` flag."""
    try:
        check(pattern)
    except PatternError as error:
        raise CompileError(f"Invalid regular expression: /{pattern}/u: {error}", at) from error
    if not match.supported(pattern):
        raise NotReadableError(f"the pattern {pattern!r} is beyond our validator")


def _kept(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    out[word] = javascript.value(node[word])


def _count(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    limit = javascript.value(node[word])
    whole = math.ceil(limit) if word.startswith("min") else math.floor(limit)
    if whole >= 0:
        out[word] = whole
    elif word.startswith("max"):
        kind = {"maxLength": "string", "maxItems": "array", "maxProperties": "object"}.get(word)
        if kind is not None:
            out["allOf"] = [*out.get("allOf", ()), {"not": {"type": kind}}]


def _multiple(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    out[javascript.MULTIPLE_OF] = javascript.value(node[word])


def _pattern(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    readable(node[word], at)
    out[word] = node[word]


def _format(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    name = node[word]
    if name in formats.STRINGS:
        out[word] = name
    elif name in formats.NUMBERS:
        out["allOf"] = [*out.get("allOf", ()), formats.NUMBERS[name]]


def _required(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    names = {str(name) for name in node[word]} - INHERITED
    if names:
        out[word] = sorted({*out.get(word, ()), *names})


def _dependent(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    if any(not isinstance(names, list) for names in node[word].values()):
        raise CompileError("dependentRequired holds no list of names", at)
    out[word] = {name: sorted({str(item) for item in names}) for name, names in node[word].items()}


def _enum(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    if not node[word]:
        raise CompileError("enum must have non-empty array", at)
    out[word] = list({exact.key(item): item for item in javascript.value(node[word])}.values())


def _unique(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    if node[word]:
        out[word] = True


def _limit(word: str, node: dict[str, Any], out: dict[str, Any], at: str) -> None:
    if "format" not in node:
        raise CompileError(f"parent schema must have dependencies of {word}: format", at)
    name = node["format"]
    if name in {"date", "time", "date-time", "iso-time", "iso-date-time"}:
        raise NotReadableError(f"`{word}` is beyond our validator")
    if name in formats.STRINGS or name in formats.NUMBERS:
        raise CompileError(f'"{word}": format "{name}" does not define "compare" function', at)


SCALARS: Final[Mapping[str, Scalar]] = {
    **dict.fromkeys(("const", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _kept),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), _count),
    **dict.fromkeys(("maxContains", "minContains"), _count),
    **dict.fromkeys(("formatMaximum", "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum"), _limit),
    "multipleOf": _multiple,
    "pattern": _pattern,
    "format": _format,
    "required": _required,
    "dependentRequired": _dependent,
    "enum": _enum,
    "uniqueItems": _unique,
}
