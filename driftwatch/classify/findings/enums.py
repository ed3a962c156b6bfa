"""Rules about lists of allowed values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.findings.rule import Draft, Example, Rule, listed, words
from driftwatch.classify.findings.walk import Spot

ADDED: Final = Rule(
    id="output-enum-value-added",
    level="breaking",
    direction="output",
    effect="widens",
    why="Readers that switch over the known values meet one they do not know.",
    words='`state` may now be "archived"',
    example=Example(
        {"type": "object", "properties": {"state": {"enum": ["open", "closed"]}}},
        {"type": "object", "properties": {"state": {"enum": ["open", "closed", "archived"]}}},
    ),
)
REMOVED: Final = Rule(
    id="input-enum-value-removed",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that still send the value are refused.",
    words='`state` may no longer be "archived"',
    example=Example(
        {"type": "object", "properties": {"state": {"enum": ["open", "closed", "archived"]}}},
        {"type": "object", "properties": {"state": {"enum": ["open", "closed"]}}},
    ),
)
RULES: Final = (ADDED, REMOVED)


def check(spot: Spot) -> Iterator[Draft]:
    """Values that are new to readers, or no longer taken from callers."""
    before, after = spot.old.listed, spot.new.listed
    if spot.direction == "output" and before is not None:
        yield from _added(spot, before, after)
    elif spot.direction == "input" and after is not None:
        yield from _removed(spot, before, after)


def _added(spot: Spot, before: list[Any], after: list[Any] | None) -> Iterator[Draft]:
    if after is None:
        if spot.new.types is not None and spot.old.types is not None and spot.new.types <= spot.old.types | {"null"}:
            message = (
                f"{spot.subject} may now be any {'/'.join(sorted(spot.new.types - {'null'}))} (was {_known(before)})"
            )
            yield Draft(ADDED, spot.pointer, message, spot.local)
        return
    new = _without(after, before)
    if new:
        yield Draft(ADDED, spot.pointer, f"{spot.subject} may now be {_known(new)}", spot.local)


def _removed(spot: Spot, before: list[Any] | None, after: list[Any]) -> Iterator[Draft]:
    if before is None:
        yield Draft(REMOVED, spot.pointer, f"{spot.subject} must now be {_known(after)}", spot.local)
        return
    gone = _without(before, after)
    if gone:
        yield Draft(REMOVED, spot.pointer, f"{spot.subject} may no longer be {_known(gone)}", spot.local)


def _without(values: list[Any], others: list[Any]) -> list[Any]:
    known = {exact.key(value) for value in others}
    return [value for value in values if exact.key(value) not in known]


def _known(values: list[Any]) -> str:
    return listed([words(value) for value in values], most=4) if values else "nothing"
