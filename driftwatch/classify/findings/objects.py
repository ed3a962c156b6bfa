"""Rules about keys that nobody declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from driftwatch.classify.findings.rule import Draft, Example, Rule
from driftwatch.classify.findings.walk import Spot

_OPEN: Final = {"type": "object", "properties": {"id": {"type": "string"}}}
_CLOSED: Final = {**_OPEN, "additionalProperties": False}

OPENED: Final = Rule(
    id="output-object-opened",
    level="breaking",
    direction="output",
    effect="widens",
    why="Clients that hold the closed schema refuse a result with any key they do not know.",
    words="results may now carry undeclared keys",
    example=Example(_CLOSED, _OPEN),
)
CLOSED: Final = Rule(
    id="input-object-closed",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that send a key nobody declared, which was ignored so far, are refused.",
    words="arguments may no longer carry undeclared keys",
    example=Example(_OPEN, _CLOSED),
)
RULES: Final = (OPENED, CLOSED)


def check(spot: Spot) -> Iterator[Draft]:
    """An object that was opened to readers or closed to callers."""
    old, new = spot.old, spot.new
    if not (_objects(spot) and old.closed != new.closed):
        return
    at = f"{spot.pointer}/additionalProperties" if "additionalProperties" in new.words else spot.pointer
    if spot.direction == "output" and old.closed:
        yield Draft(OPENED, at, f"{spot.subject} may now carry undeclared keys", spot.undeclared)
    elif spot.direction == "input" and new.closed:
        yield Draft(CLOSED, at, f"{spot.subject} may no longer carry undeclared keys", spot.undeclared)


def _objects(spot: Spot) -> bool:
    return all(side.types is None or "object" in side.types for side in (spot.old, spot.new))
