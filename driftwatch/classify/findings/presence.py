"""Rules about what is there at all: tools, output schemas, usable definitions."""

from __future__ import annotations

from typing import Any, Final

from driftwatch.classify.findings.rule import Example, Rule, name
from driftwatch.classify.verdict import Finding

_SEARCH: Final[dict[str, Any]] = {
    "name": "search",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
}
_RESULT: Final[dict[str, Any]] = {"type": "object", "properties": {"hits": {"type": "array"}}}

SCHEMA_ADDED: Final = Rule(
    id="output-schema-added",
    level="info",
    direction="output",
    effect="narrows",
    why="Clients will validate results from now on; a result that does not fit the new schema starts to fail.",
    words="results are now described: clients will validate them",
    example=Example(_SEARCH, {**_SEARCH, "outputSchema": _RESULT}),
    subject="tool",
)
SCHEMA_REMOVED: Final = Rule(
    id="output-schema-removed",
    level="breaking",
    direction="output",
    effect="widens",
    why="Clients that hold the old schema refuse a result without structuredContent.",
    words="results are no longer described and may come without structuredContent",
    example=Example({**_SEARCH, "outputSchema": _RESULT}, _SEARCH),
    subject="tool",
)
TOOL_ADDED: Final = Rule(
    id="tool-added",
    level="info",
    direction="both",
    effect="none",
    why="Nobody depends on it yet.",
    words="`search` is new",
    example=Example(None, _SEARCH),
    subject="tool",
)
TOOL_REMOVED: Final = Rule(
    id="tool-removed",
    level="breaking",
    direction="both",
    effect="none",
    why="Clients that still offer the tool get an error for every call.",
    words="`search` is gone",
    example=Example(_SEARCH, None),
    subject="tool",
)
INVALID: Final = Rule(
    id="invalid-definition",
    level="breaking",
    direction="both",
    effect="none",
    why="The official SDKs refuse the definition; some lose the whole tool list with it.",
    words="clients built on the official SDKs now reject this tool: `search` has no object inputSchema",
    example=Example(_SEARCH, {"name": "search", "inputSchema": {}}),
    subject="tool",
)
RULES: Final = (SCHEMA_ADDED, SCHEMA_REMOVED, TOOL_ADDED, TOOL_REMOVED, INVALID)


def of(rule: Rule, message: str, pointer: str = "") -> tuple[Finding, ...]:
    """One finding at the rule's own level."""
    return (Finding(rule.id, pointer, rule.level, rule.effect, message),)


def tool_added(tool: str) -> tuple[Finding, ...]:
    """A tool is listed that was not."""
    return of(TOOL_ADDED, f"{name(tool)} is new")


def tool_removed(tool: str) -> tuple[Finding, ...]:
    """A tool is no longer listed."""
    return of(TOOL_REMOVED, f"{name(tool)} is gone")


def refused(tool: str, message: str) -> tuple[Finding, ...]:
    """Client SDKs refuse a tool's definition."""
    return of(INVALID, f"clients built on the official SDKs now reject {name(tool)}: {message}")


def output_schema_added() -> tuple[Finding, ...]:
    """Results were not described before."""
    return of(SCHEMA_ADDED, SCHEMA_ADDED.words)


def output_schema_removed() -> tuple[Finding, ...]:
    """Results are no longer described."""
    return of(SCHEMA_REMOVED, SCHEMA_REMOVED.words)


def invalid_definition(message: str, pointer: str) -> tuple[Finding, ...]:
    """A schema that is none."""
    return of(INVALID, f"clients built on the official SDKs now reject this schema: {message}", pointer)
