"""Why a running service did not do what was asked.

ServiceError
├── UnreachableError   nobody answered, or something that is no driftwatch did; trying again may help
└── RefusedError       the service said no: ``status``, and the ``code`` and ``hint`` of its problem document
"""

from __future__ import annotations

from driftwatch.errors import DriftwatchError


class ServiceError(DriftwatchError):
    """A running service cannot be asked, or refused."""

    code = "service"


class UnreachableError(ServiceError):
    """Nobody answered there, or the answer is not one of driftwatch's."""

    code = "service-unreachable"
    permanent = False


class RefusedError(ServiceError):
    """The service said no, and why."""

    def __init__(self, message: str, *, status: int, code: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.permanent = status not in (429, 503)
