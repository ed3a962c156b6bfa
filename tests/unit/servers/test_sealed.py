from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.fernet import Fernet

from driftwatch.servers.credential import Basic, Bearer, Credential, Headers, kind_of, public_fields
from driftwatch.servers.sealed import (
    SealedCredential,
    open_credential,
    open_session,
    open_token,
    seal_credential,
    seal_session,
    seal_token,
    target_of,
)
from driftwatch.servers.secrets import SealError, SecretBox
from driftwatch.wire.facts import Session, Target, Transport
from driftwatch.wire.grants import ClientSecret, PrivateKeyJwt, Token

BOX = SecretBox([Fernet.generate_key()])
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ISSUER = "https://auth.example.com"
CREDENTIALS: list[Credential] = [
    Headers({"X-Key": "s3cr3t"}),
    Bearer("s3cr3t"),
    Basic("mei", "s3cr3t"),
    ClientSecret(ISSUER, "driftwatch", "s3cr3t", ("tools:read",), "client_secret_post"),
    PrivateKeyJwt(ISSUER, "driftwatch", "s3cr3t", (), "ES256"),
]


def sealed(credential: Credential, token: bytes | None = None) -> SealedCredential:
    ciphertext, key_id = seal_credential(BOX, credential)
    assert key_id == BOX.key_id
    return SealedCredential(1, kind_of(credential), public_fields(credential), ciphertext, token)


@pytest.mark.parametrize("credential", CREDENTIALS, ids=kind_of)
def test_credentials_round_trip_and_cannot_be_read(credential: Credential) -> None:
    kept = sealed(credential)
    assert b"s3cr3t" not in kept.ciphertext
    assert "s3cr3t" not in str(public_fields(credential))
    assert "s3cr3t" not in repr(credential)
    assert open_credential(BOX, kept) == credential
    with pytest.raises(SealError):
        open_credential(SecretBox([Fernet.generate_key()]), kept)


def test_headers_are_sealed_as_they_always_were() -> None:
    assert BOX.open(sealed(Headers({"X-Key": "1"})).ciphertext) == b'{"X-Key": "1"}'


@pytest.mark.parametrize("ends", [None, NOW + timedelta(hours=1)])
def test_tokens_round_trip(ends: datetime | None) -> None:
    token = Token("s3cr3t", NOW, ends, ("tools:read",))
    assert open_token(BOX, seal_token(BOX, token)) == token
    assert b"s3cr3t" not in seal_token(BOX, token)
    assert open_token(BOX, None) is None


def test_a_target_carries_what_is_at_hand() -> None:
    url = "https://mcp.example.com/mcp"
    assert target_of(BOX, url, None) == Target(url)
    assert target_of(BOX, url, sealed(CREDENTIALS[0])) == Target(url, {"X-Key": "s3cr3t"})
    assert target_of(BOX, url, sealed(CREDENTIALS[1])).headers == {"Authorization": "Bearer s3cr3t"}
    assert target_of(BOX, url, sealed(CREDENTIALS[2])).headers == {"Authorization": "Basic bWVpOnMzY3IzdA=="}
    assert target_of(BOX, url, sealed(CREDENTIALS[3])).token is None
    one, other = (sealed(CREDENTIALS[3], seal_token(BOX, Token(value, NOW))) for value in ("one", "other"))
    assert target_of(BOX, url, one).token == "one"
    assert target_of(BOX, url, one) == target_of(BOX, url, other)  # the same stream


@pytest.mark.parametrize(
    "session",
    [Session("id", "2025-11-25"), Session(None, "2024-11-05", Transport.HTTP_SSE), Session(None, "2025-06-18")],
)
def test_sessions_round_trip(session: Session) -> None:
    assert open_session(BOX, seal_session(BOX, session)) == session
    assert open_session(BOX, None) is None
