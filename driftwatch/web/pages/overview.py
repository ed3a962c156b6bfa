"""The first page: what needs you, then every server; a first run gets its next step instead. Also the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import heads_store
from driftwatch.alerts.views import AlertView
from driftwatch.history import read as history_read
from driftwatch.history import search_store
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages import chips, fleet, fleet_store, searching, store
from driftwatch.web.pages.fleet_store import Wanted
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

MAX_LINES: Final = 50
MAX_NEEDS: Final = 20
ERAS: Final = ("modern", "legacy")


def router(services: Services) -> APIRouter:
    """The overview's route."""
    pages = APIRouter()

    @pages.get("/")
    async def overview(
        request: Request,
        visitor: PageVisitor,
        q: str = "",
        tag: str = "",
        owner: str = "",
        era: str = "",
        state: str = "",
        after: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> HTMLResponse:
        wanted = Wanted(q.strip()[:200], chips.label(tag), chips.label(owner), era if era in ERAS else "", state)
        async with services.db.transaction() as session:
            now = await store.now(session)
            found, servers = await _search(session, wanted.q)
            watched = await fleet_store.stands(session, wanted, hits=servers)
            alerts = await heads_store.open_heads(session)
            # they are shown above the first lines of the fleet, not above what a search found
            changes = {} if wanted.q or after else await _leading_changes(session, alerts)
            stands = fleet.standing(watched, alerts)
            fit = [key for key, stand in stands if not wanted.state or stand == wanted.state]
            shown = fit[after : after + MAX_LINES]
            rows = await fleet_store.rows(session, shown)
            tags, owners = await fleet_store.labels(session)
        if not watched and not any(asdict(wanted).values()):
            return render(request, "empty.html", visitor=visitor)
        return render(
            request,
            "overview.html",
            visitor=visitor,
            live="all",
            now=now,
            needs=fleet.needs(alerts, changes),
            lines=fleet.lines(rows, alerts, now),
            after=after,
            size=MAX_LINES,
            fit=len(fit),
            tally=fleet.tally([stand for _, stand in stands]),
            filters=_filters(wanted, tags, owners),
            last_poll=fleet.last_poll(watched),
            wanted=wanted,
            chosen=any(asdict(wanted).values()),
            found=found,
            link=_linker(wanted),
        )

    return pages


async def _search(session: AsyncSession, q: str) -> tuple[searching.Found, set[int]]:
    """What is found besides servers, and the servers it is found in."""
    if not q:
        return searching.Found(), set()
    limit = 4 * searching.CAP  # the same tool is there once for each kind of client
    tools = await search_store.find_tools(session, q, limit=limit)
    fields = await search_store.find_fields(session, q, limit=limit)
    return searching.tell(q, tools, fields), {hit.server_id for hit in (*tools, *fields)}


async def _leading_changes(session: AsyncSession, alerts: list[AlertView]) -> dict[int, ChangeView]:
    leads = [fleet.lead(alert) for alert in alerts if alert.state == "open" and alert.kind == "drift"]
    ids = [lead.change_id for lead in leads[:MAX_NEEDS] if lead]
    return {change.id: change for change in await history_read.load_changes(session, ids=ids, limit=MAX_NEEDS)}


def _filters(wanted: Wanted, tags: Sequence[str], owners: Sequence[str]) -> list[chips.Filter]:
    return [
        chips.offer("era", ERAS, wanted.era),
        chips.offer("tag", tags, wanted.tag),
        chips.offer("owner", owners, wanted.owner),
    ]


def _linker(wanted: Wanted) -> Callable[..., str]:
    """Links that keep what is chosen and change one thing."""

    def link(**change: object) -> str:
        query = urlencode({key: value for key, value in (asdict(wanted) | change).items() if value})
        return f"/?{query}" if query else "/"

    return link
