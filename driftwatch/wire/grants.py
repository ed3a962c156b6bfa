"""How driftwatch gets tokens from an authorization server: OAuth 2.1 client credentials, two ways to prove who asks.

Pure data. ``issuer`` is always given: a secret is only ever shown to the authorization server it belongs to, whatever
a watched server claims.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

SecretMethod = Literal["client_secret_basic", "client_secret_post"]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """The client authenticates with its secret (RFC 6749, 2.3.1). No ``scopes``: those that the server asks for."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...] = ()
    method: SecretMethod = "client_secret_basic"


@dataclass(frozen=True, slots=True)
class PrivateKeyJwt:
    """The client signs an assertion with its private key, a PEM (RFC 7523, 2.2)."""

    issuer: str
    client_id: str
    private_key: str = field(repr=False)
    scopes: tuple[str, ...] = ()
    algorithm: Algorithm = "RS256"


Grant = ClientSecret | PrivateKeyJwt


@dataclass(frozen=True, slots=True)
class Token:
    """An access token. ``expires_at`` None: not said. ``scopes``: those granted. Times are the database's clock."""

    value: str = field(repr=False)
    obtained_at: datetime
    expires_at: datetime | None = None
    scopes: tuple[str, ...] = ()
