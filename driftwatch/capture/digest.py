"""The parts of a tool definition and their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from driftwatch.capture.canonical import canonical
from driftwatch.capture.model import Part
from driftwatch.capture.semantic import semantic_digest

#: Every other key (``_meta``, ``icons``, ``execution``, vendor fields) belongs to the part ``meta``; the name to none.
PART_OF: Final[Mapping[str, Part]] = {
    "inputSchema": Part.INPUT,
    "outputSchema": Part.OUTPUT,
    "annotations": Part.ANNOTATIONS,
    "title": Part.TEXT,
    "description": Part.TEXT,
}
_SCHEMAS: Final = {Part.INPUT: "inputSchema", Part.OUTPUT: "outputSchema"}


def parts(definition: Mapping[str, Any]) -> dict[Part, Any]:
    """The parts present in a parsed definition.

    ``input``, ``output`` and ``annotations`` are the values themselves (a null counts as absent, as clients read it);
    ``text`` and ``meta`` are objects of their keys.
    """
    found: dict[Part, Any] = {}
    for key, value in definition.items():
        part = PART_OF.get(key, Part.META)
        if key == "name" or (value is None and part is not Part.META):
            continue
        if part in (Part.TEXT, Part.META):
            found.setdefault(part, {})[key] = value
        else:
            found[part] = value
    return found


def schemas(definition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The input and output schemas of a parsed definition that are JSON objects."""
    return [value for part, value in parts(definition).items() if part in _SCHEMAS and isinstance(value, dict)]


def part_digests(definition: Mapping[str, Any]) -> dict[str, str]:
    """sha256 (hex) of the canonical form of each present part."""
    return {part.value: hashlib.sha256(canonical(value).data).hexdigest() for part, value in parts(definition).items()}


def semantic_digests(definition: Mapping[str, Any]) -> dict[str, str | None]:
    """Semantic digest (hex) of the input and the output schema; None where there is no schema."""
    found = parts(definition)
    return {part.value: semantic_digest(found[part]) if part in found else None for part in _SCHEMAS}
