"""Which changes a caller asks for: the filters that the lists of changes, changesets and the changelog share."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

from driftwatch.history.change_filter import ChangeFilter
from driftwatch.web.api.models import Announcement, EraName, Verdict
from driftwatch.web.api.params import ServerId, Since, Tag, ToolId


def wanted(
    server: ServerId = None,
    tool: Annotated[str | None, Query(max_length=1000, description="A tool's exact name.")] = None,
    tool_id: ToolId = None,
    tag: Tag = None,
    verdict: Verdict | None = None,
    announcement: Announcement | None = None,
    direction: Literal["input", "output"] | None = None,
    era: EraName | None = None,
    rule: Annotated[str | None, Query(max_length=100, pattern="^[a-z0-9-]+$", description="A rule's id.")] = None,
    since: Since = None,
) -> ChangeFilter:
    """All filters must hold; what is left out asks for nothing."""
    return ChangeFilter(
        server_id=server,
        tool_id=tool_id,
        tool=tool,
        verdict=verdict,
        announcement=announcement,
        direction=direction,
        era=era,
        rule=rule,
        tag=tag,
        since=since,
    )


Wanted = Annotated[ChangeFilter, Depends(wanted)]
