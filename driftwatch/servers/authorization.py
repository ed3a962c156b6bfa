"""The way into one server during one visit: what its credential adds to requests, and tokens where it needs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from driftwatch.errors import WireError
from driftwatch.servers import credential_store
from driftwatch.servers.credential import Credential, fixed_headers
from driftwatch.servers.sealed import SealedCredential, open_credential, open_token, seal_token
from driftwatch.wire import oauth
from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import ForbiddenServerError, UnauthorizedError
from driftwatch.wire.facts import Target
from driftwatch.wire.grants import ClientSecret, Grant, PrivateKeyJwt, Token

if TYPE_CHECKING:
    from driftwatch.app import Services

#: a token that ends sooner is not worth beginning with
LEAST_LEFT: Final = timedelta(seconds=30)

Keep = Callable[[Token | WireError], Awaitable[None]]


class Authorization:
    """A credential at work. ``token``: the one at hand, to be used until it expires.

    ``keep`` is told of every new token, and of every failure to get one. ``ahead``: renew a token that ends within
    this time, so that a change stream reopened before the next visit still finds a good one.
    """

    def __init__(
        self,
        wire: WireClient,
        url: str,
        credential: Credential | None,
        *,
        token: Token | None = None,
        keep: Keep | None = None,
        ahead: timedelta = LEAST_LEFT,
    ) -> None:
        self.token = token
        self._wire = wire
        self.url = url
        self._headers = {} if credential is None else fixed_headers(credential)
        self._grant: Grant | None = credential if isinstance(credential, (ClientSecret, PrivateKeyJwt)) else None
        self._keep = keep
        self._ahead = max(ahead, LEAST_LEFT)
        self._renewed = False

    async def target(self) -> Target:
        """The server with what lets us in.

        Raises TokenRefusedError, NoTokenError or PollTimeoutError where there is no good token and none can be had.
        """
        if self._grant is not None and self._ends_soon():
            try:
                await self._obtain(self._grant, None)
            except WireError:
                if not self._still_good():
                    raise
        return Target(self.url, self._headers, None if self.token is None else self.token.value)

    async def renew(self, refusal: WireError | None) -> bool:
        """Get another token because the server refused the present one; at most once a visit.

        False: another one would change nothing. Raises as :meth:`target`.
        """
        if self._grant is None or self._renewed or not _curable(refusal, self._grant):
            return False
        await self._obtain(self._grant, refusal)
        return True

    async def _obtain(self, grant: Grant, refusal: WireError | None) -> None:
        self._renewed = True
        try:
            self.token = await oauth.obtain(self._wire, self.url, grant, getattr(refusal, "challenge", None))
        except WireError as error:
            if self._keep is not None:
                await self._keep(error)
            raise
        if self._keep is not None:
            await self._keep(self.token)

    def _ends_soon(self) -> bool:
        token = self.token
        if token is None or token.expires_at is None:
            return token is None
        # Of a short life no more than a third is given away.
        early = min(self._ahead, (token.expires_at - token.obtained_at) / 3)
        return self._wire.clock.now() >= token.expires_at - early

    def _still_good(self) -> bool:
        token = self.token
        return token is not None and (token.expires_at is None or self._wire.clock.now() < token.expires_at)


def _curable(refusal: WireError | None, grant: Grant) -> bool:
    """A 401 may want a fresh token; a 403 one with the scopes it names, where we insist on none of our own."""
    if not isinstance(refusal, ForbiddenServerError):
        return isinstance(refusal, UnauthorizedError)
    challenge = refusal.challenge
    return challenge is not None and challenge.error == "insufficient_scope" and not grant.scopes


def of_stored(services: Services, url: str, sealed: SealedCredential | None, *, interval: float = 0.0) -> Authorization:
    """The stored credential at work; new tokens and failures are stored. ``interval``: seconds between visits.

    Raises SealError.
    """
    if sealed is None:
        return Authorization(services.wire, url, None)

    async def keep(outcome: Token | WireError) -> None:
        async with services.db.transaction() as session:
            if isinstance(outcome, WireError):
                await credential_store.note_failure(session, sealed, outcome)
            else:
                await credential_store.keep_token(session, sealed, outcome, seal_token(services.secrets, outcome))

    return Authorization(
        services.wire,
        url,
        open_credential(services.secrets, sealed),
        token=open_token(services.secrets, sealed.token),
        keep=keep,
        ahead=timedelta(seconds=interval),
    )
