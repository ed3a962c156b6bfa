"""The changelog to take along, as JSON and as Markdown: the same changes, filters and words as its page."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from driftwatch.history import read
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api import markdown
from driftwatch.web.api.models import ExportedChange, Page
from driftwatch.web.api.params import Cursor
from driftwatch.web.api.wanted import Wanted
from driftwatch.web.auth.dependencies import Reader, Transaction, services_of
from driftwatch.web.pages import entries, exports, store

router = APIRouter(tags=["changelog"])

Length = Annotated[int, Query(ge=1, le=200, description="Most changesets of the page.")]


@router.get("/changelog", summary="The changelog for scripts")
async def export_changelog(
    who: Reader, session: Transaction, wanted: Wanted, cursor: Cursor = None, limit: Length = 50
) -> Page[ExportedChange]:
    """Changes of up to `limit` whole changesets, newest first; all filters must hold."""
    changes, older = await read.load_changelog(session, wanted, cursor=cursors.decode(cursor), limit=limit, brief=False)
    return Page(
        items=[ExportedChange.model_validate(exports.plain(change)) for change in changes],
        next=cursors.encode(older),
    )


@router.get("/changelog.md", summary="The changelog for people", **markdown.DESCRIBED)
async def export_changelog_markdown(
    request: Request, who: Reader, session: Transaction, wanted: Wanted, cursor: Cursor = None, limit: Length = 50
) -> Response:
    """Days, then changesets; the last line leads to older ones."""
    changes, older = await read.load_changelog(session, wanted, cursor=cursors.decode(cursor), limit=limit)
    base = services_of(request).settings.public_url
    title = "Changelog"
    if wanted.server_id is not None:
        title = f"Changelog of {(await store.server_line(session, wanted.server_id)).name}"
    days = entries.days(entries.gather(changes), (await store.now(session)).date())
    more = None
    if older is not None:
        kept = [(key, value) for key, value in request.query_params.multi_items() if key != "cursor"]
        more = f"{base}{request.url.path}?{urlencode([*kept, ('cursor', cursors.encode(older))])}"
    return markdown.answer(exports.changelog(title, days, base, more))
