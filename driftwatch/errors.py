"""The error tree: every error has a code people can search for and says what to do.

DriftwatchError
├── SettingsError              a setting is missing or wrong; the process does not start
├── DatabaseError              Postgres is unreachable, too old or not migrated
├── InputError                 a person or a script sent something we refuse (HTTP 4xx)
│   ├── NotFoundError          404
│   ├── ConflictError          409
│   └── ForbiddenError         401 / 403
├── WireError                  a watched server did not answer as MCP asks (see driftwatch.wire.errors)
├── CaptureError               bytes that cannot become a snapshot (see driftwatch.capture.errors)
└── ServiceError               a running service cannot be asked, or refused (see driftwatch.client.errors)
"""

from __future__ import annotations

from typing import ClassVar


class DriftwatchError(Exception):
    """Base of all errors. ``code`` is stable and kebab-case; ``hint`` says what to do next.

    ``permanent`` is True when trying the same thing again cannot help.
    """

    code: str = "driftwatch-error"
    permanent: bool = True

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(DriftwatchError):
    """A setting is missing, contradicts another one, or is unsafe."""

    code = "bad-settings"


class DatabaseError(DriftwatchError):
    """Postgres cannot be used: unreachable, too old, or not migrated."""

    code = "database"
    permanent = False


class InputError(DriftwatchError):
    """Something a person or a script sent that cannot be accepted. Becomes HTTP 422."""

    code = "bad-input"
    status: ClassVar[int] = 422


class NotFoundError(InputError):
    """The named thing does not exist, or no longer does."""

    code = "not-found"
    status = 404


class ConflictError(InputError):
    """The request contradicts what is stored, for example a name that is taken."""

    code = "conflict"
    status = 409


class ForbiddenError(InputError):
    """The caller may not do this."""

    code = "forbidden"
    status = 403


class WireError(DriftwatchError):
    """A watched server could not be read. Subclasses in ``driftwatch.wire.errors`` name the failure.

    ``status``: the HTTP status, where one came. ``retry_after``: seconds the server asked us to wait.
    ``restart_kind``: what this failure says about a restart: refused, http-502, http-503, session-lost, or None.
    """

    code = "wire"
    permanent = False

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        restart_kind: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.restart_kind = restart_kind


class CaptureError(DriftwatchError):
    """The bytes of a list cannot become a snapshot. Subclasses in ``driftwatch.capture.errors``."""

    code = "capture"
