"""The tool list of a server as it was at a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from driftwatch.history import as_of
from driftwatch.history.as_of import ToolAsOf
from driftwatch.web.auth.dependencies import PageVisitor
from driftwatch.web.pages import store
from driftwatch.web.pages.forms import Id
from driftwatch.web.pages.render import render
from driftwatch.web.pages.words import State

if TYPE_CHECKING:
    from driftwatch.app import Services

_UNSURE: Final = State("undecided", "undecided", "uncertain")


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as it was for these kinds of clients."""

    tool: ToolAsOf
    eras: tuple[str, ...]


def together(tools: Iterable[ToolAsOf]) -> list[Listed]:
    """One line where several kinds of clients saw the same; ``tools`` by name."""
    groups: dict[tuple[object, ...], list[ToolAsOf]] = {}
    for tool in tools:
        groups.setdefault((tool.name, tool.number, tool.maybe, tool.next_number), []).append(tool)
    return [Listed(group[0], tuple(tool.era for tool in group)) for group in groups.values()]


def router(services: Services) -> APIRouter:
    """The route of the past of a server."""
    pages = APIRouter()

    @pages.get("/servers/{server_id:int}/as-of")
    async def past(
        request: Request, visitor: PageVisitor, server_id: Id, at: Annotated[datetime, Query()]
    ) -> HTMLResponse:
        """``at`` without a zone is UTC, as a date field sends it."""
        moment = at if at.tzinfo else at.replace(tzinfo=UTC)
        async with services.db.transaction() as session:
            line = await store.server_line(session, server_id)
            tools = await as_of.tools_as_of(session, server_id, moment)
            since = await as_of.watched_since(session, server_id)
        return render(
            request,
            "as_of.html",
            visitor=visitor,
            server=line,
            at=moment,
            tools=together(tools),
            listed=len({tool.name for tool in tools if tool.number is not None}),
            unsure=len({tool.name for tool in tools if tool.maybe}),
            unsure_state=_UNSURE,
            since=since,
            early=since is None or moment < since,
        )

    return pages
