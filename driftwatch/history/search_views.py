"""What a search answers. Pure data; names may hold server text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that a search found. ``part`` and ``field`` say where in its schemas; None: in its own name."""

    tool_id: int
    tool: str
    server_id: int
    server: str
    era: str
    part: str | None = None
    field: str | None = None
