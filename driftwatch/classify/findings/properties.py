"""Rules about the fields of an object: added, removed, required, optional."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from driftwatch.classify.findings.rule import Draft, Example, Rule, name
from driftwatch.classify.findings.walk import Spot
from driftwatch.classify.keywords import escape

_ID: Final = {"id": {"type": "string"}}

OUTPUT_ADDED: Final = Rule(
    id="output-property-added",
    level="breaking",
    direction="output",
    effect="both",
    why="Breaks clients when the old object was closed: they refuse results with a key they do not know. In an open "
    "object it is news, not a break.",
    words="`trackingUrl` is new in results",
    example=Example(
        {"type": "object", "properties": _ID, "additionalProperties": False},
        {"type": "object", "properties": {**_ID, "trackingUrl": {"type": "string"}}, "additionalProperties": False},
    ),
)
OUTPUT_REMOVED: Final = Rule(
    id="output-property-removed",
    level="breaking",
    direction="output",
    effect="both",
    why="What is not declared may be missing, or be anything: readers that rely on the field have nothing to rely on.",
    words="`carrier` is no longer declared and may be missing",
    example=Example(
        {"type": "object", "properties": {"carrier": {"type": "string"}}, "required": ["carrier"]},
        {"type": "object", "properties": {}},
    ),
)
MADE_OPTIONAL: Final = Rule(
    id="output-property-made-optional",
    level="breaking",
    direction="output",
    effect="widens",
    why="Readers of the old contract take the field for granted; validating clients refuse a result without it.",
    words="`total` may now be missing",
    example=Example(
        {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]},
        {"type": "object", "properties": {"total": {"type": "number"}}},
    ),
)
REQUIRED_ADDED: Final = Rule(
    id="input-property-required-added",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that hold the old contract do not know the argument, so every call they make is refused.",
    words="callers must now send `region`",
    example=Example(
        {"type": "object", "properties": {"query": {"type": "string"}}},
        {
            "type": "object",
            "properties": {"query": {"type": "string"}, "region": {"type": "string"}},
            "required": ["region"],
        },
    ),
)
MADE_REQUIRED: Final = Rule(
    id="input-property-made-required",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that leave the argument out, as they were free to, are refused.",
    words="callers must now send `region` (was optional)",
    example=Example(
        {"type": "object", "properties": {"region": {"type": "string"}}},
        {"type": "object", "properties": {"region": {"type": "string"}}, "required": ["region"]},
    ),
)
INPUT_REMOVED: Final = Rule(
    id="input-property-removed",
    level="breaking",
    direction="input",
    effect="both",
    why="In a closed object callers that still send the argument are refused; in an open one it is silently ignored.",
    words="`verbose` is no longer accepted",
    example=Example(
        {"type": "object", "properties": {"verbose": {"type": "boolean"}}, "additionalProperties": False},
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
)
OPTIONAL_ADDED: Final = Rule(
    id="input-optional-property-added",
    level="breaking",
    direction="input",
    effect="narrows",
    why="In an open object a caller might already send that key with another kind of value; strictly a break, in "
    "practice nearly always harmless.",
    words="callers may now send `region`",
    example=Example(
        {"type": "object", "properties": {"query": {"type": "string"}}},
        {"type": "object", "properties": {"query": {"type": "string"}, "region": {"type": "string"}}},
    ),
)
RULES: Final = (
    OUTPUT_ADDED,
    OUTPUT_REMOVED,
    MADE_OPTIONAL,
    REQUIRED_ADDED,
    MADE_REQUIRED,
    INPUT_REMOVED,
    OPTIONAL_ADDED,
)


def check(spot: Spot) -> Iterator[Draft]:
    """Fields that came, went, or changed whether they must be there."""
    yield from _of_results(spot) if spot.direction == "output" else _of_arguments(spot)


def _of_results(spot: Spot) -> Iterator[Draft]:
    old, new = spot.old, spot.new
    for key in new.properties:
        if key not in old.properties:
            at = f"{new.homes.get(f'properties/{key}', spot.pointer)}/properties/{escape(key)}"
            yield Draft(OUTPUT_ADDED, at, f"{name(spot.below(key))} is new in results", partial(spot.only, key))
    for key in old.properties:
        if key not in new.properties:
            also = " and may be missing" if key in old.required - new.required else ""
            message = f"{name(spot.below(key))} is no longer declared{also}"
            yield Draft(OUTPUT_REMOVED, f"{spot.pointer}/properties/{escape(key)}", message, partial(spot.only, key))
    for key in sorted(old.required - new.required):
        if key in new.properties or key not in old.properties:
            at = f"{spot.pointer}/properties/{escape(key)}" if key in new.properties else f"{spot.pointer}/required"
            yield Draft(MADE_OPTIONAL, at, f"{name(spot.below(key))} may now be missing", partial(spot.only, key))


def _of_arguments(spot: Spot) -> Iterator[Draft]:
    old, new = spot.old, spot.new
    for key in sorted(new.required - old.required):
        rule = MADE_REQUIRED if key in old.properties else REQUIRED_ADDED
        at = f"{spot.pointer}/properties/{escape(key)}" if key in new.properties else f"{spot.pointer}/required"
        was = " (was optional)" if rule is MADE_REQUIRED else ""
        yield Draft(rule, at, f"callers must now send {name(spot.below(key))}{was}", partial(spot.only, key))
    for key in new.properties:
        if key not in old.properties and key not in new.required:
            at = f"{new.homes.get(f'properties/{key}', spot.pointer)}/properties/{escape(key)}"
            yield Draft(OPTIONAL_ADDED, at, f"callers may now send {name(spot.below(key))}", partial(spot.only, key))
    for key in old.properties:
        if key not in new.properties:
            word = "accepted" if new.closed else "declared"
            message = f"{name(spot.below(key))} is no longer {word}"
            yield Draft(INPUT_REMOVED, f"{spot.pointer}/properties/{escape(key)}", message, partial(spot.only, key))
