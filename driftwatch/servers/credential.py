"""What lets driftwatch in: secret headers, a bearer token, a user name with password, or a grant for tokens. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from driftwatch.wire.grants import ClientSecret, PrivateKeyJwt

#: the name of a server's only credential; the tables are ready for more of them
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Headers:
    """Secret request headers, as they are."""

    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token that somebody renews by hand (RFC 6750)."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Basic:
    """A user name and a password (RFC 7617), sent as UTF-8."""

    username: str
    password: str = field(repr=False)


Credential = Headers | Bearer | Basic | ClientSecret | PrivateKeyJwt

KINDS: Final[Mapping[str, type[Any]]] = {
    "headers": Headers,
    "bearer": Bearer,
    "basic": Basic,
    "client-secret": ClientSecret,
    "private-key-jwt": PrivateKeyJwt,
}
_NAMES: Final = {kind: name for name, kind in KINDS.items()}
_SECRET: Final = frozenset({"headers", "token", "password", "client_secret", "private_key"})


def kind_of(credential: Credential) -> str:
    """The kind's name in API and database."""
    return _NAMES[type(credential)]


def public_fields(credential: Credential) -> dict[str, Any]:
    """What may be shown of it."""
    return {name: value for name, value in _fields(credential).items() if name not in _SECRET}


def secret_fields(credential: Credential) -> dict[str, Any]:
    """What must never be shown."""
    return {name: value for name, value in _fields(credential).items() if name in _SECRET}


def of_fields(kind: str, values: Mapping[str, Any]) -> Credential:
    """The credential of this kind with these fields, unchecked.

    Raises ValueError for an unknown kind, an unknown field or a missing one; its text names no value.
    """
    made = KINDS.get(kind)
    if made is None:
        raise ValueError(f"kind: one of {', '.join(KINDS)}.")
    known = {one.name for one in fields(made)}
    if unknown := sorted(values.keys() - known):
        raise ValueError(f"{str(unknown[0])[:50]}: no field of the kind {kind}.")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if wrong := next((name for name, value in given.items() if not _is_right(name, value)), None):
        raise ValueError(f"{wrong}: of another type.")
    try:
        credential: Credential = made(**given)
    except TypeError:
        raise ValueError(f"a credential of the kind {kind} needs more fields.") from None
    return credential


def _is_right(name: str, value: Any) -> bool:
    if name == "headers":
        return isinstance(value, Mapping) and all(isinstance(part, str) for pair in value.items() for part in pair)
    if name == "scopes":
        return isinstance(value, tuple) and all(isinstance(scope, str) for scope in value)
    return isinstance(value, str)


def header_names(credential: Credential) -> list[str]:
    """The names of the request headers that carry it."""
    return sorted(credential.headers) if isinstance(credential, Headers) else ["Authorization"]


def fixed_headers(credential: Credential) -> dict[str, str]:
    """The headers that need no token."""
    if isinstance(credential, Headers):
        return dict(credential.headers)
    if isinstance(credential, Bearer):
        return {"Authorization": f"Bearer {credential.token}"}
    if isinstance(credential, Basic):
        pair = f"{credential.username}:{credential.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}
    return {}


def identity(shown: Mapping[str, Any] | None) -> list[Any] | None:
    """As whom we come, by the public fields. Another one is another view of the server; another secret is not."""
    if shown is None:
        return None
    return [shown.get("username"), shown.get("issuer"), shown.get("client_id"), sorted(shown.get("scopes") or ())]


def _fields(credential: Credential) -> dict[str, Any]:
    return {one.name: getattr(credential, one.name) for one in fields(credential)}
