"""What a rule is, and what a rule drafts before it is graded. Rules explain a verdict; they never make one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from driftwatch.classify.verdict import Effect, Level

Side = Literal["output", "input", "both"]
Subject = Literal["schema", "tool", "server"]


@dataclass(frozen=True, slots=True)
class Example:
    """A smallest case: test, documentation and demo at once.

    For a rule about schemas, ``before`` and ``after`` are schemas; about tools, tool definitions (None: absent); about
    servers, the fact that changed.
    """

    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``level`` is the worst it is reported at; ``why`` says to whom it matters; ``words`` is its message."""

    id: str
    level: Level
    direction: Side
    effect: Effect
    why: str
    words: str
    example: Example
    subject: Subject = "schema"


@dataclass(frozen=True, slots=True)
class Local:
    """A pair of small schemas that differ only in what a finding is about, as (old, new)."""

    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before it is graded. ``local`` makes the pair that grades it; None: the rule's own level stands."""

    rule: Rule
    pointer: str
    message: str
    local: Callable[[], Local | None] | None = None


def name(text: str) -> str:
    """A name from a server as findings show it. Renderers escape what is inside."""
    return f"`{text}`"


def words(value: Any) -> str:
    """A JSON scalar as findings show it: strings in double quotes, long ones cut."""
    import json

    if isinstance(value, str):
        return json.dumps(value if len(value) <= 60 else value[:59] + "…", ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def listed(items: list[str], *, most: int = 3, last: str = "or") -> str:
    """``a, b or c``; more than ``most`` end in ``… or 4 more``."""
    shown = items if len(items) <= most else [*items[:most], f"{len(items) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"
