"""The first page: what needs you, then every server; a first run gets its next step instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.views import AlertView
from driftwatch.history import read as history_read
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages import fleet, store
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

MAX_LINES: Final = 200
MAX_NEEDS: Final = 20
MAX_TAGS: Final = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the URL asks for; an empty string asks for nothing."""

    q: str
    tag: str
    state: str


def router(services: Services) -> APIRouter:
    """The overview's route."""
    pages = APIRouter()

    @pages.get("/")
    async def overview(
        request: Request, visitor: PageVisitor, q: str = "", tag: str = "", state: str = "", every: str = ""
    ) -> HTMLResponse:
        chosen = Chosen(q.strip()[:200], tag[:200], state)
        async with services.db.transaction() as session:
            now = await store.now(session)
            rows = await store.fleet(session, search=chosen.q)
            alerts = await alerts_read.open_alerts(session)
            changes = await _leading_changes(session, alerts)
        if not rows and not chosen.q:
            return render(request, "empty.html", visitor=visitor)
        lines = fleet.lines(rows, alerts, now)
        shown = [line for line in lines if _asked_for(line, chosen)]
        cap = len(shown) if every else MAX_LINES
        return render(
            request,
            "overview.html",
            visitor=visitor,
            now=now,
            needs=fleet.needs(alerts, changes),
            lines=shown[:cap],
            hidden=len(shown) - len(shown[:cap]),
            tally=fleet.tally(lines),
            tags=sorted({tag for line in lines for tag in line.tags})[:MAX_TAGS],
            last_poll=fleet.last_poll(rows),
            chosen=chosen,
            link=_linker(chosen),
        )

    return pages


async def _leading_changes(session: AsyncSession, alerts: list[AlertView]) -> dict[int, ChangeView]:
    leads = [fleet.lead(alert) for alert in alerts if alert.state == "open" and alert.kind == "drift"]
    ids = [lead.change_id for lead in leads[:MAX_NEEDS] if lead]
    return {change.id: change for change in await history_read.load_changes(session, ids=ids, limit=MAX_NEEDS)}


def _asked_for(line: fleet.Line, chosen: Chosen) -> bool:
    return (not chosen.tag or chosen.tag in line.tags) and (not chosen.state or chosen.state == line.standing)


def _linker(chosen: Chosen) -> Callable[..., str]:
    """Links that keep what is chosen and change one thing."""

    def link(**change: str) -> str:
        asked = {"q": chosen.q, "tag": chosen.tag, "state": chosen.state} | change
        query = urlencode({key: value for key, value in asked.items() if value})
        return f"/?{query}" if query else "/"

    return link
