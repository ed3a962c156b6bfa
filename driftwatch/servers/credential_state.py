"""How a stored credential stands: what people are shown of it instead of the secret. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

CredentialState = Literal["untried", "ok", "expired", "refused"]

#: states of a profile that say what the server, or its authorization server, thinks of the credential
REFUSED: Final = frozenset({"unauthorized", "forbidden", "token-refused"})


@dataclass(frozen=True, slots=True)
class CredentialView:
    """A credential without its secrets. ``fields``: user name, issuer, client id, scopes …, by the kind.

    ``renewed_at``, ``expires_at``, ``granted_scopes``: of the access token, where the kind brings one.
    ``failed_at``: since when no new token can be had, ``failure``: why ({code, message, hint}).
    """

    name: str
    kind: str
    state: CredentialState
    header_names: tuple[str, ...]
    set_at: datetime
    fields: Mapping[str, Any]
    renewed_at: datetime | None = None
    expires_at: datetime | None = None
    granted_scopes: tuple[str, ...] = ()
    failed_at: datetime | None = None
    failure: Mapping[str, Any] | None = None


def state_of(
    profiles: Collection[str], now: datetime, *, expires_at: datetime | None, failure: Mapping[str, Any] | None
) -> CredentialState:
    """``profiles``: the states of the profiles that use it. ``expired``: no good token, and none has come since."""
    if REFUSED & set(profiles) or (failure or {}).get("code") == "token-refused":
        return "refused"
    if (expires_at is not None and expires_at <= now) or (failure is not None and expires_at is None):
        return "expired"
    return "ok" if "ok" in profiles else "untried"
