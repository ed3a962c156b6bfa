"""Why a registration or a change of one is refused.

InputError (driftwatch.errors)
├── BadServerError       bad-server        a field of the registration is wrong
├── UnwatchableError     (the wire's code) the server could not be read: unauthorized, refused, not-mcp, …
├── CredentialNeededError credential-needed another origin must be given its credential again
├── NameTakenError       name-taken        409
└── ServerNotFoundError  server-not-found  404
"""

from __future__ import annotations

from driftwatch.errors import ConflictError, InputError, NotFoundError, WireError


class BadServerError(InputError):
    """A field of the registration is wrong; the message names it."""

    code = "bad-server"


class CredentialNeededError(InputError):
    """A secret given for one origin is not sent to another one."""

    code = "credential-needed"


class NameTakenError(ConflictError):
    """Another server has this name."""

    code = "name-taken"


class ServerNotFoundError(NotFoundError):
    """No such server, or it was deleted."""

    code = "server-not-found"

    def __init__(self, server_id: int) -> None:
        super().__init__(f"There is no server {server_id}.", hint="GET /api/v1/servers lists them.")


class UnwatchableError(InputError):
    """The server could not be read, so it was not registered. ``code`` is the code of ``cause``."""

    def __init__(self, cause: WireError) -> None:
        hint = "Register it anyway with force=true; driftwatch keeps trying."
        super().__init__(cause.message, hint=f"{cause.hint} {hint}" if cause.hint else hint)
        self.code = cause.code
        self.cause = cause
