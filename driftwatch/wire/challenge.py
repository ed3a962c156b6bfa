"""What a server wants instead of the request it refused: its ``WWW-Authenticate`` header, read and worded. Pure.

RFC 9110 (the header), RFC 6750 (``Bearer``: error, scope), RFC 9728 (``resource_metadata``). Every field is text of a
stranger and safe to show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from driftwatch.safe_text import safe_text

MAX_HEADER: Final = 8192
MAX_FIELD: Final = 500
# In this order: a parameter begins like a scheme, so it is looked for first.
_PART: Final = re.compile(
    r"""(?P<name>[!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s,"]+))"""
    r"""|(?P<scheme>[!#$%&'*+.^_`|~\w-]+)""",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge. ``error``: RFC 6750's code. ``scope``: space-separated scopes that would do.

    ``resource_metadata``: the URL at which the server names its authorization servers; unvetted.
    """

    scheme: str
    error: str | None = None
    description: str | None = None
    scope: str | None = None
    resource_metadata: str | None = None

    def shown(self) -> dict[str, str]:
        """The fields that say something, as they are stored and answered."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def stored(cls, fields: Mapping[str, Any]) -> Self:
        """The challenge that :meth:`shown` described."""
        return cls(**{name: str(fields[name]) for name in cls.__dataclass_fields__ if fields.get(name) is not None})


def read_challenge(header: str | None) -> Challenge | None:
    """The challenge of a ``WWW-Authenticate`` header: the Bearer one where there are several, else the first.

    None: no header, or one in which no scheme can be read.
    """
    found = list(_challenges((header or "")[:MAX_HEADER]))
    return next((one for one in found if one.scheme.lower() == "bearer"), found[0] if found else None)


def _challenges(header: str) -> Iterator[Challenge]:
    scheme, parameters = None, dict[str, str]()
    for part in _PART.finditer(header):
        if part["scheme"] is None:
            value = part["plain"] if part["quoted"] is None else re.sub(r"\\(.)", r"\1", part["quoted"])
            parameters.setdefault(part["name"].lower(), value)
            continue
        if scheme is not None:
            yield _challenge(scheme, parameters)
        scheme, parameters = part["scheme"], {}
    if scheme is not None:
        yield _challenge(scheme, parameters)


def _challenge(scheme: str, parameters: Mapping[str, str]) -> Challenge:
    def field(name: str) -> str | None:
        return safe_text(parameters[name], keep_newlines=False)[:MAX_FIELD] if parameters.get(name) else None

    return Challenge(
        scheme[:50], field("error"), field("error_description"), field("scope"), field("resource_metadata")
    )


def next_step(challenge: Challenge | None, status: int | None) -> str | None:
    """What to do about a 401 or 403 with this challenge; None where the status says as much."""
    if challenge is None:
        return None
    steps = []
    if challenge.error == "invalid_token":
        steps.append("The server calls the token expired, revoked or malformed: renew the credential.")
    elif challenge.error == "insufficient_scope" or (status == 403 and challenge.scope):
        steps.append("The credential is known, but has too few rights.")
    elif challenge.scheme.lower() == "basic":
        steps.append("The server wants a user name and a password: set a basic credential.")
    elif challenge.scheme.lower() == "bearer":
        steps.append("The server wants a bearer token: set or renew the credential.")
    else:
        steps.append(f"The server wants the scheme {challenge.scheme}: set its header as the credential.")
    if challenge.scope:
        steps.append(f"It asks for the scope {challenge.scope}.")
    if challenge.resource_metadata:
        steps.append(f"{challenge.resource_metadata} names the authorization server that gives tokens.")
    if challenge.description:
        steps.append(f"It says: {challenge.description}")
    return " ".join(steps)
