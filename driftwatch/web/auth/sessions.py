"""Browser sessions: a sealed cookie that names a token, and the CSRF token that guards every form."""

from __future__ import annotations

import hmac
import json
import secrets
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Request, Response
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import DriftwatchError, ForbiddenError
from driftwatch.servers.secrets import SecretBox
from driftwatch.web.auth import store
from driftwatch.web.auth.caller import Caller

COOKIE = "driftwatch_session"
#: the key seals other things too; none of them may be taken for a session
PURPOSE = "session"
LIFETIME_SECONDS = 14 * 24 * 3600


class LoginRequiredError(DriftwatchError):
    """A page was asked for without a session; the edge turns it into a redirect to /login."""

    code = "login-required"


@dataclass(frozen=True, slots=True)
class Session:
    """What the cookie holds. ``csrf`` must come back with every form."""

    token_id: int
    csrf: str
    issued_at: int


def open_session(response: Response, box: SecretBox, *, token_id: int, secure: bool) -> Session:
    """Start a session on this response."""
    session = Session(token_id=token_id, csrf=secrets.token_urlsafe(24), issued_at=int(time.time()))
    sealed, _ = box.seal(json.dumps([PURPOSE, session.token_id, session.csrf, session.issued_at]).encode())
    response.set_cookie(
        COOKIE, sealed.decode("ascii"), max_age=LIFETIME_SECONDS, httponly=True, secure=secure, samesite="lax", path="/"
    )
    return session


def close_session(response: Response) -> None:
    """Forget the session on this browser."""
    response.delete_cookie(COOKIE, path="/")


def read_session(request: Request, box: SecretBox) -> Session | None:
    """The session of a request, None when there is none, or it is forged or too old."""
    sealed = request.cookies.get(COOKIE)
    if not sealed:
        return None
    try:
        purpose, token_id, csrf, issued_at = json.loads(box.open(sealed.encode("ascii")))
    except (DriftwatchError, ValueError, TypeError):
        return None
    if purpose != PURPOSE or not 0 <= time.time() - issued_at <= LIFETIME_SECONDS:
        return None
    return Session(token_id=token_id, csrf=csrf, issued_at=issued_at)


async def session_caller(request: Request, box: SecretBox, db_session: AsyncSession) -> tuple[Caller, Session] | None:
    """Who is behind a page request. The token is looked up each time: revoking it ends its sessions."""
    session = read_session(request, box)
    if session is None:
        return None
    row = await store.usable_token_by_id(db_session, session.token_id)
    if row is None or row.id is None:
        return None
    return Caller(actor=row.name, token_id=row.id, scopes=frozenset(row.scopes)), session


def check_csrf(request: Request, session: Session, given: str | None) -> None:
    """Refuse a form that another site sent: the token must match, and Origin, where a browser sends it, be ours."""
    if not hmac.compare_digest(session.csrf.encode(), (given or "").encode()):
        raise ForbiddenError(
            "this form has expired or came from another site", hint="go back, reload the page and send it again"
        )
    check_origin(request)


def check_origin(request: Request) -> None:
    """Refuse a write whose Origin is not the address it was sent to."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    if urlsplit(origin).netloc != request.headers.get("host"):
        raise ForbiddenError("this form came from another site", hint="open driftwatch directly and try again")
