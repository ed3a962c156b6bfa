"""Tools, their versions, and what the difference between two means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import DiffOut, ToolChoices, ToolPageOut, ToolPatch, VersionDetail, VersionOut


class Tools(Noun):
    """A tool is one name in one profile."""

    def get(self, tool_id: int) -> ToolPageOut:
        """One tool with its baseline."""
        return self._api.get("/tools/{tool_id}", ToolPageOut, tool_id=tool_id)

    def versions(self, tool_id: int) -> Iterator[VersionOut]:
        """Its versions, the newest number first."""
        return self._api.pages("/tools/{tool_id}/versions", VersionOut, tool_id=tool_id)

    def version(self, tool_id: int, number: int) -> VersionDetail:
        """One version with its definition."""
        path = "/tools/{tool_id}/versions/{number}"
        return self._api.get(path, VersionDetail, tool_id=tool_id, number=number)

    def diff(self, tool_id: int, held: int | Literal["baseline", "first"], served: int) -> DiffOut:
        """A verdict for a client that holds one version while the server serves another."""
        return self._api.get("/tools/{tool_id}/diff", DiffOut, {"from": held, "to": served}, tool_id=tool_id)

    def change(self, tool_id: int, patch: ToolPatch) -> ToolChoices:
        """Change what is set for one tool."""
        return self._api.patch("/tools/{tool_id}", ToolChoices, body=patch, tool_id=tool_id)
