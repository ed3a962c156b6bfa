"""Who acts, for the services that write the audit log."""

from __future__ import annotations

from fastapi import Request

from driftwatch.alerts.actions import By
from driftwatch.web.auth.caller import Caller


def by(request: Request, who: Caller) -> By:
    """The caller of a request."""
    return By(who.actor, request.state.request_id)
