"""The fleet and what a search finds, between the pages' views and the API. Pure."""

from __future__ import annotations

from typing import cast

from driftwatch.history.search_views import ToolHit
from driftwatch.web.api.models import (
    EraName,
    FoundTool,
    LastChangeOut,
    StandingOut,
    Verdict,
    WeekOut,
)
from driftwatch.web.pages.fleet import Line
from driftwatch.web.pages.models import FleetRow


def standing_out(row: FleetRow, line: Line) -> StandingOut:
    """A server in one line."""
    tools = [profile.tool_count for profile in row.profiles if profile.tool_count is not None]
    polled = [profile.last_poll_at for profile in row.profiles if profile.last_poll_at is not None]
    last = row.last_change
    return StandingOut(
        server_id=row.server.id,
        server=row.server.name,
        owner=row.server.owner,
        tags=list(row.server.tags),
        eras=cast("list[EraName]", list(dict.fromkeys(profile.era for profile in row.profiles))),
        tools=max(tools, default=None),
        standing=line.standing,
        state=line.state.word,
        why=line.why,
        last_poll_at=max(polled, default=None),
        last_change=None
        if last is None
        else LastChangeOut(id=last.id, verdict=cast("Verdict | None", last.verdict), at=last.at),
        weeks=[WeekOut(ago=week.ago, verdicts=dict(week.verdicts)) for week in row.weeks],
    )


def found_tool(hit: ToolHit) -> FoundTool:
    """A tool that a search found."""
    return FoundTool(
        tool_id=hit.tool_id,
        tool=hit.tool,
        server_id=hit.server_id,
        server=hit.server,
        era=cast("EraName", hit.era),
        part=hit.part,
        field=hit.field,
    )
