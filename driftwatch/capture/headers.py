"""``x-mcp-header`` in an input schema: which arguments a modern client repeats as HTTP headers, and what spoils that.

Modern clients must leave out a tool whose annotation is wrong, so to them the tool looks removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from driftwatch.capture.semantic import children, subschemas

KEYWORD: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


def problem(schema: Any) -> str | None:
    """What is wrong with the annotations of an input schema, in words; None: nothing, or there are none."""
    taken: set[str] = set()
    for node, reachable in _nodes(schema, root=True):
        if KEYWORD not in node:
            continue
        name = node[KEYWORD]
        if not reachable:
            return f"{KEYWORD} stands where no property of the arguments is"
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            return f"{KEYWORD} is not the name of a header"
        if node.get("type") not in ("string", "integer", "boolean"):
            return f"{KEYWORD} is on a property that is no string, integer or boolean"
        if name.lower() in taken:
            return f"two properties are sent as the header {name}"
        taken.add(name.lower())
    return None


def _nodes(schema: Any, *, root: bool = False) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Every schema object, and whether a chain of ``properties`` alone leads to it from the root."""
    if not isinstance(schema, dict):
        return
    yield schema, not root
    for keyword, child in children(schema):
        if keyword == "properties":
            yield from _nodes(child)
        else:
            yield from ((node, False) for node in subschemas(child))
