"""Atom feeds of changes: of everything, a server, or a tag. A session, a token, or a token as a Basic password."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from xml.sax.saxutils import escape, quoteattr

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy import func, select
from sqlmodel import col

from driftwatch.alerts import words
from driftwatch.db.engine import Database
from driftwatch.errors import NotFoundError
from driftwatch.history import read as history
from driftwatch.history.tables import Change
from driftwatch.history.views import ChangeView
from driftwatch.safe_text import safe_text
from driftwatch.servers.tables import Server
from driftwatch.web.api.models.base import LARGEST_ID, NO_NUL
from driftwatch.web.auth import tokens
from driftwatch.web.auth.caller import Caller
from driftwatch.web.auth.dependencies import UnauthenticatedError, services_of
from driftwatch.web.auth.sessions import session_caller

router = APIRouter(tags=["feeds"])

ENTRIES: Final = 100
ATOM: Final = "application/atom+xml; charset=utf-8"
_ATOM: Final[dict[str, Any]] = {
    "response_class": Response,
    "responses": {200: {"description": "Atom.", "content": {"application/atom+xml": {"schema": {"type": "string"}}}}},
    "openapi_extra": {"security": [{"token": ["read"]}, {"password": ["read"]}]},
}


async def reader(request: Request) -> Caller:
    """Who reads: a session of the pages, a bearer token, or a token as the password of Basic."""
    services = services_of(request)
    async with services.db.transaction() as session:
        found = await session_caller(request, services.secrets, session)
        caller = found[0] if found is not None else None
        secret = _secret(request.headers.get("authorization", ""))
        if caller is None and secret:
            caller = await tokens.authenticate(session, secret)
    if caller is None:
        raise UnauthenticatedError("this feed needs a token", hint="give your feed reader a token as the password")
    caller.demand("read")
    return caller


Feeder = Annotated[Caller, Depends(reader)]


@router.get("/feeds/all.atom", summary="Every change", **_ATOM)
async def feed(request: Request, who: Feeder) -> Response:
    """Newest first."""
    return await _feed(request, "all servers")


@router.get("/feeds/servers/{server_id:int}.atom", summary="A server's changes", **_ATOM)
async def server_feed(server_id: Annotated[int, Path(ge=1, le=LARGEST_ID)], request: Request, who: Feeder) -> Response:
    """Newest first."""
    async with services_of(request).db.transaction() as session:
        server = await session.get(Server, server_id)
    if server is None or server.state == "deleted":
        raise NotFoundError(f"There is no server {server_id}.")
    return await _feed(request, server.name, server_id=server_id)


@router.get("/feeds/tags/{tag}.atom", summary="A tag's changes", **_ATOM)
async def tag_feed(
    tag: Annotated[str, Path(max_length=100, pattern=NO_NUL)], request: Request, who: Feeder
) -> Response:
    """Of every server with the tag, newest first."""
    return await _feed(request, f"tag {tag}", tag=tag)


async def _feed(request: Request, about: str, *, server_id: int | None = None, tag: str | None = None) -> Response:
    services = services_of(request)
    changes = await _changes(services.db, server_id, tag)
    base = services.settings.public_url
    newest = max((updated(change) for change in changes), default=None)
    if newest is None:
        async with services.db.transaction() as session:
            newest = (await session.execute(select(func.clock_timestamp()))).scalar_one()
    title = f"driftwatch: {safe_text(about, keep_newlines=False)}"
    address = base + request.url.path
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{escape(address)}</id>",
        f"<title>{escape(title)}</title>",
        f"<updated>{newest.isoformat()}</updated>",
        f'<link rel="self" href={quoteattr(address)}/>',
        f'<link rel="alternate" type="text/html" href={quoteattr(f"{base}/changelog")}/>',
        "<author><name>driftwatch</name></author>",
        *(_entry(change, base) for change in changes),
        "</feed>",
    ]
    return Response("\n".join(lines), media_type=ATOM)


async def _changes(db: Database, server_id: int | None, tag: str | None) -> Sequence[ChangeView]:
    async with db.transaction() as session:
        if tag is None:
            return await history.load_changes(session, history.ChangeFilter(server_id=server_id), limit=ENTRIES)
        tagged = select(col(Server.id)).where(col(Server.tags).contains([tag]))
        query = select(col(Change.id)).where(col(Change.server_id).in_(tagged)).order_by(col(Change.id).desc())
        ids = [found for found in (await session.scalars(query.limit(ENTRIES))).all() if found is not None]
        return await history.load_changes(session, ids=ids, limit=ENTRIES) if ids else []


def updated(change: ChangeView) -> datetime:
    """When an entry last changed: its newest judgement amends it."""
    return max(change.recorded_at, change.judgement.at if change.judgement else change.recorded_at)


def _entry(change: ChangeView, base: str) -> str:
    said = words.sentences(change)
    verdict = change.verdict or "not assessed yet"
    announced = change.announcement or "not judged yet"
    title = _plain(f"{change.server} / {change.tool}: {said[0]} ({verdict}, {announced})")
    summary = _plain("; ".join(said[:10]) + f". {words.versions(change)}, {words.window(*change.window)}.")
    url = f"{base}/changes/{change.id}"
    return (
        f"<entry><id>{escape(url)}</id><title>{escape(title)}</title><updated>{updated(change).isoformat()}</updated>"
        f"<published>{change.recorded_at.isoformat()}</published>"
        f'<link rel="alternate" type="text/html" href={quoteattr(url)}/>'
        f"<category term={quoteattr(verdict)}/><category term={quoteattr(announced)}/>"
        f'<summary type="text">{escape(summary)}</summary></entry>'
    )


def _plain(text: str) -> str:
    return safe_text(text.replace("`", ""), keep_newlines=False)[:2000]


def _secret(authorization: str) -> str:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""
