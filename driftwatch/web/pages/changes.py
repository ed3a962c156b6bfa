"""The change page, its changeset, and what people decide there: acknowledge, accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, delivery_read
from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.dry_run import dry_run
from driftwatch.alerts.views import AlertView, alerting_line
from driftwatch.errors import InputError
from driftwatch.history import read as history_read
from driftwatch.history import tool_read
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor
from driftwatch.web.pages import announced, deploy, exports, lineage, quieting, store, story, telling, times, words
from driftwatch.web.pages.definitions import Definition
from driftwatch.web.pages.forms import Id, Text, by, see_other
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services


def router(services: Services) -> APIRouter:
    """Routes of changes, changesets and alerts."""
    pages = APIRouter()

    @pages.get("/changes/{change_id:int}")
    async def change_page(request: Request, visitor: PageVisitor, change_id: Id) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            change = await history_read.load_change(session, change_id)
            siblings = await history_read.load_changeset(session, change.changeset_id, brief=True)
            old, new = await _definitions(session, change)
            server = await store.server_line(session, change.server_id)
            decisions = await alerts_read.decisions_for_change(session, change_id)
            alert = await alerts_read.alert_for_changeset(session, change.changeset_id)
            deliveries = await delivery_read.deliveries_for_alert(session, alert.id) if alert else []
            channels = await delivery_read.channels(session)
            planned = (await dry_run(session, services.settings, change_id)).plan
            baseline = (await alerts_read.baselines(session, [change.tool_id])).get(change.tool_id)
        do = story.todo(change, alerting_line(decisions), server.owner)
        proof, url = story.proof(change), f"{services.settings.public_url}/changes/{change.id}"
        return render(
            request,
            "change.html",
            visitor=visitor,
            live=change.server_id,
            now=now,
            change=change,
            server=server,
            title=story.headline(change),
            verdict=words.verdict(change.verdict, change.via),
            between=times.between(*change.window),
            announcement=words.announcement(change.announcement, change.announcement_reason),
            versions=story.versions(change),
            summary=story.summary(change),
            parts=story.parts(change, old, new),
            whole=story.whole(change, old, new),
            proof=proof,
            named=story.rules(change),
            todo=do,
            url=url,
            markdown=exports.change(change, story.headline(change), proof, do, url),
            rename=story.rename(change, siblings),
            announced=announced.explain(change, now),
            telling=telling.tell(next(iter(decisions), None), alert, deliveries, channels, now, planned),
            rules=quieting.ignorable(change),
            alert=alert,
            baseline=lineage.accepted(baseline, now),
            same=[other for other in siblings if other.tool == change.tool],
            tools=story.tool_names(siblings),
        )

    @pages.get("/changes/{change_id:int}.md")
    async def change_markdown(visitor: PageVisitor, change_id: Id) -> Response:
        async with services.db.transaction() as session:
            change = await history_read.load_change(session, change_id)
            server = await store.server_line(session, change.server_id)
            decisions = await alerts_read.decisions_for_change(session, change_id)
        do = story.todo(change, alerting_line(decisions), server.owner)
        url = f"{services.settings.public_url}/changes/{change.id}"
        text = exports.change(change, story.headline(change), story.proof(change), do, url)
        return Response(text, media_type="text/markdown; charset=utf-8")

    @pages.get("/changesets/{changeset_id:int}")
    async def changeset_page(request: Request, visitor: PageVisitor, changeset_id: Id) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            changes = await history_read.load_changeset(session, changeset_id)
            server = await store.server_line(session, changes[0].server_id)
            alert = await alerts_read.alert_for_changeset(session, changeset_id)
            deliveries = await delivery_read.deliveries_for_alert(session, alert.id) if alert else []
        return render(
            request,
            "changeset.html",
            visitor=visitor,
            live=server.id,
            now=now,
            server=server,
            deploy=deploy.tell(changes),
            alert=alert,
            deliveries=[(d.channel, words.delivery(d.state)) for d in deliveries],
            url=f"{services.settings.public_url}/changesets/{changeset_id}",
        )

    @pages.get("/alerts/{alert_id:int}")
    async def alert_page(visitor: PageVisitor, alert_id: Id) -> Response:
        """The permalink of messages: leads to what the alert is about."""
        async with services.db.transaction() as session:
            alert = await alerts_read.load_alert(session, alert_id)
        return see_other(_subject(alert))

    @pages.post("/alerts/{alert_id:int}/acknowledge")
    async def acknowledge(request: Request, visitor: FormVisitor, alert_id: Id, reason: Text = "") -> Response:
        async with services.db.transaction() as session:
            await actions.acknowledge(session, services.settings, by(request, visitor), alert_id, reason=reason)
            alert = await alerts_read.load_alert(session, alert_id)
        return _back(request, alert, "acknowledged")

    @pages.post("/alerts/{alert_id:int}/accept")
    async def accept(
        request: Request,
        visitor: FormVisitor,
        alert_id: Id,
        reason: Text = "",
        tool: Annotated[list[int] | None, Form()] = None,
        chosen: Text = "",
    ) -> Response:
        """All tools of the alert, or, from the list of a deploy (``chosen``), the ticked ones."""
        if chosen and not tool:
            raise InputError("no tool is ticked", hint="go back and tick the tools whose new contract you accept")
        async with services.db.transaction() as session:
            who = by(request, visitor)
            await actions.accept(session, services.settings, who, alert_id, reason=reason, tools=tool)
            alert = await alerts_read.load_alert(session, alert_id)
        return _back(request, alert, "accepted")

    return pages


async def _definitions(session: AsyncSession, change: ChangeView) -> tuple[Definition | None, Definition | None]:
    found: list[Definition | None] = []
    for number in (change.from_version, change.to_version):
        if number is None:
            found.append(None)
        else:
            _, stored = await tool_read.version_number(session, change.tool_id, number)
            found.append(Definition.of(stored.verbatim))
    return found[0], found[1]


def _subject(alert: AlertView) -> str:
    tools = {change.tool for change in alert.changes}
    if len(tools) == 1:
        loud = [change for change in alert.changes if change.outcome == "alert"] or list(alert.changes)
        return f"/changes/{loud[0].change_id}"
    if alert.changeset_id is not None:
        return f"/changesets/{alert.changeset_id}"
    return f"/servers/{alert.server_id}"


def _back(request: Request, alert: AlertView, done: str) -> Response:
    return see_other(f"{_subject(alert)}?done={done}")
