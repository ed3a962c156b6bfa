"""What the SDKs demand of an output schema when they read a tool list; one that fails costs them the whole list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from driftwatch.wire.facts import Era


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong and where in the schema."""

    message: str
    pointer: str


def flaw(schema: Any, era: Era, property_: Callable[[Any], bool]) -> Flaw | None:
    """Why a client loses the list. ``property_``: what it takes for a property's schema, in the legacy era only."""
    if not isinstance(schema, dict):
        return Flaw("outputSchema: expected object", "")
    return _modern(schema) if era is Era.MODERN else _legacy(schema, property_)


def _modern(schema: dict[str, Any]) -> Flaw | None:
    if not isinstance(schema.get("$schema", ""), str):
        return Flaw("outputSchema.$schema: expected string", "/$schema")
    return None


def _legacy(schema: dict[str, Any], property_: Callable[[Any], bool]) -> Flaw | None:
    if schema.get("type") != "object":
        return Flaw('outputSchema.type: expected "object"', "/type")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(property_, properties.values())):
        return Flaw("outputSchema.properties: expected schemas by name", "/properties")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return Flaw("outputSchema.required: expected array of strings", "/required")
    return None
