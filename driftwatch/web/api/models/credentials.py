"""What lets driftwatch into a server: sent once, never answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import Failure, Strict
from driftwatch.wire.grants import Algorithm, SecretMethod

Header = Annotated[str, Field(max_length=8192)]
Secret = Annotated[str, Field(min_length=1, max_length=8192)]
Scope = Annotated[str, Field(min_length=1, max_length=200)]


class HeadersIn(Strict):
    """Secret request headers, as they are."""

    kind: Literal["headers"]
    headers: dict[Annotated[str, Field(min_length=1, max_length=200)], Header] = Field(min_length=1, max_length=50)


class BearerIn(Strict):
    """A bearer token that somebody renews by hand."""

    kind: Literal["bearer"]
    token: Secret


class BasicIn(Strict):
    """A user name and a password."""

    kind: Literal["basic"]
    username: str = Field(max_length=8192)
    password: str = Field(max_length=8192)


class _Grant(Strict):
    issuer: str = Field(
        min_length=1, max_length=2048, description="The authorization server's issuer: no other one sees the secret."
    )
    client_id: str = Field(min_length=1, max_length=1000)
    scopes: list[Scope] = Field(
        default_factory=list, max_length=100, description="To ask for; empty: those that the server names."
    )


class ClientSecretIn(_Grant):
    """OAuth client credentials, the client authenticated by its secret."""

    kind: Literal["client-secret"]
    client_secret: str = Field(min_length=1, max_length=1000)
    method: SecretMethod = "client_secret_basic"


class PrivateKeyJwtIn(_Grant):
    """OAuth client credentials, the client authenticated by a signed assertion (private_key_jwt)."""

    kind: Literal["private-key-jwt"]
    private_key: str = Field(min_length=1, max_length=32_768, description="PEM, without a passphrase.")
    algorithm: Algorithm = "RS256"


CredentialIn = Annotated[
    HeadersIn | BearerIn | BasicIn | ClientSecretIn | PrivateKeyJwtIn,
    Field(discriminator="kind", description="Write-only: no answer ever holds the secret."),
]


class CredentialOut(BaseModel):
    """How a credential stands; its secrets are write-only."""

    name: str
    kind: str = Field(examples=["client-secret"])
    state: Literal["untried", "ok", "expired", "refused"]
    headers_set: list[str] = Field(description="The names of the request headers that carry it.")
    set_at: datetime
    username: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    scopes: list[str] = Field(default_factory=list, description="Asked for.")
    granted_scopes: list[str] = Field(default_factory=list, description="Of the present access token.")
    renewed_at: datetime | None = Field(default=None, description="When the present access token came.")
    expires_at: datetime | None = None
    failed_at: datetime | None = Field(default=None, description="Since when no new access token can be had.")
    failure: Failure | None = None
