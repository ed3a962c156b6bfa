"""Headers and kept sessions as they lie in the database: encrypted, opened only to be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping

from driftwatch.servers.secrets import SecretBox
from driftwatch.wire.facts import Session, Transport


def seal_headers(box: SecretBox, headers: Mapping[str, str]) -> tuple[bytes, str]:
    """(ciphertext, id of the key)."""
    return box.seal(json.dumps(dict(headers)).encode())


def open_headers(box: SecretBox, sealed: bytes | None) -> dict[str, str]:
    """The headers to send; none without a credential. Raises SealError."""
    return {} if sealed is None else dict(json.loads(box.open(sealed)))


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
