"""A tool's page: its contract for people, any two versions compared by meaning or as text, its versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, transitive_store
from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.actions import By
from driftwatch.history import read as history_read
from driftwatch.history import tool_read
from driftwatch.history.definitions import load_definitions
from driftwatch.history.views import ChangeView, VersionView
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor, equivalences_of
from driftwatch.web.pages import comparing, kinds, lineage, raw, store, story
from driftwatch.web.pages.definitions import Definition
from driftwatch.web.pages.forms import Id, see_other
from driftwatch.web.pages.models import ToolHead
from driftwatch.web.pages.render import render
from driftwatch.wire.facts import Era

if TYPE_CHECKING:
    from driftwatch.app import Services

RECENT: Final = 100
VIEWS: Final = ("meaning", "side", "raw")


def router(services: Services) -> APIRouter:
    """The routes of one tool."""
    pages = APIRouter()

    @pages.get("/tools/{tool_id:int}")
    async def tool(
        request: Request,
        visitor: PageVisitor,
        tool_id: Id,
        old: Annotated[str, Query(alias="from")] = "",
        new: Annotated[str, Query(alias="to")] = "",
        view: str = "meaning",
    ) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            head = await store.tool_head(session, tool_id)
            twins = await store.same_tool(session, head)
            versions = await tool_read.tool_versions(session, tool_id)
            baseline = (await alerts_read.baselines(session, [tool_id])).get(tool_id)
            chosen = lineage.pair(versions, baseline, (old, new))
            before = Definition.of(await history_read.definition(session, chosen.old.id))
            after = Definition.of(await history_read.definition(session, chosen.new.id))
            changes = await history_read.load_changes(session, history_read.ChangeFilter(tool_id=tool_id), limit=RECENT)
            across = await _current_sides(session, versions, [twin for twin in twins if twin.era != head.era])
            newest = changes[0] if changes else None
            choices = await transitive_store.choices(session, head.server_id)
            alert = await alerts_read.alert_for_changeset(session, newest.changeset_id) if newest else None
        told = _change_between(changes, chosen)
        alike = await equivalences_of(request).of(across)
        parts = await comparing.parts(services, head, before, after, told, same=chosen.same)
        return render(
            request,
            "tool.html",
            visitor=visitor,
            live=head.server_id,
            now=now,
            head=head,
            twins=twins,
            alike={era: (kinds.state_of(alike.get(era)), kinds.said_of(alike.get(era))) for era in across},
            pair=chosen,
            baseline=lineage.accepted(baseline, now),
            since_baseline=baseline is not None and baseline.number == chosen.old.number,
            olds=lineage.choices(versions, baseline, chosen.old),
            news=lineage.choices(versions, baseline, chosen.new),
            view=view if view in VIEWS else VIEWS[0],
            asked=old,
            parts=parts,
            proof=story.proof(told) if told and told.verdict == "breaking" else None,
            raw=raw.show(after) if chosen.same else raw.compare(before, after),
            description=after.body.get("description"),
            rows=lineage.rows(versions, changes, baseline, now),
            newest=newest,
            alert=alert if alert and alert.needs_someone else None,
            since=lineage.since(versions),
            current=lineage.current(versions),
            transitive=choices.get(head.name),
        )

    @pages.post("/tools/{tool_id:int}/edit")
    async def edit(
        request: Request, visitor: FormVisitor, tool_id: Id, transitive: Annotated[Literal["", "1", "0"], Form()] = ""
    ) -> Response:
        by = By(visitor.caller.actor, request.state.request_id)
        async with services.db.transaction() as session:
            await actions.choose_transitive(session, by, tool_id, {"1": True, "0": False}.get(transitive))
        return see_other(f"/tools/{tool_id}?done=saved")

    return pages


async def _current_sides(
    session: AsyncSession, versions: Sequence[VersionView], twins: Sequence[ToolHead]
) -> dict[str, kinds.Sides]:
    """What this tool and the same tool in another era are now, modern first, by that era; absent ones are left out."""
    found = {}
    for twin in twins:
        both = [versions, await tool_read.tool_versions(session, twin.id)]
        if all(lineage.since(side) is not None for side in both):
            ids = [lineage.current(side).id for side in both]
            loaded = await load_definitions(session, ids)
            mine, yours = (loaded[key] for key in ids)
            found[twin.era] = (yours, mine) if twin.era == Era.MODERN else (mine, yours)
    return found


def _change_between(changes: list[ChangeView], chosen: lineage.Pair) -> ChangeView | None:
    wanted = (chosen.old.number, chosen.new.number)
    return next((change for change in changes if (change.from_version, change.to_version) == wanted), None)
