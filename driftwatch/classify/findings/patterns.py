"""Rules about the form of strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from driftwatch.classify.findings.bounds import TIGHTENED
from driftwatch.classify.findings.rule import Draft, Example, Rule, name
from driftwatch.classify.findings.walk import Spot

PATTERN: Final = Rule(
    id="output-pattern-changed",
    level="breaking",
    direction="output",
    effect="both",
    why="Readers that parse the text rely on its form; validating clients refuse text of another form.",
    words="`id` need no longer match `^A-[0-9]+$`",
    example=Example(
        {"type": "object", "properties": {"id": {"type": "string", "pattern": "^A-[0-9]+$"}}},
        {"type": "object", "properties": {"id": {"type": "string"}}},
    ),
)
FORMAT: Final = Rule(
    id="output-format-changed",
    level="warning",
    direction="output",
    effect="both",
    why="By the specification a format refuses nothing, but TypeScript clients assert the formats they know.",
    words="`at` is now date (was date-time)",
    example=Example(
        {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}},
        {"type": "object", "properties": {"at": {"type": "string", "format": "date"}}},
    ),
)
RULES: Final = (PATTERN, FORMAT)


def check(spot: Spot) -> Iterator[Draft]:
    """Patterns and formats that changed."""
    before, after = spot.old.words.get("pattern"), spot.new.words.get("pattern")
    if before != after:
        yield from _pattern(spot, before, after)
    before, after = spot.old.words.get("format"), spot.new.words.get("format")
    if before != after and spot.direction == "output":
        message = f"{spot.subject} is now {after or 'of no format'} (was {before or 'of no format'})"
        yield Draft(FORMAT, f"{spot.pointer}/format" if after else spot.pointer, message)


def _pattern(spot: Spot, before: object, after: object) -> Iterator[Draft]:
    at = f"{spot.pointer}/pattern" if after else spot.pointer
    if spot.direction == "input":
        if isinstance(after, str):
            yield Draft(TIGHTENED, at, f"{spot.subject} must now match {name(after)}", spot.local)
    elif isinstance(after, str):
        was = f" (was {name(before)})" if isinstance(before, str) else ""
        yield Draft(PATTERN, at, f"{spot.subject} may now have the form {name(after)}{was}", spot.local)
    elif isinstance(before, str):
        yield Draft(PATTERN, at, f"{spot.subject} need no longer match {name(before)}", spot.local)
