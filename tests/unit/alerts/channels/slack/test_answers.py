from __future__ import annotations

from datetime import UTC, datetime

import pytest

from driftwatch.alerts.channels.slack.answers import read, seconds


@pytest.mark.parametrize(
    ("status", "body", "outcome", "error"),
    [
        (200, "ok", "delivered", None),
        (200, "ok\n", "delivered", None),
        (200, '{"ok": true, "ts": "1"}', "delivered", None),
        (200, '{"ok": false, "error": "invalid_blocks"}', "message-permanent", "invalid_blocks"),
        (200, '{"ok": false, "error": "ratelimited"}', "transient", "ratelimited"),
        (200, '{"ok": false, "error": "token_revoked"}', "channel-permanent", "token_revoked"),
        (200, "<html>log in</html>", "message-permanent", "unexpected-answer"),
        (200, "{broken", "message-permanent", "unexpected-answer"),
        (400, "invalid_blocks", "message-permanent", "invalid_blocks"),
        (400, "msg_too_long", "message-permanent", "msg_too_long"),
        (400, "something new", "message-permanent", "http-400"),
        (403, "invalid_token", "channel-permanent", "invalid_token"),
        (403, "action_prohibited", "channel-permanent", "action_prohibited"),
        (403, "something new", "channel-permanent", "http-403"),
        (404, "no_service", "channel-permanent", "no_service"),
        (404, "channel_not_found", "channel-permanent", "channel_not_found"),
        (410, "channel_is_archived", "channel-permanent", "channel_is_archived"),
        (302, "", "channel-permanent", "redirected"),
        (429, "ratelimited", "transient", "ratelimited"),
        (408, "", "transient", "http-408"),
        (500, "rollup_error", "transient", "rollup_error"),
        (503, "<html>", "transient", "http-503"),
    ],
)
def test_slacks_answers(status: int, body: str, outcome: str, error: str | None) -> None:
    answer = read(status, body, None)
    assert (answer.outcome, answer.error, answer.status, answer.body) == (outcome, error, status, body)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("1.5", 1.5),
        ("30", 30.0),
        ("0", 0.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("999999", 3600.0),
        ("Mon, 30 Nov 2026 14:07:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 14:00:00 GMT", None),
    ],
)
def test_retry_after(header: str | None, wait: float | None) -> None:
    assert seconds(header, now=datetime(2026, 11, 30, 14, 6, tzinfo=UTC)) == wait


def test_only_a_transient_answer_waits() -> None:
    assert read(429, "ratelimited", "1.5").retry_after == 1.5
    assert read(200, "ok", "1.5").retry_after is None
