"""Which failed polls close a stream, and whose doing that is."""

from __future__ import annotations

import pytest

from driftwatch.scheduler.let_go import let_go_reason


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("refused", None, "draining"),
        ("server-error", 502, "draining"),
        ("server-error", 503, "draining"),
        ("unreachable", None, "unreachable"),
        ("server-error", 500, None),
        ("server-error", 504, None),
        ("timeout", None, None),
        ("unauthorized", 401, None),
        ("too-large", None, None),
    ],
)
def test_only_outages_of_the_connection_let_go(code: str, status: int | None, reason: str | None) -> None:
    assert let_go_reason(code, status) == reason
