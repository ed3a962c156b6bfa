from __future__ import annotations

import pytest
from cryptography.fernet import Fernet

from driftwatch.servers.sealed import open_headers, open_session, seal_headers, seal_session
from driftwatch.servers.secrets import SealError, SecretBox
from driftwatch.wire.facts import Session, Transport

BOX = SecretBox([Fernet.generate_key()])


def test_headers_round_trip_and_cannot_be_read() -> None:
    ciphertext, key_id = seal_headers(BOX, {"Authorization": "Bearer s3cr3t"})
    assert b"s3cr3t" not in ciphertext
    assert key_id == BOX.key_id
    assert open_headers(BOX, ciphertext) == {"Authorization": "Bearer s3cr3t"}
    assert open_headers(BOX, None) == {}
    with pytest.raises(SealError):
        open_headers(SecretBox([Fernet.generate_key()]), ciphertext)


@pytest.mark.parametrize(
    "session",
    [Session("id", "2025-11-25"), Session(None, "2024-11-05", Transport.HTTP_SSE), Session(None, "2025-06-18")],
)
def test_sessions_round_trip(session: Session) -> None:
    assert open_session(BOX, seal_session(BOX, session)) == session
    assert open_session(BOX, None) is None
