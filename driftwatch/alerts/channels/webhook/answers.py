"""A receiver's answers, in the outbox's words. Pure."""

from __future__ import annotations

from typing import Final

from driftwatch.alerts.channels.answer import Answer
from driftwatch.alerts.channels.slack.answers import seconds

_LATER: Final = frozenset({408, 425, 429})


def read(status: int, body: str, retry_after: str | None) -> Answer:
    """2xx: taken. 410: the receiver is gone for good. Redirects are not followed, so the address must be put right."""
    if 200 <= status < 300:
        return Answer("delivered", status=status, body=body)
    error = f"http-{status}"
    if status in _LATER or status >= 500:
        return Answer("transient", status=status, body=body, error=error, retry_after=seconds(retry_after))
    if 300 <= status < 400:
        return Answer("channel-permanent", status=status, error="redirected")
    if status == 410:
        return Answer("channel-permanent", status=status, body=body, error="gone")
    return Answer("message-permanent", status=status, body=body, error=error)
