"""The web role: API, pages, health, and how errors become answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import DataError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.routing import Match

import driftwatch
from driftwatch.errors import DriftwatchError, InputError
from driftwatch.web import api, badges, feeds, health, live, pages, slack
from driftwatch.web.auth import login
from driftwatch.web.auth.sessions import LoginRequiredError
from driftwatch.web.description import describe
from driftwatch.web.equivalences import Equivalences
from driftwatch.web.headers import ResponseHeaders
from driftwatch.web.pages.render import STATIC, render_error
from driftwatch.web.problems import TITLES, problem

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)
SEE_OTHER = 303


def create_app(services: Services) -> FastAPI:
    """The ASGI application of the web role."""
    app = FastAPI(
        title="driftwatch",
        version=driftwatch.__version__,
        summary="Who changed a tool contract, does it break a cached client, and was it announced.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # FastAPI's documented way
    app.state.services = services
    app.state.equivalences = Equivalences(services.sandbox)
    app.add_middleware(ResponseHeaders)
    app.include_router(health.router)
    app.include_router(api.router())
    app.include_router(slack.router)
    app.include_router(feeds.router)
    app.include_router(login.router)
    app.include_router(pages.router(services))
    app.state.live = live.Live(services.db)
    app.include_router(live.router(services, app.state.live))
    app.include_router(badges.router(services))
    if services.settings.demo:
        # late: an installation that plays no demo need not load a fake Slack
        from driftwatch.testing.fake_slack import FakeSlack

        app.mount("/demo/slack", FakeSlack().app, name="fake-slack")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(LoginRequiredError, to_login)
    app.add_exception_handler(InputError, refused)
    app.add_exception_handler(DriftwatchError, failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(DataError, unstorable)
    for away in (OperationalError, InterfaceError, PoolTimeoutError):
        app.add_exception_handler(away, database_away)
    app.add_exception_handler(Exception, crashed)
    return app


def _is_api(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/slack/", "/feeds/", "/badges/")) or request.url.path in {
        "/healthz",
        "/readyz",
        "/metrics",
    }


def _answer(
    request: Request,
    status: int,
    code: str,
    detail: str,
    hint: str | None = None,
    more: Mapping[str, str] | None = None,
    **extra: object,
) -> Response:
    if _is_api(request):
        scheme = 'Basic realm="driftwatch feeds"' if request.url.path.startswith("/feeds/") else "Bearer"
        headers = {"www-authenticate": scheme} if status == 401 else {}
        return problem(status, code, detail, hint=hint, headers={**headers, **(more or {})}, **extra)
    page = render_error(request, status=status, title=TITLES.get(status, "Error"), detail=detail, hint=hint)
    page.headers.update(more or {})
    return page


async def to_login(request: Request, error: Exception) -> Response:
    """A page without a session leads to the sign-in page and back."""
    target = quote(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
    return RedirectResponse(f"/login?next={target}" if request.method == "GET" else "/login", status_code=SEE_OTHER)


async def refused(request: Request, error: Exception) -> Response:
    """Something that was sent cannot be accepted; the error says why and what to do."""
    if not isinstance(error, InputError):
        raise error
    challenge = getattr(getattr(error, "cause", None), "challenge", None)
    extra = {} if challenge is None else {"challenge": challenge.shown()}
    return _answer(request, error.status, error.code, error.message, error.hint, **extra)


async def failed(request: Request, error: Exception) -> Response:
    """An error of ours that is not the caller's."""
    if not isinstance(error, DriftwatchError):
        raise error
    log.warning("request failed", path=request.url.path, code=error.code, error=error.message)
    return _answer(request, 503, error.code, error.message, error.hint)


async def invalid(request: Request, error: Exception) -> Response:
    """A body or a parameter of the wrong shape; every wrong place is named."""
    if not isinstance(error, RequestValidationError):
        raise error
    places = [
        {"pointer": "/".join(["", *(str(part) for part in e["loc"])]), "message": e["msg"]} for e in error.errors()
    ]
    detail = "; ".join(f"{place['pointer']}: {place['message']}" for place in places[:5])
    if _is_api(request):
        return problem(422, "invalid-request", detail, hint="see /api/v1/openapi.json", errors=places)
    return _answer(request, 422, "invalid-request", detail)


async def unstorable(request: Request, error: Exception) -> Response:
    """A value that passed for text or a number and that Postgres has no place for."""
    hint = "check the length of numbers, and remove characters that cannot be seen"
    return _answer(request, 422, "unstorable-value", "a number is too large, or a text holds a NUL character", hint)


async def database_away(request: Request, error: Exception) -> Response:
    """Postgres cannot be reached right now; what was sent has not been done."""
    log.warning("database away", path=request.url.path, error=type(error).__name__)
    return _answer(request, 503, "database", "the database cannot be reached right now", "try again in a moment")


async def http_error(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: unknown paths and methods."""
    if not isinstance(error, HTTPException):
        raise error
    code = {400: "bad-request", 404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http-error")
    detail = f"there is nothing at {request.url.path}" if error.status_code == 404 else str(error.detail)
    more = {"allow": ", ".join(_allowed(request))} if error.status_code == 405 else error.headers
    return _answer(request, error.status_code, code, detail, more=more)


def _allowed(request: Request) -> list[str]:
    """The methods of a path; one path may have several routes, and the framework names those of the first."""
    return [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    ]


async def crashed(request: Request, error: Exception) -> Response:
    """A fault of ours: logged with the request id, told without its insides."""
    request_id = getattr(request.state, "request_id", "?")
    log.error("request crashed", path=request.url.path, exc_info=error)
    return _answer(request, 500, "internal-error", "something broke here", f"report it with request id {request_id}")
