"""The same tool over the eras: one contract, one in the known wrapping, or two."""

from __future__ import annotations

from typing import Final, cast

from fastapi import APIRouter, Request

from driftwatch.classify.eras import Equivalence
from driftwatch.history import tool_read
from driftwatch.history.definitions import load_definitions
from driftwatch.history.views import ToolView
from driftwatch.servers import store as servers_store
from driftwatch.web.api.convert import assessed_out
from driftwatch.web.api.models import DifferenceOut, EraName, SideOut, ToolErasOut
from driftwatch.web.api.params import RowId
from driftwatch.web.auth.dependencies import Reader, equivalences_of, services_of
from driftwatch.web.pages import kinds

router = APIRouter(tags=["tools"])

#: the classifier gets this long for what it was never asked
PATIENCE_SECONDS: Final = 20.0


@router.get("/servers/{server_id:int}/eras", summary="Tools over the eras")
async def list_over_eras(server_id: RowId, request: Request, who: Reader) -> list[ToolErasOut]:
    """Whether both kinds of clients see the same contract, for every tool listed now. Empty for one era alone."""
    async with services_of(request).db.transaction() as session:
        await servers_store.get_server(session, server_id)
        tools = await tool_read.server_tools(session, server_id)
        definitions = await load_definitions(session, kinds.to_load(tools))
    # outside the transaction: proving may take seconds
    found = await equivalences_of(request).of(kinds.sides(tools, definitions), seconds=PATIENCE_SECONDS)
    if len({tool.era for tool in tools}) < 2:
        return []
    return [_tool(name, group, found.get(name)) for name, group in kinds.groups(tools).items()]


def _tool(name: str, group: list[ToolView], found: Equivalence | None) -> ToolErasOut:
    return ToolErasOut(
        tool=name,
        likeness=kinds.likeness(group, found),
        sides=[
            SideOut(era=cast("EraName", tool.era), tool_id=tool.id, version=tool.version)
            for tool in group
            if tool.version is not None
        ],
        differences=[
            DifferenceOut(holder=difference.holder.value, part=assessed_out(difference.assessment))
            for difference in (found.differences if found else ())
        ],
    )
