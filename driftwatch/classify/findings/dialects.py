"""Rules about the dialect a schema is written in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from driftwatch.classify.dialect import URIS
from driftwatch.classify.findings.rule import Draft, Example, Rule
from driftwatch.classify.findings.walk import Spot

CHANGED: Final = Rule(
    id="dialect-changed",
    level="info",
    direction="both",
    effect="none",
    why="Some clients know one dialect only and refuse the other, even where both say the same.",
    words="the schema is now marked 2020-12 (was draft-07)",
    example=Example(
        {"$schema": URIS["draft-07"] + "#", "type": "object"},
        {"$schema": URIS["2020-12"], "type": "object"},
    ),
)
RULES: Final = (CHANGED,)


def check(spot: Spot) -> Iterator[Draft]:
    """Another ``$schema`` at the root, or another dialect by what the caller says."""
    if spot.path or spot.pointer:
        return
    marks = [_mark(side.document.schema) for side in (spot.old, spot.new)]
    if marks[0] != marks[1] or spot.old.document.dialect != spot.new.document.dialect:
        named = [
            side.document.dialect
            if mark is not None or spot.old.document.dialect != spot.new.document.dialect
            else None
            for side, mark in zip((spot.old, spot.new), marks, strict=True)
        ]
        now, was = (dialect or "nothing" for dialect in (named[1], named[0]))
        yield Draft(CHANGED, "/$schema", f"the schema is now marked {now} (was {was})")


def _mark(schema: object) -> str | None:
    mark = schema.get("$schema") if isinstance(schema, dict) else None
    return mark.rstrip("#") if isinstance(mark, str) else None
