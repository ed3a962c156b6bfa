"""The policy, line by line, as it holds for everything, a tag or a server; and changing a line there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from driftwatch.alerts import actions, quiet_store
from driftwatch.alerts.overrides import lines_for
from driftwatch.alerts.policy import SEVERITIES
from driftwatch.alerts.quiet_tables import PolicyChange
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor
from driftwatch.web.pages import fleet_store, scopes, store
from driftwatch.web.pages.forms import Id, Text, by, see_other
from driftwatch.web.pages.render import render
from driftwatch.web.pages.scopes import Scope

if TYPE_CHECKING:
    from driftwatch.app import Services

HERE: Final = "/settings/policy"
#: what a line may do, as one value of a form, and in words
OUTCOMES: Final = (
    *((f"alert:{severity}", f"alert, {severity}") for severity in SEVERITIES),
    ("summary", "daily summary"),
    ("history", "history only"),
)


def router(services: Services) -> APIRouter:
    """The page and its forms."""
    pages = APIRouter()

    @pages.get(HERE)
    async def policy_page(request: Request, visitor: PageVisitor, scope: str = "") -> HTMLResponse:
        chosen = Scope.of(scope)
        async with services.db.transaction() as session:
            tags, _ = await fleet_store.labels(session)
            of_server = () if chosen.server_id is None else (await store.server_line(session, chosen.server_id)).tags
            held = (chosen.tag,) if chosen.tag else of_server
            lines = lines_for(await quiet_store.line_changes(session), server_id=chosen.server_id, tags=held)
            changes = await quiet_store.listed(session, PolicyChange, all_of_them=True)
            servers = await store.server_names(session)
            at = await store.now(session)
        return render(
            request,
            "policy.html",
            visitor=visitor,
            at=at,
            scope=chosen,
            servers=servers,
            offered=scopes.offered(servers, tags),
            lines=lines,
            outcomes=OUTCOMES,
            changes=[(Scope.of_row(row), row) for row in changes],
        )

    @pages.post(HERE)
    async def change(request: Request, visitor: FormVisitor, line: Text, then: Text, scope: Text) -> Response:
        outcome, _, severity = then.partition(":")
        chosen = Scope.of(scope)
        async with services.db.transaction() as session:
            await actions.change_line(
                session,
                by(request, visitor),
                line=line,
                outcome=outcome,
                severity=severity or None,
                server_id=chosen.server_id,
                tag=chosen.tag,
            )
        return see_other(f"{HERE}?{chosen.query}&done=saved")

    @pages.post(HERE + "/{change_id:int}/restore")
    async def restore(request: Request, visitor: FormVisitor, change_id: Id) -> Response:
        async with services.db.transaction() as session:
            await actions.restore_line(session, by(request, visitor), change_id)
        return see_other(f"{HERE}?done=saved")

    return pages
