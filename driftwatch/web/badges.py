"""Badges of a server or a tool: a small SVG, and the JSON that shields-style badge services read.

For READMEs and dashboards, so they answer to a session, to a token with the scope read, or, where the setting
``public_badges`` says so, to everyone. They tell a state, never a name of a field or a schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from fastapi.security import HTTPAuthorizationCredentials
from markupsafe import escape
from pydantic import BaseModel
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import heads_store
from driftwatch.alerts import read as alerts_read
from driftwatch.safe_text import safe_text
from driftwatch.web.auth.dependencies import UnauthenticatedError, allowed, bearer, services_of, visitor
from driftwatch.web.auth.sessions import LoginRequiredError
from driftwatch.web.pages import fleet, fleet_store, store
from driftwatch.web.pages.forms import Id

if TYPE_CHECKING:
    from driftwatch.app import Services

_COLOURS: Final = {"needs": ("#b0231b", "red"), "blind": ("#55585f", "lightgrey"), "fine": ("#1a6a39", "brightgreen")}
_LETTER: Final = 6.6
_LABEL: Final = 60
_FRESH_SECONDS: Final = 60

_SVG: Final[dict[str, Any]] = {
    "response_class": Response,
    "responses": {200: {"description": "The badge.", "content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
}


class BadgeOut(BaseModel):
    """What shields-style badge services read; the names are theirs."""

    schemaVersion: int = 1  # noqa: N815 - their name
    label: str
    message: str
    color: str
    isError: bool  # noqa: N815 - their name
    cacheSeconds: int = _FRESH_SECONDS  # noqa: N815 - their name


async def reader(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> None:
    """Who may see a badge."""
    if services_of(request).settings.public_badges:
        return
    if credentials is not None:
        await allowed("read")(request, credentials)
        return
    try:
        await visitor(request)
    except LoginRequiredError:
        raise UnauthenticatedError("this badge needs a token", hint="or set DRIFTWATCH_PUBLIC_BADGES") from None


def router(services: Services) -> APIRouter:
    """Routes of badges."""
    routes = APIRouter(prefix="/badges", tags=["badges"], dependencies=[Depends(reader)])

    @routes.get("/servers/{server_id:int}.svg", summary="A server's badge", **_SVG)
    async def server_badge(server_id: Id) -> Response:
        """How it stands, in one word: needs you, fine, or why nobody sees it."""
        async with services.db.transaction() as session:
            return _svg(*await _server(session, server_id))

    @routes.get("/servers/{server_id:int}.json", summary="A server's badge for badge services")
    async def server_badge_data(server_id: Id, response: Response) -> BadgeOut:
        """The same for services that draw badges themselves."""
        async with services.db.transaction() as session:
            return _data(response, *await _server(session, server_id))

    @routes.get("/tools/{tool_id:int}.svg", summary="A tool's badge", **_SVG)
    async def tool_badge(tool_id: Id) -> Response:
        """The verdict that is open about it, else how its server stands."""
        async with services.db.transaction() as session:
            return _svg(*await _tool(session, tool_id))

    @routes.get("/tools/{tool_id:int}.json", summary="A tool's badge for badge services")
    async def tool_badge_data(tool_id: Id, response: Response) -> BadgeOut:
        """The same for services that draw badges themselves."""
        async with services.db.transaction() as session:
            return _data(response, *await _tool(session, tool_id))

    return routes


async def _server(session: AsyncSession, server_id: int) -> tuple[str, str, str]:
    line = await store.server_line(session, server_id)
    (row,) = await fleet_store.rows(session, [server_id])
    alerts = await heads_store.server_heads(session, server_id)
    (drawn,) = fleet.lines([row], [alert for alert in alerts if alert.needs_someone], await store.now(session))
    return line.name, drawn.state.word, drawn.standing


async def _tool(session: AsyncSession, tool_id: int) -> tuple[str, str, str]:
    head = await store.tool_head(session, tool_id)
    alerts = await alerts_read.server_alerts(session, head.server_id, limit=50)
    loud = [
        change.verdict or "change"
        for alert in alerts
        if alert.state == "open" and alert.kind == "drift"
        for change in alert.changes
        if change.tool == head.name and change.outcome == "alert"
    ]
    if loud:
        return f"{head.server} / {head.name}", loud[0], "needs"
    _, server, standing = await _server(session, head.server_id)
    word, kept = ("fine", "fine") if standing == "needs" else (server, standing)
    return f"{head.server} / {head.name}", word, kept


def _data(response: Response, label: str, message: str, standing: str) -> BadgeOut:
    response.headers.update(_headers())
    return BadgeOut(label=_short(label), message=message, color=_COLOURS[standing][1], isError=standing == "needs")


def _svg(label: str, message: str, standing: str) -> Response:
    """Drawn with attributes only: the content security policy of the page that shows it allows no inline style."""
    name = _short(label)
    left, right = round(len(name) * _LETTER + 14), round(len(message) * _LETTER + 14)
    title = escape(f"{name}: {message}")
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">'
        f'<title>{title}</title><rect width="{left + right}" height="20" rx="3" fill="#3a3d44"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="{_COLOURS[standing][0]}"/>'
        '<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(name)}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(message)}</text></g></svg>'
    )
    return Response(text, media_type="image/svg+xml", headers=_headers())


def _short(label: str) -> str:
    seen = safe_text(label)
    return seen if len(seen) <= _LABEL else f"{seen[: _LABEL - 1]}…"


def _headers() -> dict[str, str]:
    return {"cache-control": f"private, max-age={_FRESH_SECONDS}"}
