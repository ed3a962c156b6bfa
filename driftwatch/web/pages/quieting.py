"""What nobody needs to hear: mutes, ignore rules, maintenance windows; on their own page and beside a change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, quiet_store
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute
from driftwatch.classify.findings import RULES
from driftwatch.errors import InputError
from driftwatch.history import read as history_read
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import FormVisitor, PageVisitor
from driftwatch.web.pages import fleet_store, scopes, store
from driftwatch.web.pages.forms import LARGEST_ID, Id, Text, by, see_other
from driftwatch.web.pages.render import render
from driftwatch.web.pages.scopes import Scope

if TYPE_CHECKING:
    from driftwatch.app import Services

HERE: Final = "/settings/quiet"
Key = Annotated[int, Form(ge=1, le=LARGEST_ID)]
Hours = Annotated[int, Form(ge=1, le=24 * 90)]
#: 0: no end
Days = Annotated[int, Form(ge=0, le=3650)]
_MOST: Final = 30


def router(services: Services) -> APIRouter:
    """The page and every form."""
    pages = APIRouter()
    for add in (_page, _windows, _mutes, _ignores):
        add(pages, services)
    return pages


def _page(pages: APIRouter, services: Services) -> None:
    @pages.get(HERE)
    async def quiet_page(request: Request, visitor: PageVisitor) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            tags, _ = await fleet_store.labels(session)
            servers = await store.server_names(session)
            windows, mutes, ignores = [
                [(Scope.of_row(row), row) for row in await quiet_store.listed(session, table, all_of_them=False)]
                for table in (MaintenanceWindow, Mute, IgnoreRule)
            ]
        return render(
            request,
            "quiet.html",
            visitor=visitor,
            now=now,
            hour_ahead=now + timedelta(hours=1),
            servers=servers,
            by_name=sorted(servers.items(), key=lambda item: item[1]),
            offered=scopes.offered(servers, tags),
            rules=sorted(RULES),
            windows=windows,
            mutes=mutes,
            ignores=ignores,
        )

    @pages.post(HERE + "/{kind}/{row_id:int}/end")
    async def end(request: Request, visitor: FormVisitor, kind: str, row_id: Id) -> Response:
        ends = {"mute": actions.end_mute, "ignore": actions.end_ignore, "maintenance": actions.end_maintenance}
        if kind not in ends:
            raise InputError("there is no such button", hint="go back and reload the page")
        async with services.db.transaction() as session:
            await ends[kind](session, by(request, visitor), row_id)
        return see_other(f"{HERE}?done=saved")


def _windows(pages: APIRouter, services: Services) -> None:
    @pages.post(HERE + "/maintenance")
    async def maintain(
        request: Request, visitor: FormVisitor, scope: Text, starts_at: Text, ends_at: Text, reason: Text = ""
    ) -> Response:
        chosen = Scope.of(scope)
        async with services.db.transaction() as session:
            await actions.maintain(
                session,
                by(request, visitor),
                starts_at=moment(starts_at),
                ends_at=moment(ends_at),
                server_id=chosen.server_id,
                tag=chosen.tag,
                reason=reason,
            )
        return see_other(f"{HERE}?done=saved")


def _mutes(pages: APIRouter, services: Services) -> None:
    @pages.post(HERE + "/mutes")
    async def mute_server(
        request: Request, visitor: FormVisitor, server: Key, hours: Hours, tool: Text = "", reason: Text = ""
    ) -> Response:
        async with services.db.transaction() as session:
            until = await store.now(session) + timedelta(hours=hours)
            await actions.mute_server(
                session, by(request, visitor), server, until=until, tool=tool.strip() or None, reason=reason
            )
        return see_other(f"{HERE}?done=saved")

    @pages.post("/alerts/{alert_id:int}/mute")
    async def mute(request: Request, visitor: FormVisitor, alert_id: Id, hours: Hours, reason: Text = "") -> Response:
        async with services.db.transaction() as session:
            until = await store.now(session) + timedelta(hours=hours)
            who = by(request, visitor)
            await actions.mute_alert(session, services.settings, who, alert_id, until=until, reason=reason)
        return see_other(f"/alerts/{alert_id}?done=muted")


def _ignores(pages: APIRouter, services: Services) -> None:
    @pages.post(HERE + "/ignores")
    async def ignore_findings(
        request: Request,
        visitor: FormVisitor,
        days: Days,
        server: Text = "",
        tool: Text = "",
        rule: Text = "",
        pointer: Text = "",
        reason: Text = "",
    ) -> Response:
        async with services.db.transaction() as session:
            await actions.ignore(
                session,
                by(request, visitor),
                server_id=Scope.of(f"server:{server}").server_id if server else None,
                tool=tool.strip() or None,
                rule=rule.strip() or None,
                pointer=pointer.strip() or None,
                reason=reason,
                expires_at=await _expiry(session, days),
            )
        return see_other(f"{HERE}?done=saved")

    @pages.post("/changes/{change_id:int}/ignore")
    async def ignore(
        request: Request,
        visitor: FormVisitor,
        change_id: Id,
        what: Annotated[int, Form(ge=0)],
        days: Days,
        reason: Text = "",
    ) -> Response:
        async with services.db.transaction() as session:
            change = await history_read.load_change(session, change_id)
            found = ignorable(change)
            if what >= len(found):
                raise InputError("this finding is not there any more", hint="go back and reload the page")
            rule, pointer = found[what]
            await actions.ignore(
                session,
                by(request, visitor),
                server_id=change.server_id,
                tool=change.tool,
                rule=rule,
                pointer=pointer or None,
                reason=reason,
                expires_at=await _expiry(session, days),
            )
        return see_other(f"/changes/{change_id}?done=ignored")


async def _expiry(session: AsyncSession, days: int) -> datetime | None:
    return await store.now(session) + timedelta(days=days) if days else None


def moment(text: str) -> datetime:
    """The time of a form, without an offset and in UTC. Raises InputError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(f"{text!r} is no time", hint="write it like 2026-11-30T14:00, in UTC") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def ignorable(change: ChangeView) -> list[tuple[str, str]]:
    """The findings of a change that can be ignored, each by its rule and pointer, worst parts first."""
    found = [
        (f.rule, f.pointer) for p in change.parts for f in p.findings if f.level in {"breaking", "warning", "info"}
    ]
    return list(dict.fromkeys(found))[:_MOST]
