from datetime import UTC, datetime

import pytest

from driftwatch.wire.statuses import retry_after, speaks_for_itself, status_error

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "code", "restart", "decides"),
    [
        (400, "not-mcp", None, False),
        (401, "unauthorized", None, True),
        (403, "forbidden", None, True),
        (404, "not-found", None, False),
        (405, "not-found", None, False),
        (410, "not-found", None, False),
        (421, "not-mcp", None, False),
        (429, "rate-limited", None, True),
        (500, "server-error", None, True),
        (502, "server-error", "http-502", True),
        (503, "server-error", "http-503", True),
        (504, "server-error", None, True),
    ],
)
def test_every_status_has_its_name(status, code, restart, decides):
    error = status_error(status, detail="why", retry_after=3.0)
    assert (error.code, error.restart_kind, error.status) == (code, restart, status)
    assert "why" in error.message
    assert error.hint
    assert speaks_for_itself(status) == decides
    assert error.retry_after == (3.0 if status == 429 or status >= 500 else None)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 0 ", 0.0),
        ("9" * 50, 999999999.0),
        ("-3", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 99 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_retry_after(value, seconds):
    assert retry_after(value, NOW) == seconds
