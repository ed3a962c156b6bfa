"""Which failed polls close a stream, and whose doing that is."""

from __future__ import annotations

import pytest

from driftwatch.scheduler.let_go import let_go_reason, whose_doing


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("refused", None, "draining"),
        ("server-error", 502, "unavailable"),
        ("server-error", 503, "unavailable"),
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


def test_only_a_server_that_accepts_nobody_has_ended_its_stream_itself() -> None:
    reasons = ("draining", "unavailable", "unreachable", "changed")
    assert [whose_doing(reason) for reason in reasons] == ["server", "us", "us", "us"]
