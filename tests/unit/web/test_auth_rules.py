"""Scopes, throttling, redirects after signing in, cursors."""

from __future__ import annotations

import pytest

from driftwatch.errors import ForbiddenError
from driftwatch.web.api import cursor
from driftwatch.web.auth.caller import Caller
from driftwatch.web.auth.login import safe_next
from driftwatch.web.auth.throttle import Throttle, TooManyAttemptsError
from driftwatch.web.auth.tokens import digest, new_secret


@pytest.mark.parametrize(
    ("own", "wanted", "may"),
    [
        ("admin", "write", True),
        ("admin", "admin", True),
        ("write", "read", True),
        ("write", "check", True),
        ("write", "admin", False),
        ("read", "read", True),
        ("read", "write", False),
        ("check", "read", False),
        ("check", "check", True),
        ("unheard-of", "read", False),
    ],
)
def test_a_scope_includes_what_it_should(own: str, wanted: str, may: bool) -> None:
    caller = Caller(actor="mei", token_id=1, scopes=frozenset({own}))
    assert caller.may(wanted) is may  # type: ignore[arg-type]  # parametrized over literals
    if not may:
        with pytest.raises(ForbiddenError, match=wanted):
            caller.demand(wanted)  # type: ignore[arg-type]  # parametrized over literals


def test_tokens_are_long_and_differ() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert first.startswith("dw_")
    assert len(first) > 40
    assert digest(first) != digest(second)


@pytest.mark.parametrize(
    ("target", "goes"),
    [
        ("/changes/4?x=1", "/changes/4?x=1"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
        (None, "/"),
    ],
)
def test_signing_in_never_leads_to_another_site(target: str | None, goes: str) -> None:
    assert safe_next(target) == goes


def test_too_many_failures_are_throttled_and_forgotten() -> None:
    now = [0.0]
    throttle = Throttle(limit=3, seconds=60, capacity=2, clock=lambda: now[0])
    for _ in range(3):
        throttle.check("a")
        throttle.failed("a")
    with pytest.raises(TooManyAttemptsError):
        throttle.check("a")
    throttle.check("b")
    now[0] = 61
    throttle.check("a")


def test_the_throttle_remembers_a_bounded_number_of_addresses() -> None:
    throttle = Throttle(limit=1, capacity=2)
    for address in ("a", "b", "c"):
        throttle.failed(address)
    throttle.check("a")
    with pytest.raises(TooManyAttemptsError):
        throttle.check("c")


def test_cursors_round_trip_and_refuse_what_is_not_theirs() -> None:
    assert cursor.decode(cursor.encode(42)) == 42
    assert cursor.decode(None) is None
    assert cursor.encode(None) is None
    for bad in ("", "x", "v1.", "v1.0", "v1.-1", "v1.1\n", "v1.٣", "é", "A" * 500, cursor.encode(10**30) or ""):
        with pytest.raises(cursor.BadCursorError):
            cursor.decode(bad)
    for name in ("orders", "", "a:b.c", "é"):
        assert cursor.decode_place(cursor.encode_place(2, name)) == (2, name)
    for bad in ("", "v1.1", "v2.", "v2.1", "v2.10.", "v2.1.A", "v2.1.é", "v2.1.=="):
        with pytest.raises(cursor.BadCursorError):
            cursor.decode_place(bad)
