"""The changelog: days, then changesets, a page at a time by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from driftwatch.history import read as history_read
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages import entries, store
from driftwatch.web.pages.forms import Key
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

PAGE: Final = 60
VERDICTS: Final = ("breaking", "invalid", "undecided", "compatible")


def router(services: Services) -> APIRouter:
    """The changelog's route."""
    pages = APIRouter()

    @pages.get("/changelog")
    async def changelog(
        request: Request, visitor: PageVisitor, before: Key = None, server: Key = None, verdict: str = ""
    ) -> HTMLResponse:
        verdict = verdict if verdict in VERDICTS else ""
        async with services.db.transaction() as session:
            now = await store.now(session)
            line = await store.server_line(session, server) if server is not None else None
            changes = await history_read.load_changes(
                session, server_id=server, verdict=verdict or None, cursor=before, limit=PAGE + 1
            )
        page, older = _whole_changesets(changes)
        return render(
            request,
            "changelog.html",
            visitor=visitor,
            now=now,
            days=entries.days(entries.gather(page), now.date()),
            older=older,
            server=line,
            verdict=verdict,
            verdicts=VERDICTS,
            tools=len({(change.server_id, change.tool) for change in page}),
        )

    return pages


def _whole_changesets(changes: Sequence[ChangeView]) -> tuple[list[ChangeView], int | None]:
    """A page and the id that the next one begins below; a changeset is not torn in two unless it fills a page."""
    if len(changes) <= PAGE:
        return list(changes), None
    page = list(changes[:PAGE])
    torn = changes[PAGE].changeset_id
    whole = [change for change in page if change.changeset_id != torn] or page
    return whole, whole[-1].id
