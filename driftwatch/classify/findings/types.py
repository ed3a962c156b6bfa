"""Rules about the type of a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from driftwatch.classify.findings.rule import Draft, Example, Rule, listed
from driftwatch.classify.findings.walk import Spot

NULL_ADDED: Final = Rule(
    id="output-null-added",
    level="breaking",
    direction="output",
    effect="widens",
    why="Code that reads the field expects a value there; clients that validate results against the old schema refuse "
    "the whole result.",
    words="`status` may now be null",
    example=Example(
        {"type": "object", "properties": {"status": {"type": "string"}}},
        {"type": "object", "properties": {"status": {"type": ["string", "null"]}}},
    ),
)
WIDENED: Final = Rule(
    id="output-type-widened",
    level="breaking",
    direction="output",
    effect="widens",
    why="Results may hold values of a kind that readers of the old contract have never seen.",
    words="`total` may now be number (was integer)",
    example=Example(
        {"type": "object", "properties": {"total": {"type": "integer"}}},
        {"type": "object", "properties": {"total": {"type": "number"}}},
    ),
)
NARROWED: Final = Rule(
    id="input-type-narrowed",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that still send a value of the old kind are refused.",
    words="`id` must now be integer (was integer or string)",
    example=Example(
        {"type": "object", "properties": {"id": {"type": ["integer", "string"]}}},
        {"type": "object", "properties": {"id": {"type": "integer"}}},
    ),
)
RULES: Final = (NULL_ADDED, WIDENED, NARROWED)


def check(spot: Spot) -> Iterator[Draft]:
    """What the types of a position now admit or refuse."""
    if spot.direction == "output":
        yield from _widened(spot)
    else:
        yield from _narrowed(spot)


def _widened(spot: Spot) -> Iterator[Draft]:
    before, after = spot.old.types, spot.new.types
    if spot.old.nothing and not spot.new.nothing:
        yield Draft(WIDENED, spot.pointer, f"{spot.subject} may now be there", spot.local)
    if before is None or before == after:
        return
    if after is None:
        if not (spot.new.words.get("enum") or "const" in spot.new.words):
            message = f"{spot.subject} may now be anything (was {kinds(before)})"
            yield Draft(WIDENED, spot.pointer, message, spot.local)
        return
    if "null" in after - before:
        yield Draft(NULL_ADDED, spot.pointer, f"{spot.subject} may now be null", spot.local)
    if gained(before, after) and not _both_listed(spot):
        message = f"{spot.subject} may now be {kinds(after - {'null'})} (was {kinds(before)})"
        yield Draft(WIDENED, spot.pointer, message, spot.local)


def _narrowed(spot: Spot) -> Iterator[Draft]:
    before, after = spot.old.types, spot.new.types
    if spot.new.nothing and not spot.old.nothing:
        yield Draft(NARROWED, spot.pointer, f"{spot.subject} is no longer accepted", spot.local)
    if after is None or before == after:
        return
    if before is None:
        if spot.old.branches or "not" in spot.old.words:
            return
        message = f"{spot.subject} must now be {kinds(after)} (was anything)"
    elif before - after == {"null"}:
        message = f"{spot.subject} may no longer be null"
    elif gained(after, before) and not _both_listed(spot):
        message = f"{spot.subject} must now be {kinds(after)} (was {kinds(before)})"
    else:
        return
    yield Draft(NARROWED, spot.pointer, message, spot.local)


def _both_listed(spot: Spot) -> bool:
    """Whether both sides list their values, so that the list says more than the types."""
    return spot.old.listed is not None and spot.new.listed is not None


def gained(before: frozenset[str], after: frozenset[str]) -> bool:
    """Whether ``after`` has a type other than null that ``before`` does not cover; numbers cover integers."""
    covered = before | ({"integer"} if "number" in before else set()) | {"null"}
    return bool(after - covered)


def kinds(types: frozenset[str]) -> str:
    """Types in words, null last."""
    return listed([*sorted(types - {"null"}), *(["null"] if "null" in types else [])], most=7) if types else "nothing"
