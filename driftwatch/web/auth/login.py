"""Signing in and out: with a token, or with the one-time link that the first start shows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from driftwatch.errors import ForbiddenError
from driftwatch.web.auth import store, tokens
from driftwatch.web.auth.dependencies import FormVisitor, services_of
from driftwatch.web.auth.sessions import check_origin, close_session, open_session
from driftwatch.web.auth.throttle import Throttle
from driftwatch.web.pages.render import render

SEE_OTHER = 303
throttle = Throttle()
router = APIRouter(include_in_schema=False)


def safe_next(target: str | None) -> str:
    """Where to go after signing in: a path of ours, never another site."""
    if target and target.startswith("/") and not target.startswith(("//", "/\\")):
        return target
    return "/"


@router.get("/login")
async def show(request: Request, next: str | None = None) -> Response:  # noqa: A002 - the query parameter's usual name
    """The sign-in page."""
    return render(request, "login.html", next=safe_next(next), error=None)


@router.post("/login")
async def sign_in(
    request: Request,
    token: Annotated[str, Form()],
    next: Annotated[str | None, Form()] = None,  # noqa: A002 - the form field's usual name
) -> Response:
    """Open a session for the owner of a token."""
    services = services_of(request)
    check_origin(request)
    address = request.client.host if request.client else "unknown"
    throttle.check(address)
    async with services.db.transaction() as session:
        caller = await tokens.authenticate(session, token.strip())
        if caller is not None:
            await store.write_audit(session, actor=caller.actor, action="login", subject=f"token/{caller.token_id}")
    if caller is None:
        throttle.failed(address)
        return render(
            request, "login.html", status=403, next=safe_next(next), error="This token is unknown, revoked or expired."
        )
    answer = RedirectResponse(safe_next(next), status_code=SEE_OTHER)
    open_session(answer, services.secrets, token_id=caller.token_id, secure=request.url.scheme == "https")
    return answer


@router.get("/login/{secret}")
async def show_link(request: Request, secret: str) -> Response:
    """Ask for a click before the link is spent: chat programs and mail scanners open links by themselves."""
    return render(request, "login_link.html", secret=secret)


@router.post("/login/{secret}")
async def sign_in_by_link(request: Request, secret: str) -> Response:
    """Open an admin session for whoever holds the one-time link."""
    services = services_of(request)
    check_origin(request)
    address = request.client.host if request.client else "unknown"
    throttle.check(address)
    async with services.db.transaction() as session:
        spent = await store.spend_login_link(session, tokens.digest(secret))
        admin = await store.admin_token(session) if spent else None
        if admin is not None:
            await store.write_audit(session, actor=admin.name, action="login", subject="login-link")
    if admin is None or admin.id is None:
        throttle.failed(address)
        raise ForbiddenError(
            "this login link was used already or has expired",
            hint="sign in with the token in HOME/admin-token, or run: driftwatch login-link",
        )
    answer = RedirectResponse("/", status_code=SEE_OTHER)
    open_session(answer, services.secrets, token_id=admin.id, secure=request.url.scheme == "https")
    return answer


@router.post("/logout")
async def sign_out(who: FormVisitor) -> Response:
    """End the session on this browser."""
    answer = RedirectResponse("/login", status_code=SEE_OTHER)
    close_session(answer)
    return answer
