"""What of a document is looked at first: its size, its depth, and whether every validator can hold its values."""

from __future__ import annotations

from typing import Any, Final

from driftwatch.classify import exact

DEEPEST: Final = 128
MOST_NODES: Final = 200_000


def exceeded(schema: Any) -> str | None:
    """Why a document is not even looked at: too large, too deep, or no JSON that every validator can hold."""
    level: list[Any] = [schema]
    depth = nodes = 0
    while level:
        if depth > DEEPEST:
            return f"budget: nested deeper than {DEEPEST}"
        nodes += len(level)
        if nodes > MOST_NODES:
            return f"budget: more than {MOST_NODES} nodes"
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                below.extend(node)
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
            elif not exact.is_json(node):
                return "not-json: a value that JSON cannot hold"
        level = below
        depth += 1
    return None
