"""Rules about limits: of numbers, lengths and counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.findings.rule import Draft, Example, Rule, words
from driftwatch.classify.findings.walk import Spot
from driftwatch.classify.keywords import escape

RELAXED: Final = Rule(
    id="output-bounds-relaxed",
    level="breaking",
    direction="output",
    effect="widens",
    why="Results may exceed what readers made room for; validating clients refuse them.",
    words="`count` may now be above 50",
    example=Example(
        {"type": "object", "properties": {"count": {"type": "integer", "maximum": 50}}},
        {"type": "object", "properties": {"count": {"type": "integer", "maximum": 100}}},
    ),
)
TIGHTENED: Final = Rule(
    id="input-bounds-tightened",
    level="breaking",
    direction="input",
    effect="narrows",
    why="Callers that use the room they had are refused.",
    words="`limit` above 50 is now refused",
    example=Example(
        {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 100}}},
        {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 50}}},
    ),
)
RULES: Final = (RELAXED, TIGHTENED)


@dataclass(frozen=True, slots=True)
class _Limit:
    """A keyword; whether more is allowed the larger it is; its words for "beyond"."""

    keyword: str
    upper: bool
    beyond: str


_LIMITS: Final = (
    _Limit("maximum", True, "above {}"),
    _Limit("exclusiveMaximum", True, "{} or more"),
    _Limit("minimum", False, "below {}"),
    _Limit("exclusiveMinimum", False, "{} or less"),
    _Limit("maxLength", True, "longer than {} characters"),
    _Limit("minLength", False, "shorter than {} characters"),
    _Limit("maxItems", True, "longer than {} items"),
    _Limit("minItems", False, "shorter than {} items"),
    _Limit("maxProperties", True, "larger than {} keys"),
    _Limit("minProperties", False, "smaller than {} keys"),
    _Limit("maxContains", True, "with more than {} matching items"),
    _Limit("minContains", False, "with fewer than {} matching items"),
)
#: keywords whose sentence has no number in it: (keyword, relaxed, tightened)
_OTHERS: Final = (
    ("multipleOf", "need no longer be a multiple of {}", "must now be a multiple of {}"),
    ("uniqueItems", "may now hold the same item twice", "must no longer hold the same item twice"),
    ("propertyNames", "may now have other key names", "no longer takes every key name it took"),
    ("contains", "may now hold other items", "must now hold certain items"),
    ("dependentRequired", "need no longer have keys together", "must now have certain keys together"),
    ("dependencies", "need no longer have keys together", "must now have certain keys together"),
    ("dependentSchemas", "need no longer have keys together", "must now have certain keys together"),
    ("not", "may now be what was ruled out", "may no longer be what is now ruled out"),
    ("if", "has other conditions", "has other conditions"),
    ("then", "has other conditions", "has other conditions"),
    ("else", "has other conditions", "has other conditions"),
)


def check(spot: Spot) -> Iterator[Draft]:
    """Limits that hold readers' or callers' expectations no longer."""
    wide, tight = (spot.new, spot.old) if spot.direction == "output" else (spot.old, spot.new)
    for limit in _LIMITS:
        loose, strict = wide.words.get(limit.keyword), tight.words.get(limit.keyword)
        if _numeric(strict) and (loose is None or _beyond(limit, loose, strict)):
            beyond = limit.beyond.format(words(strict))
            yield _draft(spot, limit.keyword, f"may now be {beyond}", f"{beyond} is now refused")
    for keyword, relaxed, tightened in _OTHERS:
        loose, strict = wide.words.get(keyword), tight.words.get(keyword)
        if _says_something(keyword, strict) and (loose is None or not exact.same(loose, strict)):
            yield _draft(spot, keyword, relaxed.format(words(strict)), tightened.format(words(strict)))


def _draft(spot: Spot, keyword: str, relaxed: str, tightened: str) -> Draft:
    at = f"{spot.pointer}/{escape(keyword)}" if keyword in spot.new.words else spot.pointer
    rule, said = (RELAXED, relaxed) if spot.direction == "output" else (TIGHTENED, tightened)
    return Draft(rule, at, f"{spot.subject} {said}", spot.local)


def _says_something(keyword: str, value: Any) -> bool:
    # A ``not`` of everything is the empty schema: the types family speaks of it.
    return value not in (None, False) and not (keyword == "not" and value in ({}, True))


def _numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _beyond(limit: _Limit, loose: Any, strict: Any) -> bool:
    return _numeric(loose) and bool(loose > strict if limit.upper else loose < strict)
