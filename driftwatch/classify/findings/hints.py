"""Rules about a tool's hints and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from driftwatch.capture.model import Part
from driftwatch.classify import exact
from driftwatch.classify.findings.rule import Example, Rule, name, words
from driftwatch.classify.findings.wording import ANNOTATION, DESCRIPTION
from driftwatch.classify.keywords import escape
from driftwatch.classify.verdict import Finding, Level

_TOOL: Final[dict[str, Any]] = {"name": "tidy", "inputSchema": {"type": "object"}}

HINTS: Final = Rule(
    id="tool-annotations-changed",
    level="warning",
    direction="both",
    effect="none",
    why="Clients decide by the hints what may run without asking. One that became less safe is a warning of its own.",
    words="`readOnlyHint` is now false (was true): the tool may now change things",
    example=Example(
        {**_TOOL, "annotations": {"readOnlyHint": True}},
        {**_TOOL, "annotations": {"readOnlyHint": False}},
    ),
    subject="tool",
)
RULES: Final = (HINTS,)

#: hint → (value assumed when absent, the safe value, what losing it means); defaults by the MCP specification
_HINTS: Final[Mapping[str, tuple[bool, bool, str]]] = {
    "readOnlyHint": (False, True, "the tool may now change things"),
    "destructiveHint": (True, False, "the tool may now destroy things"),
    "idempotentHint": (False, True, "calling it twice may now do more than once"),
    "openWorldHint": (True, False, "the tool may now reach the outside world"),
}


def of_words(part: Part, before: Any, after: Any) -> tuple[Finding, ...]:
    """Findings about a tool's annotations, text or meta part."""
    old, new = (value if isinstance(value, dict) else {} for value in (before, after))
    return tuple(_each(part, old, new))


def _each(part: Part, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Finding]:
    for key in sorted({*old, *new}):
        if (key in old) == (key in new) and exact.same(old.get(key), new.get(key)):
            continue
        if part is Part.ANNOTATIONS and key != "title":
            level, message = _hint(key, old, new)
            yield Finding(HINTS.id, f"/{escape(key)}", level, "none", message)
        elif part is Part.TEXT and key == "description":
            yield Finding(DESCRIPTION.id, "/description", "annotation", "none", "the tool's description changed")
        else:
            yield Finding(ANNOTATION.id, f"/{escape(key)}", "annotation", "none", f"the tool's {name(key)} changed")


def _hint(key: str, old: dict[str, Any], new: dict[str, Any]) -> tuple[Level, str]:
    now, was = (words(side[key]) if key in side else "absent" for side in (new, old))
    message = f"{name(key)} is now {now} (was {was})"
    if key not in _HINTS:
        return "annotation", message
    assumed, safe, loss = _HINTS[key]
    if old.get(key, assumed) is safe and new.get(key, assumed) is not safe:
        return "warning", f"{message}: {loss}"
    return "annotation", message
