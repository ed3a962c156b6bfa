"""Which kind of value proves a break.

One made of declared keys; one that needs keys nobody declared; or a number beyond ±(2^53 − 1), which many clients
cannot hold.
"""

from __future__ import annotations

from typing import Any

from driftwatch.classify import exact
from driftwatch.classify.dialect import Schema
from driftwatch.classify.normal import Normal
from driftwatch.classify.pattern.match import matches
from driftwatch.classify.verdict import Via
from driftwatch.classify.witness.places import Places


def via(writer: Normal, value: Any) -> Via:
    """What kind of witness ``value`` is; ``writer`` is the schema that accepts it."""
    if exact.unsafe(value):
        return "unsafe-number"
    return "declared" if declared(writer, value) else "undeclared-key"


def declared(writer: Normal, value: Any) -> bool:
    """Whether every key of every object in ``value`` is one the writer's schema knows.

    Known: named or matched by an in-place schema, or covered by a non-trivial ``additionalProperties``. An object
    whose schemas have no ``properties`` at all is free-form: all its keys are known.
    """
    places = Places(writer)
    return _declared(places, [writer.body], value)


def _declared(places: Places, schemas: list[Schema], value: Any) -> bool:
    if isinstance(value, list):
        judges = places.in_place(schemas)
        return all(_declared(places, places.item(judges, index), item) for index, item in enumerate(value))
    if not isinstance(value, dict):
        return True
    judges = places.in_place(schemas)
    free = not any("properties" in judge for judge in judges)
    return all(
        (free or any(_names(judge, name) for judge in judges)) and _declared(places, places.member(judges, name), item)
        for name, item in value.items()
    )


def _names(judge: dict[str, Any], name: str) -> bool:
    if name in judge.get("properties", {}) or name in judge.get("required", ()):
        return True
    if any(matches(pattern, name) for pattern in judge.get("patternProperties", {})):
        return True
    rest = judge.get("additionalProperties", True)
    return isinstance(rest, dict) and bool(rest)
