"""Slack's answers to a webhook POST, in the outbox's words. Pure."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from driftwatch.alerts.channels.answer import Answer, Outcome

_MESSAGE_PERMANENT: Final = frozenset(
    {
        "invalid_payload",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_attachments",
        "msg_too_long",
        "msg_blocks_too_long",
        "no_text",
        "too_many_attachments",
        "missing_text_or_fallback_or_attachments",
    }
)
_CHANNEL_PERMANENT: Final = frozenset(
    {
        "no_service",
        "no_service_id",
        "no_team",
        "team_disabled",
        "invalid_token",
        "token_revoked",
        "account_inactive",
        "channel_not_found",
        "channel_is_archived",
        "is_archived",
        "action_prohibited",
        "posting_to_general_channel_denied",
        "user_not_found",
        "org_login_required",
    }
)
_TRANSIENT: Final = frozenset({"ratelimited", "rate_limited", "rollup_error", "internal_error", "fatal_error"})
#: no answer makes us wait longer than this at once
_LONGEST_WAIT: Final = 3600.0


def read(status: int, body: str, retry_after: str | None, *, now: datetime | None = None) -> Answer:
    """What an HTTP answer means for the delivery. ``retry_after`` is the header as sent (seconds or an HTTP date)."""
    error = _error(status, body)
    outcome = _outcome(status, error)
    wait = seconds(retry_after, now=now) if outcome == "transient" else None
    return Answer(outcome, status=status, body=body, error=error, retry_after=wait)


def _outcome(status: int, error: str | None) -> Outcome:
    if error is None:
        return "delivered"
    if status in {408, 425, 429} or status >= 500 or error in _TRANSIENT:
        return "transient"
    if error in _CHANNEL_PERMANENT:
        return "channel-permanent"
    if error in _MESSAGE_PERMANENT:
        return "message-permanent"
    # an unknown word: the status speaks. A redirect is never followed, so the address must be put right
    return "channel-permanent" if status in {401, 403, 404, 410} or 300 <= status < 400 else "message-permanent"


def _error(status: int, body: str) -> str | None:
    """The error word of an answer; None when the message was accepted."""
    text = body.strip()
    parsed = _parsed(text)
    if isinstance(parsed, dict):
        if parsed.get("ok") is True and status < 300:
            return None
        return str(parsed.get("error") or f"http-{status}")
    if status < 300:
        return None if text == "ok" else "unexpected-answer"
    if 300 <= status < 400:
        return "redirected"
    word = text.split("\n", 1)[0]
    return word if word in _MESSAGE_PERMANENT | _CHANNEL_PERMANENT | _TRANSIENT else f"http-{status}"


def _parsed(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def seconds(retry_after: str | None, *, now: datetime | None = None) -> float | None:
    """A Retry-After header in seconds, fractions included; None when it is absent or makes no sense."""
    if retry_after is None:
        return None
    try:
        wait = float(retry_after)
    except ValueError:
        try:
            wait = (parsedate_to_datetime(retry_after) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(wait, _LONGEST_WAIT) if math.isfinite(wait) and wait >= 0 else None
