"""Hints that a removed tool and an added one may be the same tool renamed. A hint with a score, never a fact. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from driftwatch.capture.model import ToolDefinition
from driftwatch.errors import CaptureError

ALIKE: Final = 0.85
_MAX_PAIRS: Final = 100
_MAX_TEXT: Final = 1000


@dataclass(frozen=True, slots=True)
class Rename:
    """``score`` is 1 for equal schemas, else the share of equal description text."""

    old: str
    new: str
    score: float


def renames(removed: Mapping[str, ToolDefinition], added: Mapping[str, ToolDefinition]) -> tuple[Rename, ...]:
    """The best pairs first, each tool at most once. A wholesale replacement (over 100 pairs) gives no hints."""
    if len(removed) * len(added) > _MAX_PAIRS:
        return ()
    old, new = _read(removed), _read(added)
    pairs = [
        Rename(before, after, score)
        for before, one in old.items()
        for after, other in new.items()
        if (score := _score(removed[before], one, added[after], other)) > ALIKE
    ]
    found: list[Rename] = []
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.old, pair.new)):
        if not any(pair.old == taken.old or pair.new == taken.new for taken in found):
            found.append(pair)
    return tuple(found)


def _read(tools: Mapping[str, ToolDefinition]) -> dict[str, dict[str, Any]]:
    parsed: dict[str, dict[str, Any]] = {}
    for name, tool in tools.items():
        try:
            value = tool.parsed()
        except CaptureError:
            continue
        if isinstance(value, dict):
            parsed[name] = value
    return parsed


def _score(old: ToolDefinition, one: Mapping[str, Any], new: ToolDefinition, other: Mapping[str, Any]) -> float:
    schema = one.get("inputSchema")
    telling = isinstance(schema, dict) and bool(schema.get("properties"))
    if telling and old.semantic_shas == new.semantic_shas:
        return 1.0
    before, after = one.get("description"), other.get("description")
    if not isinstance(before, str) or not isinstance(after, str) or not before:
        return 0.0
    matcher = SequenceMatcher(None, before[:_MAX_TEXT], after[:_MAX_TEXT], autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() > ALIKE and matcher.quick_ratio() > ALIKE else 0.0
