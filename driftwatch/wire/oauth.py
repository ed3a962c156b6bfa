"""Tokens by client credentials: the SDK's provider decides what to ask, our guarded client asks it.

The provider is a generator of requests (metadata of the resource, metadata of the issuer, token). It is driven by hand,
so that the guard, the caps and the deadline of polls hold for every one of them, and no body is read without a cap.
RFC 6749 4.4, RFC 7523 2.2, RFC 8414, RFC 8707, RFC 9728; MCP's client-credentials extension.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import aclosing
from datetime import timedelta
from typing import Any, Final

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from driftwatch.errors import WireError
from driftwatch.safe_text import safe_text
from driftwatch.wire import messages, streamable
from driftwatch.wire.challenge import Challenge, read_challenge
from driftwatch.wire.client import Budget, WireClient, read_body
from driftwatch.wire.errors import NoTokenError, TokenRefusedError
from driftwatch.wire.facts import LATEST_LEGACY, Target
from driftwatch.wire.grants import ClientSecret, Grant, PrivateKeyJwt, Token

#: metadata documents and token answers are small
MAX_ANSWER: Final = 256 * 1024
#: metadata of resource and issuer in every place they may be, and the token
MAX_REQUESTS: Final = 12
_LONGEST_LIFE: Final = 10 * 365 * 86_400
_SENDABLE: Final = re.compile(r"[\x21-\x7e]{1,16384}")
_KEPT_HEADERS: Final = ("content-type", "authorization", "mcp-protocol-version")


class _Forgetful:
    """A token storage that stores nothing: what is kept, and where, is not the provider's business."""

    async def get_tokens(self) -> OAuthToken | None:
        """None: every run asks for a new token."""
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Read from the provider instead."""

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The provider has it from the grant."""
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Never registered dynamically."""


async def obtain(client: WireClient, url: str, grant: Grant, challenge: Challenge | None = None) -> Token:
    """A new token for the server at ``url``, within one poll's deadline.

    ``challenge``: what the server answered to a request without a good token; None: ask it.

    Raises TokenRefusedError when the authorization server says no, NoTokenError when it cannot be asked, and
    PollTimeoutError.
    """
    async with client.deadline():
        known = challenge or await _ask_for_challenge(client, url)
        return await _Exchange(client, url, grant).run(known)


async def _ask_for_challenge(client: WireClient, url: str) -> Challenge | None:
    """A small request that leaves nothing behind on any server; one that answers it has no challenge."""
    headers = {**streamable.base_headers(Target(url)), "mcp-protocol-version": LATEST_LEGACY}
    async with client.open("POST", url, headers, messages.request("ping", {}, streamable.REQUEST_ID)) as response:
        await streamable.short_body(response)
        return read_challenge(response.headers.get("www-authenticate")) if response.status_code in (401, 403) else None


class _Exchange:
    """One run of the provider. ``_problem``: why a document could not be had, should the run fail for want of it."""

    def __init__(self, client: WireClient, url: str, grant: Grant) -> None:
        # Every failure is raised and told; the SDK would log answers of the authorization server with it.
        logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)
        self._client = client
        self._grant = grant
        self._provider = _provider(url, grant)
        self._probe = httpx2.Request("POST", url, headers={"mcp-protocol-version": LATEST_LEGACY})
        self._budget = Budget(MAX_ANSWER)
        self._problem: WireError | None = None

    async def run(self, challenge: Challenge | None) -> Token:
        """Answer what the provider asks until it would repeat the first request with a token."""
        try:
            async with aclosing(self._provider.async_auth_flow(self._probe)) as flow:
                await anext(flow)
                response = self._refusal(challenge)
                for _ in range(MAX_REQUESTS):
                    wanted = await flow.asend(response)
                    if wanted is self._probe:
                        return self._token()
                    response = await self._answer(wanted)
        except WireError:
            raise
        except OAuthFlowError as error:
            raise self._no_token(_told(str(error))) from error
        except Exception as error:  # the documents are a stranger's; the SDK fails on bad ones in many ways
            raise self._no_token(f"what it answered is of no use ({type(error).__name__}).") from error
        raise self._no_token("the way to it never ends.")

    def _refusal(self, challenge: Challenge | None) -> httpx2.Response:
        """The 401 from which the provider starts. It asks for the scopes it finds there: ours, where we have some."""
        scope = " ".join(self._grant.scopes) or (challenge.scope if challenge else None)
        metadata = challenge.resource_metadata if challenge else None
        fields = {"scope": scope, "resource_metadata": metadata}
        told = ", ".join(f'{name}="{value}"' for name, value in fields.items() if value and _plain(value))
        return httpx2.Response(401, headers={"www-authenticate": f"Bearer {told}".strip()}, request=self._probe)

    async def _answer(self, wanted: httpx2.Request) -> httpx2.Response:
        """What one request of the provider is answered. A document that may not be had is one that is not there."""
        if wanted.method == "POST":
            return await self._ask_for_token(wanted)
        try:
            return await self._send(wanted)
        except WireError as error:
            self._problem = error
            return httpx2.Response(404, request=wanted)

    async def _ask_for_token(self, wanted: httpx2.Request) -> httpx2.Response:
        if wanted.url.scheme != httpx2.URL(self._grant.issuer).scheme:
            raise NoTokenError("The token endpoint is not reached by the scheme of its issuer.")
        try:
            response = await self._send(wanted)
        except WireError as error:
            self._problem = error
            raise self._no_token("the request for a token failed.") from error
        if response.status_code == 429 or response.status_code >= 500:
            raise self._no_token(f"it answered {response.status_code}.")
        if response.status_code not in (200, 201):
            raise _refused(response)
        return response

    async def _send(self, wanted: httpx2.Request) -> httpx2.Response:
        headers = {name: wanted.headers[name] for name in _KEPT_HEADERS if name in wanted.headers}
        headers |= {"accept": "application/json", "accept-encoding": "identity", "user-agent": "driftwatch"}
        content = await wanted.aread() or None
        async with self._client.open(wanted.method, str(wanted.url), headers, content) as response:
            body = await read_body(response, self._budget)
            return httpx2.Response(response.status_code, content=body, request=wanted)

    def _token(self) -> Token:
        given = self._provider.context.current_tokens
        if given is None or not _SENDABLE.fullmatch(given.access_token):
            raise NoTokenError("The authorization server's token cannot be sent in a header.")
        now, life = self._client.clock.now(), given.expires_in
        ends = None if life is None else now + timedelta(seconds=min(max(life, 0), _LONGEST_LIFE))
        scopes = tuple(safe_text(scope, keep_newlines=False)[:200] for scope in (given.scope or "").split()[:100])
        return Token(given.access_token, now, ends, scopes)

    def _no_token(self, why: str) -> NoTokenError:
        if self._problem is None:
            return NoTokenError(f"No token from {self._grant.issuer}: {why}")
        return NoTokenError(f"No token from {self._grant.issuer}: {self._problem.message}", hint=self._problem.hint)


def _provider(url: str, grant: Grant) -> OAuthClientProvider:
    scope = " ".join(grant.scopes) or None
    if isinstance(grant, ClientSecret):
        return ClientCredentialsOAuthProvider(
            url, _Forgetful(), grant.client_id, grant.client_secret, grant.method, scope, issuer=grant.issuer
        )
    return PrivateKeyJWTOAuthProvider(
        url, _Forgetful(), grant.client_id, _signed(grant).create_assertion_provider(), scope, issuer=grant.issuer
    )


def _signed(grant: PrivateKeyJwt) -> SignedJWTParameters:
    return SignedJWTParameters(
        issuer=grant.client_id,
        subject=grant.client_id,
        signing_key=grant.private_key,
        signing_algorithm=grant.algorithm,
    )


def _refused(response: httpx2.Response) -> TokenRefusedError:
    """The authorization server's no, in its own words where it has some."""
    said = _fields(response.content)
    code, why = _told(said.get("error")), _told(said.get("error_description"))
    told = ": ".join(part for part in (code, why) if part) or f"status {response.status_code}"
    return TokenRefusedError(
        f"The authorization server refuses the credential ({told}).", status=response.status_code, oauth_error=code
    )


def _fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _told(value: object) -> str:
    return safe_text(value, keep_newlines=False)[:300] if isinstance(value, str) else ""


def _plain(value: str) -> bool:
    return value.isascii() and value.isprintable() and '"' not in value and "\\" not in value
