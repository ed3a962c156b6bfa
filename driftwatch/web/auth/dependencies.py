"""FastAPI dependencies: who may call a route. The API takes bearer tokens only; pages take sessions only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.errors import InputError
from driftwatch.web.auth import tokens
from driftwatch.web.auth.caller import Caller, Scope
from driftwatch.web.auth.sessions import LoginRequiredError, Session, check_csrf, session_caller

if TYPE_CHECKING:
    from driftwatch.app import Services
    from driftwatch.web.equivalences import Equivalences

bearer = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token `dw_…`; the first one is in HOME/admin-token."
)


class UnauthenticatedError(InputError):
    """No usable token came with the request."""

    code = "unauthenticated"
    status = 401


def services_of(request: Request) -> Services:
    """The composed services of this process."""
    services: Services = request.app.state.services
    return services


def equivalences_of(request: Request) -> Equivalences:
    """What this process has found out about tools over the eras."""
    equivalences: Equivalences = request.app.state.equivalences
    return equivalences


async def transaction(request: Request) -> AsyncIterator[AsyncSession]:
    """One transaction for one request: this is the edge where it begins and ends."""
    async with services_of(request).db.transaction() as session:
        yield session


#: scope="function": committed before the answer leaves, so that whoever reads the answer finds what it promises
Transaction = Annotated[AsyncSession, Depends(transaction, scope="function")]


def allowed(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """A dependency that demands a bearer token with ``scope`` and answers with its caller."""

    async def caller(
        request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
    ) -> Caller:
        if credentials is None:
            raise UnauthenticatedError(
                "this needs a token", hint="send Authorization: Bearer dw_…; the first token is in HOME/admin-token"
            )
        async with services_of(request).db.transaction() as session:
            found = await tokens.authenticate(session, credentials.credentials)
        if found is None:
            raise UnauthenticatedError("this token is unknown, revoked or expired", hint="ask an admin for a new one")
        found.demand(scope)
        return found

    return caller


#: the scopes are told in the description of the API; :func:`allowed` demands them
Reader = Annotated[Caller, Security(allowed("read"), scopes=["read"])]
Writer = Annotated[Caller, Security(allowed("write"), scopes=["write"])]
Checker = Annotated[Caller, Security(allowed("check"), scopes=["check"])]
Pusher = Annotated[Caller, Security(allowed("push"), scopes=["push"])]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at a page, and the CSRF token its forms must carry."""

    caller: Caller
    session: Session

    @property
    def csrf(self) -> str:
        """The value of each form's hidden field ``csrf``."""
        return self.session.csrf


async def visitor(request: Request) -> Visitor:
    """The person behind a page request; raises LoginRequiredError (a redirect to /login) without a session."""
    services = services_of(request)
    async with services.db.transaction() as db_session:
        found = await session_caller(request, services.secrets, db_session)
    if found is None:
        raise LoginRequiredError("please sign in")
    caller, session = found
    caller.demand("read")
    return Visitor(caller, session)


async def form_visitor(request: Request) -> Visitor:
    """Like :func:`visitor` for a form: the CSRF token and Origin are checked, and the caller may write."""
    who = await visitor(request)
    form = await request.form()
    given = form.get("csrf")
    check_csrf(request, who.session, given if isinstance(given, str) else None)
    who.caller.demand("write")
    return who


PageVisitor = Annotated[Visitor, Depends(visitor)]
FormVisitor = Annotated[Visitor, Depends(form_visitor)]
