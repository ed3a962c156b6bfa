"""The field names of a tool's schemas, for the search. Pure; schemas are hostile, so the walk is capped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from driftwatch.capture.model import ToolDefinition
from driftwatch.errors import CaptureError

MAX_FIELDS: Final = 400
MAX_NAME: Final = 200
_MAX_STEPS: Final = 20_000
_SCHEMAS: Final = (("input", "inputSchema"), ("output", "outputSchema"))


def field_names(definition: ToolDefinition) -> frozenset[tuple[str, str]]:
    """(part, name) of every property that the input and output schemas declare anywhere, up to a cap."""
    try:
        body = definition.parsed()
    except CaptureError:
        return frozenset()
    if not isinstance(body, Mapping):
        return frozenset()
    found: dict[tuple[str, str], None] = {}
    for part, key in _SCHEMAS:
        for name in _names(body.get(key)):
            found.setdefault((part, name))
            if len(found) >= MAX_FIELDS:
                return frozenset(found)
    return frozenset(found)


def _names(schema: Any) -> Iterator[str]:
    """Breadth first: where the cap bites, the names nearest to the root are the ones that stay."""
    queue = deque([schema])
    for _ in range(_MAX_STEPS):
        if not queue:
            return
        node = queue.popleft()
        if isinstance(node, list):
            queue.extend(node)
        elif isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                yield from (name for name in properties if isinstance(name, str) and 0 < len(name) <= MAX_NAME)
                queue.extend(properties.values())
            queue.extend(value for key, value in node.items() if key != "properties" and key not in _VALUES)


#: keywords that hold values, not schemas
_VALUES: Final = frozenset({"const", "default", "enum", "examples", "required"})
