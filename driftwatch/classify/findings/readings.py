"""Rules about changes that only TypeScript clients see: formats, ``nullable``, siblings of ``$ref`` and such."""

from __future__ import annotations

from typing import Any, Final

from driftwatch.classify.findings.rule import Example, Rule
from driftwatch.classify.verdict import Finding

_WHEN: Final[dict[str, Any]] = {"type": "string"}


def _tool(field: dict[str, Any]) -> dict[str, Any]:
    output = {"type": "object", "properties": {"when": field}}
    return {"name": "search", "inputSchema": {"type": "object"}, "outputSchema": output}


REFUSED: Final = Rule(
    id="output-typescript-refuses",
    level="warning",
    direction="output",
    effect="widens",
    why="By the specification nothing changed that refuses a result, but TypeScript clients assert formats, apply the "
    "siblings of `$ref` and know `nullable`: those that cached the old schema refuse results they will accept later.",
    words="no change by the specification, but TypeScript SDK 2.x, holding the old schema, may refuse new results",
    example=Example(_tool({**_WHEN, "format": "date-time"}), _tool(_WHEN)),
    subject="tool",
)
LOST: Final = Rule(
    id="output-typescript-lost",
    level="breaking",
    direction="output",
    effect="none",
    why="A schema that Ajv does not compile may be valid for everybody else, but TypeScript SDK 2.x then fails every "
    "call of the tool, and SDK 1.x loses the whole tool list: the definition is invalid, whatever it accepts.",
    words='TypeScript SDK 2.x can no longer use the tool: "nullable" cannot be used without "type"',
    example=Example(_tool({"anyOf": [_WHEN]}), _tool({"anyOf": [_WHEN], "nullable": True})),
    subject="tool",
)
RULES: Final = (REFUSED, LOST)


def refused(clients: str, witness: Any) -> tuple[Finding, ...]:
    """``clients`` that hold the old schema refuse ``witness``, which they accept once they hold the new one."""
    message = f"no change by the specification, but {clients}, holding the old schema, may refuse new results"
    return (Finding(REFUSED.id, "", REFUSED.level, REFUSED.effect, message, witness, True),)


def lost(clients: str, what: str, why: str, pointer: str) -> Finding:
    """``clients`` can no longer use ``what`` ("the tool" or "any tool of the list")."""
    return Finding(LOST.id, pointer, LOST.level, LOST.effect, f"{clients} can no longer use {what}: {why}")
