"""Rules about what a schema says of itself: it accepts the same values, but models and people read the words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import DEFAULT, Dialect, of
from driftwatch.classify.findings.rule import Draft, Example, Rule, words
from driftwatch.classify.findings.walk import Spot
from driftwatch.classify.keywords import VOCABULARY, escape

ANNOTATION: Final = Rule(
    id="annotation-changed",
    level="annotation",
    direction="both",
    effect="none",
    why="Titles, examples and marks of vendors refuse nothing, but some clients show or use them.",
    words="the title of `limit` changed",
    example=Example(
        {"type": "object", "properties": {"limit": {"type": "integer", "title": "Limit"}}},
        {"type": "object", "properties": {"limit": {"type": "integer", "title": "Page size"}}},
    ),
)
DESCRIPTION: Final = Rule(
    id="description-changed",
    level="annotation",
    direction="both",
    effect="none",
    why="Models choose and fill tools by their descriptions: nothing breaks, behaviour may shift.",
    words="the description of `limit` changed",
    example=Example(
        {"type": "object", "properties": {"limit": {"type": "integer", "description": "How many"}}},
        {"type": "object", "properties": {"limit": {"type": "integer", "description": "How many to return"}}},
    ),
)
DEFAULT_VALUE: Final = Rule(
    id="default-changed",
    level="annotation",
    direction="both",
    effect="none",
    why="A default refuses nothing; callers that rely on it get another value.",
    words="the default of `limit` is now 20 (was 10)",
    example=Example(
        {"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}},
        {"type": "object", "properties": {"limit": {"type": "integer", "default": 20}}},
    ),
)
RULES: Final = (ANNOTATION, DESCRIPTION, DEFAULT_VALUE)

#: stale callers get HEADER_MISMATCH when this changes; clients unwrap results by it
_TELLING: Final = frozenset({"x-mcp-header", "x-fastmcp-wrap-result"})
_OWN_RULES: Final = frozenset({"$schema", "$ref", "$defs", "definitions", "$id", "id", "$anchor", "$dynamicAnchor"})
_NOT_HERE: Final = _OWN_RULES | {"description", "default", "format", "$dynamicRef", "$recursiveRef", "$recursiveAnchor"}


def check(spot: Spot) -> Iterator[Draft]:
    """Words, defaults and unknown keywords that changed at a position."""
    before, after = spot.old.schema, spot.new.schema
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return
    if not _equal(before, after, "description"):
        yield _of(DESCRIPTION, spot, "description", f"the description of {spot.subject} changed")
    if not _equal(before, after, "default"):
        now, was = (words(side["default"]) if "default" in side else "none" for side in (after, before))
        yield _of(DEFAULT_VALUE, spot, "default", f"the default of {spot.subject} is now {now} (was {was})")
    for word in sorted({*before, *after} - _NOT_HERE - VOCABULARY[_dialect(spot)].keys()):
        if not _equal(before, after, word):
            yield _of(ANNOTATION, spot, word, f"the {word} of {spot.subject} changed")
    if spot.direction == "input" and not _equal(before, after, "format"):
        yield _of(ANNOTATION, spot, "format", f"the format of {spot.subject} changed")


def telling(draft: Draft) -> bool:
    """Whether an annotation steers clients, so that it deserves a warning."""
    return draft.rule is ANNOTATION and draft.pointer.rsplit("/", 1)[-1] in _TELLING


def _dialect(spot: Spot) -> Dialect:
    return of(spot.new.document.schema, spot.new.document.dialect) or DEFAULT


def _equal(before: dict[str, Any], after: dict[str, Any], word: str) -> bool:
    if (word in before) != (word in after):
        return False
    return word not in before or exact.same(before[word], after[word])


def _of(rule: Rule, spot: Spot, word: str, message: str) -> Draft:
    return Draft(rule, f"{spot.pointer}/{escape(word)}", message)
