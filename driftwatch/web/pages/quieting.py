"""Forms of the change page for what nobody needs to hear: mute the alert, ignore a finding here."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from driftwatch.alerts import actions
from driftwatch.alerts.actions import By
from driftwatch.errors import InputError
from driftwatch.history import read as history_read
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import FormVisitor
from driftwatch.web.pages import store
from driftwatch.web.pages.forms import Id, Text, see_other

if TYPE_CHECKING:
    from driftwatch.app import Services

_MOST: Final = 30


def router(services: Services) -> APIRouter:
    """The two forms."""
    pages = APIRouter()

    @pages.post("/alerts/{alert_id:int}/mute")
    async def mute(
        request: Request,
        visitor: FormVisitor,
        alert_id: Id,
        hours: Annotated[int, Form(ge=1, le=24 * 90)],
        reason: Text = "",
    ) -> Response:
        by = By(visitor.caller.actor, request.state.request_id)
        async with services.db.transaction() as session:
            until = await store.now(session) + timedelta(hours=hours)
            await actions.mute_alert(session, services.settings, by, alert_id, until=until, reason=reason)
        return see_other(f"/alerts/{alert_id}?done=muted")

    @pages.post("/changes/{change_id:int}/ignore")
    async def ignore(
        request: Request,
        visitor: FormVisitor,
        change_id: Id,
        what: Annotated[int, Form(ge=0)],
        days: Annotated[int, Form(ge=0, le=3650)],
        reason: Text = "",
    ) -> Response:
        by = By(visitor.caller.actor, request.state.request_id)
        async with services.db.transaction() as session:
            change = await history_read.load_change(session, change_id)
            found = ignorable(change)
            if what >= len(found):
                raise InputError("this finding is not there any more", hint="go back and reload the page")
            rule, pointer = found[what]
            await actions.ignore(
                session,
                by,
                server_id=change.server_id,
                tool=change.tool,
                rule=rule,
                pointer=pointer or None,
                reason=reason,
                expires_at=await store.now(session) + timedelta(days=days) if days else None,
            )
        return see_other(f"/changes/{change_id}?done=ignored")

    return pages


def ignorable(change: ChangeView) -> list[tuple[str, str]]:
    """The findings of a change that can be ignored, each by its rule and pointer, worst parts first."""
    found = [
        (f.rule, f.pointer) for p in change.parts for f in p.findings if f.level in {"breaking", "warning", "info"}
    ]
    return list(dict.fromkeys(found))[:_MOST]
