"""Rules about where references lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from driftwatch.classify.findings.rule import Draft, Example, Rule, name
from driftwatch.classify.findings.walk import Spot

RETARGETED: Final = Rule(
    id="ref-target-changed",
    level="info",
    direction="both",
    effect="both",
    why="Another definition is meant here than before. Whether it accepts other values is what the verdict says.",
    words="`owner` now refers to `Team` (was `Person`)",
    example=Example(
        {
            "type": "object",
            "$defs": {"Person": {"type": "object"}, "Team": {"type": "object", "minProperties": 1}},
            "properties": {"owner": {"$ref": "#/$defs/Person"}},
        },
        {
            "type": "object",
            "$defs": {"Person": {"type": "object"}, "Team": {"type": "object", "minProperties": 1}},
            "properties": {"owner": {"$ref": "#/$defs/Team"}},
        },
    ),
)
RULES: Final = (RETARGETED,)


def check(spot: Spot) -> Iterator[Draft]:
    """A reference that names another definition."""
    before, after = spot.old.reference, spot.new.reference
    if isinstance(before, str) and isinstance(after, str) and before != after:
        message = f"{spot.subject} now refers to {_last(after)} (was {_last(before)})"
        yield Draft(RETARGETED, spot.pointer, message)


def _last(reference: str) -> str:
    return name(reference.rsplit("/", 1)[-1] or reference)
