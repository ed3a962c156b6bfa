"""What of a document is looked at first: its size, its depth, and whether every validator can hold its values."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from driftwatch.classify import exact

DEEPEST: Final = 128
MOST_NODES: Final = 200_000


class Size(NamedTuple):
    """How many values and keys a document has, and why it is not even looked at: too large, too deep, or no JSON."""

    nodes: int
    exceeded: str | None = None


def measured(schema: Any) -> Size:
    """The size of a document; counting ends where a limit is exceeded."""
    level: list[Any] = [schema]
    depth = nodes = 0
    while level:
        if depth > DEEPEST:
            return Size(nodes, f"budget: nested deeper than {DEEPEST}")
        nodes += len(level)
        if nodes > MOST_NODES:
            return Size(nodes, f"budget: more than {MOST_NODES} nodes")
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                below.extend(node)
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
            elif not exact.is_json(node):
                return Size(nodes, "not-json: a value that JSON cannot hold")
        level = below
        depth += 1
    return Size(nodes)
