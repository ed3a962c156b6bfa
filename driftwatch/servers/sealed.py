"""Credentials, tokens and kept sessions as they lie in the database: encrypted, opened only to be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from driftwatch.servers.credential import Credential, fixed_headers, kind_of, of_fields, secret_fields
from driftwatch.servers.secrets import SecretBox
from driftwatch.wire.facts import Session, Target, Transport
from driftwatch.wire.grants import Token


@dataclass(frozen=True, slots=True)
class SealedCredential:
    """A stored credential. ``fields``: what is no secret. ``token``: the sealed access token, where there is one."""

    id: int
    kind: str
    fields: Mapping[str, Any]
    ciphertext: bytes = field(repr=False)
    token: bytes | None = field(default=None, repr=False)

    def target(self, box: SecretBox, url: str) -> Target:
        """The server, asked with what is at hand. Raises SealError."""
        token = open_token(box, self.token)
        return Target(url, fixed_headers(open_credential(box, self)), None if token is None else token.value)


def target_of(box: SecretBox, url: str, sealed: SealedCredential | None) -> Target:
    """The server with its credential, if it has one; a token is taken as it is. Raises SealError."""
    return Target(url) if sealed is None else sealed.target(box, url)


def seal_credential(box: SecretBox, credential: Credential) -> tuple[bytes, str]:
    """(ciphertext, id of the key)."""
    secret = secret_fields(credential)
    # The oldest kind is its headers, and nothing around them.
    plain = dict(secret["headers"]) if kind_of(credential) == "headers" else secret
    return box.seal(json.dumps(plain).encode())


def open_credential(box: SecretBox, sealed: SealedCredential) -> Credential:
    """The credential with its secrets. Raises SealError."""
    plain = json.loads(box.open(sealed.ciphertext))
    return of_fields(sealed.kind, {**sealed.fields, **({"headers": plain} if sealed.kind == "headers" else plain)})


def seal_token(box: SecretBox, token: Token) -> bytes:
    """A token to use until it expires, and to share with the other processes."""
    times = {"obtained_at": token.obtained_at, "expires_at": token.expires_at}
    written = {name: None if at is None else at.isoformat() for name, at in times.items()}
    return box.seal(json.dumps({"value": token.value, "scopes": token.scopes, **written}).encode())[0]


def open_token(box: SecretBox, sealed: bytes | None) -> Token | None:
    """The kept token, or None. Raises SealError."""
    if sealed is None:
        return None
    kept = json.loads(box.open(sealed))
    expires = kept["expires_at"]
    return Token(
        kept["value"],
        datetime.fromisoformat(kept["obtained_at"]),
        None if expires is None else datetime.fromisoformat(expires),
        tuple(kept["scopes"]),
    )


def seal_session(box: SecretBox, session: Session) -> bytes:
    """A legacy session to keep until the next poll. Whoever knows its id could act in it."""
    fields = {"id": session.id, "protocol_version": session.protocol_version, "transport": session.transport}
    return box.seal(json.dumps(fields).encode())[0]


def open_session(box: SecretBox, sealed: bytes | None) -> Session | None:
    """The kept session, or None. Raises SealError."""
    if sealed is None:
        return None
    fields = json.loads(box.open(sealed))
    return Session(fields["id"], fields["protocol_version"], Transport(fields["transport"]))
