"""The changelog: days, then changesets, a page at a time by key; the same as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.classify.findings import RULES
from driftwatch.history import read as history_read
from driftwatch.history.change_filter import ChangeFilter
from driftwatch.history.views import ChangeView
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages import chips, entries, exports, fleet_store, store
from driftwatch.web.pages.forms import Key
from driftwatch.web.pages.models import ServerLine
from driftwatch.web.pages.render import render

if TYPE_CHECKING:
    from driftwatch.app import Services

#: changesets on a page, and in an export at most
PAGE: Final = 15
EXPORTED: Final = 200
VERDICTS: Final = ("breaking", "invalid", "undecided", "compatible")
ANNOUNCEMENTS: Final = ("silent", "announced", "unknown", "pending")
ERAS: Final = ("modern", "legacy")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the URL asks for; None and an empty string ask for nothing."""

    server: int | None = None
    tag: str = ""
    verdict: str = ""
    announcement: str = ""
    era: str = ""
    rule: str = ""


def wanted(
    server: Key = None, tag: str = "", verdict: str = "", announcement: str = "", era: str = "", rule: str = ""
) -> Wanted:
    """The filters of a URL; a value that does not exist asks for nothing."""
    return Wanted(
        server,
        chips.label(tag),
        verdict if verdict in VERDICTS else "",
        announcement if announcement in ANNOUNCEMENTS else "",
        era if era in ERAS else "",
        rule if rule in RULES else "",
    )


Filters = Annotated[Wanted, Depends(wanted)]
Length = Annotated[int, Query(ge=1, le=EXPORTED)]


def router(services: Services) -> APIRouter:
    """The changelog's routes."""
    pages = APIRouter()

    @pages.get("/changelog")
    async def changelog(request: Request, visitor: PageVisitor, chosen: Filters, before: Key = None) -> HTMLResponse:
        async with services.db.transaction() as session:
            now = await store.now(session)
            line = await _server(session, chosen)
            page, older = await _load(session, chosen, before, PAGE)
            tags, _ = await fleet_store.labels(session)
        return render(
            request,
            "changelog.html",
            visitor=visitor,
            live=chosen.server or "all",
            now=now,
            days=entries.days(entries.gather(page), now.date()),
            older=older,
            server=line,
            wanted=chosen,
            chosen=any(asdict(chosen).values()),
            filters=_filters(chosen, tags),
            link=_linker(chosen),
            export=_linker(chosen, "/changelog.md"),
            export_json=_linker(chosen, "/changelog.json"),
            tools=len({(change.server_id, change.tool) for change in page}),
        )

    @pages.get("/changelog.md")
    async def markdown(visitor: PageVisitor, chosen: Filters, before: Key = None, limit: Length = EXPORTED) -> Response:
        async with services.db.transaction() as session:
            now = await store.now(session)
            line = await _server(session, chosen)
            page, older = await _load(session, chosen, before, limit)
        title = f"Changelog of {line.name}" if line else "Changelog"
        days = entries.days(entries.gather(page), now.date())
        more = f"{services.settings.public_url}{_linker(chosen, '/changelog.md')(before=older)}" if older else None
        text = exports.changelog(title, days, services.settings.public_url, more)
        return Response(text, media_type="text/markdown; charset=utf-8")

    @pages.get("/changelog.json")
    async def as_json(visitor: PageVisitor, chosen: Filters, before: Key = None, limit: Length = EXPORTED) -> Response:
        async with services.db.transaction() as session:
            await _server(session, chosen)
            page, older = await _load(session, chosen, before, limit, brief=False)
        next_url = _linker(chosen, "/changelog.json")(before=older) if older else None
        return JSONResponse({"items": [exports.plain(change) for change in page], "next": next_url})

    return pages


async def _server(session: AsyncSession, chosen: Wanted) -> ServerLine | None:
    return None if chosen.server is None else await store.server_line(session, chosen.server)


async def _load(
    session: AsyncSession, chosen: Wanted, before: int | None, limit: int, *, brief: bool = True
) -> tuple[list[ChangeView], int | None]:
    """The changes of up to ``limit`` whole changesets, newest first, and the changeset that the next page is below."""
    fits = ChangeFilter(
        server_id=chosen.server,
        tag=chosen.tag or None,
        verdict=chosen.verdict or None,
        announcement=chosen.announcement or None,
        era=chosen.era or None,
        rule=chosen.rule or None,
    )
    return await history_read.load_changelog(session, fits, cursor=before, limit=limit, brief=brief)


def _filters(chosen: Wanted, tags: Sequence[str]) -> list[chips.Filter]:
    found = [
        chips.offer("verdict", VERDICTS, chosen.verdict),
        chips.folded("announcement", ANNOUNCEMENTS, chosen.announcement),
        chips.folded("era", ERAS, chosen.era),
        chips.folded("rule", list(RULES), chosen.rule),
    ]
    return found if chosen.server is not None else [*found, chips.folded("tag", tags, chosen.tag)]


def _linker(chosen: Wanted, path: str = "/changelog") -> Callable[..., str]:
    """Links that keep what is chosen and change one thing."""

    def link(**change: object) -> str:
        query = urlencode({key: value for key, value in (asdict(chosen) | change).items() if value})
        return f"{path}?{query}" if query else path

    return link
