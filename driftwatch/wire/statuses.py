"""What an HTTP status says about a server. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from driftwatch.errors import WireError
from driftwatch.wire.challenge import Challenge
from driftwatch.wire.errors import (
    EndpointNotFoundError,
    ForbiddenServerError,
    NotMcpError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
)

_RESTARTING = {502: "http-502", 503: "http-503"}


def speaks_for_itself(status: int) -> bool:
    """True for a status that decides whatever the body says: authorization, rate limits, outages."""
    return status in (401, 403, 429) or status >= 500


def status_error(
    status: int, *, detail: str = "", retry_after: float | None = None, challenge: Challenge | None = None
) -> WireError:
    """The named failure of an HTTP status of 400 and more. ``detail``: what the server said, safe to show.

    ``challenge``: what a 401 or 403 asks for.
    """
    text = f"The server answered {status}" + (f": {detail}" if detail else ".")
    if status == 401:
        return UnauthorizedError(text, status=status, challenge=challenge)
    if status == 403:
        return ForbiddenServerError(text, status=status, challenge=challenge)
    if status in (404, 405, 410):
        return EndpointNotFoundError(text, status=status)
    if status == 429:
        return RateLimitedError(text, status=status, retry_after=retry_after)
    if status >= 500:
        return ServerError(text, status=status, retry_after=retry_after, restart_kind=_RESTARTING.get(status))
    return NotMcpError(text, status=status)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds a Retry-After header asks for: a number, or a date measured from ``now``. None: absent or nonsense."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max((date - now).total_seconds(), 0.0)
