"""The part of a form that says what lets us in: a choice of kinds, and the fields of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Form

from driftwatch.errors import DriftwatchError, InputError
from driftwatch.servers.credential import KINDS, Credential, header_names, kind_of, of_fields, public_fields
from driftwatch.servers.credential import secret_fields as secrets_of
from driftwatch.web.pages import words
from driftwatch.web.pages.forms import Text

if TYPE_CHECKING:
    from driftwatch.servers.secrets import SecretBox

#: a secret is checked, never altered
Raw = Annotated[str, Form()]


@dataclass(frozen=True, slots=True)
class CredentialForm:
    """What was filled in. ``credential`` None with the choice ``none``; ``keep`` leaves the stored one."""

    choice: str
    credential: Credential | None
    given: dict[str, Any]


def read(
    kind: Text = "",
    header: Text = "",
    secret: Raw = "",
    token: Raw = "",
    username: Text = "",
    password: Raw = "",
    issuer: Text = "",
    client_id: Text = "",
    client_secret: Raw = "",
    method: Text = "client_secret_basic",
    private_key: Raw = "",
    algorithm: Text = "RS256",
    scopes: Text = "",
) -> CredentialForm:
    """The form's fields as a credential; its values are checked where it is registered."""
    choice = kind or ("headers" if secret.strip() else "none")
    grant = {"issuer": issuer.strip(), "client_id": client_id.strip(), "scopes": scopes.split()}
    fields: dict[str, dict[str, Any]] = {
        "headers": {"headers": {header.strip() or "Authorization": secret.strip()}},
        "bearer": {"token": token.strip()},
        "basic": {"username": username, "password": password},
        "client-secret": {**grant, "client_secret": client_secret, "method": method},
        "private-key-jwt": {**grant, "private_key": private_key.replace("\r\n", "\n"), "algorithm": algorithm},
    }
    credential = of_fields(choice, fields[choice]) if choice in KINDS else None
    shown = {} if credential is None else public_fields(credential)
    return CredentialForm(choice, credential, {"kind": choice, "header": header, **shown})


Filled = Annotated[CredentialForm, Depends(read)]


def seal(box: SecretBox, credential: Credential | None) -> str:
    """The credential as it travels through the second step of a form; empty for none."""
    if credential is None:
        return ""
    fields = {**public_fields(credential), **secrets_of(credential)}
    return box.seal(json.dumps([kind_of(credential), fields], default=dict).encode())[0].decode("ascii")


def unseal(box: SecretBox, sealed: str) -> Credential | None:
    """What :func:`seal` made. Raises InputError for anything else."""
    if not sealed:
        return None
    try:
        kind, fields = json.loads(box.open(sealed.encode("ascii")))
        return of_fields(kind, fields)
    except (DriftwatchError, ValueError):
        raise InputError("the form was changed on its way", hint="go back and look again") from None


def described(credential: Credential | None) -> str:
    """What the second step says of it: the kind and the headers that carry it."""
    if credential is None:
        return ""
    named = words.CREDENTIALS[kind_of(credential)][0]
    return f"{named} in {', '.join(header_names(credential))}"
