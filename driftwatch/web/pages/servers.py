"""A server's page and what can be done with a server: check now, pause, resume, edit, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from driftwatch.alerts import delivery_read, heads_store, transitive
from driftwatch.alerts import read as alerts_read
from driftwatch.errors import InputError
from driftwatch.history import read as history_read
from driftwatch.history import said_read, tool_read
from driftwatch.history.definitions import load_definitions
from driftwatch.history.doubt_store import load_doubts
from driftwatch.history.hearing import load_hearing
from driftwatch.servers import changes as server_changes
from driftwatch.servers.model import UNSET, ServerPatch
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor, equivalences_of
from driftwatch.web.pages import (
    advice,
    conformance,
    credential_form,
    entries,
    evidence_line,
    evidence_store,
    fleet,
    forms,
    kinds,
    said,
    store,
    watched,
)
from driftwatch.web.pages.forms import Id, Text, see_other
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

RECENT: Final = 10


def router(services: Services) -> APIRouter:
    """Routes of one server."""
    pages = APIRouter()

    @pages.get("/servers/{server_id:int}")
    async def server(
        request: Request,
        visitor: PageVisitor,
        server_id: Id,
        span: Annotated[str, Query(alias="range")] = "",
        every: str = "",
    ) -> HTMLResponse:
        chosen = span if span in evidence_line.RANGES else evidence_line.DEFAULT_RANGE
        async with services.db.transaction() as session:
            now = await store.now(session)
            line = await store.server_line(session, server_id)
            profiles = (await store.profile_lines(session, [server_id])).get(server_id, [])
            profiles = [replace(one, hearing=await load_hearing(session, one.id)) for one in profiles]
            tools = await tool_read.server_tools(session, server_id)
            lists = await tool_read.newest_lists(session, server_id)
            doubts = [await load_doubts(session, profile.id) for profile in profiles]
            baselines = await alerts_read.baselines(session, [tool.id for tool in tools])
            changes = await history_read.load_changes(
                session, history_read.ChangeFilter(server_id=server_id), limit=RECENT
            )
            against = await transitive.stored_verdicts(session, [t.last_change_id for t in tools if t.last_change_id])
            alerts = await heads_store.server_heads(session, server_id, limit=20)
            told = await delivery_read.deliveries_for_alerts(session, [alert.id for alert in alerts])
            statements = await said_read.statements(session, server_id)
            polls = await store.polls(session, server_id)
            events = await store.poll_events(session, server_id)
            heard = await evidence_store.evidence(session, server_id, now - evidence_line.RANGES[chosen][1])
            doubtful = await load_definitions(session, kinds.to_load(tools))
        rows = watched.tool_rows(tools, baselines, now, against)
        shown = rows if every else rows[: watched.MAX_TOOLS]
        eras = list(dict.fromkeys(profile.era for profile in profiles))
        alike = await equivalences_of(request).of(kinds.sides(tools, doubtful))
        leads = {change.id: change for change in changes}
        return render(
            request,
            "server.html",
            visitor=visitor,
            live=server_id,
            now=now,
            server=line,
            seen=watched.seen_by(profiles, now, paused=line.state == "paused"),
            profiles=profiles,
            needs=fleet.needs(alerts, leads),
            tools=shown,
            more_tools=len(rows) - len(shown),
            summary=watched.summary(rows),
            kinds=kinds.compare(tools, alike, eras),
            line=evidence_line.draw(heard, eras, now, server=line.name, chosen=chosen),
            ranges=evidence_line.RANGES,
            credential=advice.credential(line, profiles, now),
            todo=advice.todo,
            notes=[
                *conformance.unsettled(doubts),
                *conformance.of_server(profiles, now),
                *conformance.notes(lists, tools),
            ][: conformance.MAX_FINDINGS],
            instructions=said.instructions(lists),
            statements=said.lines(statements),
            entries=entries.gather(changes),
            alerts=watched.alert_rows(alerts, told),
            polls=polls,
            events=events,
        )

    @pages.post("/servers/{server_id:int}/check")
    async def check_now(visitor: FormVisitor, server_id: Id) -> Response:
        await server_changes.check_now(services, server_id, actor=visitor.caller.actor)
        return _back(server_id, "checking")

    @pages.post("/servers/{server_id:int}/pause")
    async def pause(visitor: FormVisitor, server_id: Id) -> Response:
        await server_changes.pause(services, server_id, actor=visitor.caller.actor)
        return _back(server_id, "paused")

    @pages.post("/servers/{server_id:int}/resume")
    async def resume(visitor: FormVisitor, server_id: Id) -> Response:
        await server_changes.resume(services, server_id, actor=visitor.caller.actor)
        return _back(server_id, "resumed")

    @pages.post("/servers/{server_id:int}/edit")
    async def edit(
        visitor: FormVisitor,
        server_id: Id,
        name: Text,
        interval: Annotated[int, Form()],
        owner: Text = "",
        tags: Text = "",
        mode: Text = "follow",
        transitive: Annotated[bool, Form()] = False,
    ) -> Response:
        patch = ServerPatch(
            name=name.strip(),
            owner=owner.strip() or None,
            tags=forms.tags(tags),
            interval_seconds=interval,
            mode=cast("Literal['follow', 'pinned']", mode),
            transitive=transitive,
        )
        await server_changes.patch(services, server_id, patch, actor=visitor.caller.actor)
        return _back(server_id, "saved")

    @pages.post("/servers/{server_id:int}/credential")
    async def set_credential(
        visitor: FormVisitor, server_id: Id, filled: credential_form.Filled, url: Text = ""
    ) -> Response:
        """Another address, another credential, or both. Another origin needs the credential again."""
        patch = ServerPatch(
            url=url.strip() or UNSET, credential=UNSET if filled.choice == "keep" else filled.credential
        )
        await server_changes.patch(services, server_id, patch, actor=visitor.caller.actor)
        return _back(server_id, "saved")

    @pages.post("/servers/{server_id:int}/delete")
    async def delete(visitor: FormVisitor, server_id: Id, confirm: Text = "") -> Response:
        """Only with the server's name typed in: a wrong click must not end a history."""
        async with services.db.transaction() as session:
            line = await store.server_line(session, server_id)
        if confirm.strip() != line.name:
            raise InputError("the name does not match, nothing was deleted", hint=f"go back and type {line.name!r}")
        await server_changes.delete(services, server_id, actor=visitor.caller.actor)
        return see_other("/?done=deleted")

    return pages


def _back(server_id: int, done: str) -> Response:
    return see_other(f"/servers/{server_id}?done={done}")
