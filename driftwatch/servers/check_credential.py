"""Is this a credential that can be sent? Says what is wrong in words that hold nothing of the secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from driftwatch.errors import WireError
from driftwatch.servers.credential import Basic, Bearer, Credential
from driftwatch.servers.errors import BadServerError
from driftwatch.wire.grants import ClientSecret, Grant, PrivateKeyJwt
from driftwatch.wire.urls import checked_url

MAX_SECRET: Final = 8192
MAX_KEY: Final = 32_768
MAX_SCOPES: Final = 100

_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")
_VISIBLE = re.compile(r"[\x20-\x7e]{1,1000}")
# RFC 6749, 3.3
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_METHODS: Final = ("client_secret_basic", "client_secret_post")
_KEYS: Final[Mapping[str, tuple[type[Any], ...]]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), (rsa.RSAPrivateKey,)),
    **dict.fromkeys(("ES256", "ES384"), (ec.EllipticCurvePrivateKey,)),
    "EdDSA": (ed25519.Ed25519PrivateKey, ed448.Ed448PrivateKey),
}
_CURVES: Final = {"ES256": "secp256r1", "ES384": "secp384r1"}


def check_credential(credential: Credential) -> None:
    """Raise BadServerError for the first field that is wrong."""
    if isinstance(credential, Bearer):
        _require(_TOKEN.fullmatch(credential.token), "token: 1 to 8192 visible ASCII characters, without Bearer")
    elif isinstance(credential, Basic):
        _basic(credential)
    elif isinstance(credential, (ClientSecret, PrivateKeyJwt)):
        _grant(credential)


def _basic(credential: Basic) -> None:
    name, password = credential.username, credential.password
    _require(":" not in name, "username: may hold no colon (RFC 7617)")
    for field, text in (("username", name), ("password", password)):
        _require(len(text) <= MAX_SECRET and not _CONTROL.search(text) and _encodes(text), f"{field}: unsendable text")
    _require(name or password, "username, password: both are empty")


def _encodes(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _grant(grant: Grant) -> None:
    try:
        url = checked_url(grant.issuer)
    except WireError as error:
        raise BadServerError(f"credential: issuer: {error.message}", hint=error.hint) from error
    _require(not url.query, "issuer: has a query; it is the authorization server's own name, a plain URL")
    _require(_VISIBLE.fullmatch(grant.client_id), "client_id: 1 to 1000 visible ASCII characters")
    _require(len(grant.scopes) <= MAX_SCOPES, f"scopes: at most {MAX_SCOPES}")
    _require(all(_SCOPE.fullmatch(scope) for scope in grant.scopes), "scopes: one is not a scope of RFC 6749")
    if isinstance(grant, ClientSecret):
        _require(_VISIBLE.fullmatch(grant.client_secret), "client_secret: 1 to 1000 visible ASCII characters")
        _require(grant.method in _METHODS, f"method: one of {', '.join(_METHODS)}")
    else:
        _key(grant)


def _key(grant: PrivateKeyJwt) -> None:
    kinds = _KEYS.get(grant.algorithm)
    if kinds is None:
        raise BadServerError(f"credential: algorithm: one of {', '.join(_KEYS)}.")
    _require(len(grant.private_key) <= MAX_KEY, "private_key: too long")
    try:
        key = load_pem_private_key(grant.private_key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The reason is dropped on purpose: it may quote the key.
        raise BadServerError(
            "credential: private_key: no PEM private key without a passphrase.",
            hint="openssl pkcs8 -topk8 -nocrypt -in key.pem writes one.",
        ) from None
    fits = isinstance(key, kinds) and (
        not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name == _CURVES[grant.algorithm]
    )
    _require(fits, f"private_key: another kind of key than {grant.algorithm} signs with")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise BadServerError(f"credential: {what}.")
