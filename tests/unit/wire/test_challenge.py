from __future__ import annotations

import pytest

from driftwatch.wire.challenge import Challenge, next_step, read_challenge
from driftwatch.wire.errors import UnauthorizedError
from driftwatch.wire.statuses import status_error

METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        (",,;", None),
        ("Bearer", Challenge("Bearer")),
        ('Basic realm="x"', Challenge("Basic")),
        (
            f'Bearer error="invalid_token", error_description="it ended", resource_metadata="{METADATA}"',
            Challenge("Bearer", "invalid_token", "it ended", None, METADATA),
        ),
        ('Basic realm="x", Bearer scope="a b" , error=insufficient_scope', Challenge("Bearer", "insufficient_scope",
                                                                                    None, "a b")),
        ('bearer SCOPE = "a\\"b"', Challenge("bearer", scope='a"b')),
        ('Bearer scope="a", scope="b"', Challenge("Bearer", scope="a")),
        ("Negotiate YII=", Challenge("Negotiate")),
        ('Bearer error_description="<b>\u202e"', Challenge("Bearer", description="<b>\\u{202E}")),
    ],
)  # fmt: skip
def test_headers_are_read(header: str | None, expected: Challenge | None) -> None:
    assert read_challenge(header) == expected


def test_a_long_header_and_a_long_field_are_cut() -> None:
    found = read_challenge('Bearer scope="' + "x" * 5000 + '"')
    assert found is not None
    assert found.scope == "x" * 500
    assert read_challenge(" ," * 10_000 + "Bearer") is None


def test_broken_quotes_are_read_without_a_fault() -> None:
    assert read_challenge('Bearer error="invalid') == Challenge("Bearer")
    assert read_challenge('a="' * 5000) is not None


def test_a_challenge_round_trips_as_it_is_stored() -> None:
    told = Challenge("Bearer", "invalid_token", None, "a b", METADATA)
    assert told.shown() == {
        "scheme": "Bearer", "error": "invalid_token", "scope": "a b", "resource_metadata": METADATA,
    }  # fmt: skip
    assert Challenge.stored(told.shown()) == told


@pytest.mark.parametrize(
    ("challenge", "status", "words"),
    [
        (Challenge("Bearer"), 401, ["wants a bearer token"]),
        (Challenge("Basic"), 401, ["user name and a password"]),
        (Challenge("DPoP"), 401, ["the scheme DPoP"]),
        (Challenge("Bearer", "invalid_token", "it ended"), 401, ["expired, revoked or malformed", "It says: it ended"]),
        (Challenge("Bearer", "insufficient_scope", None, "tools:read"), 403, ["too few rights", "scope tools:read"]),
        (Challenge("Bearer", resource_metadata=METADATA), 401, [f"{METADATA} names the authorization server"]),
    ],
)
def test_what_to_do_next_is_said(challenge: Challenge, status: int, words: list[str]) -> None:
    step = next_step(challenge, status)
    assert step is not None
    assert [word for word in words if word not in step] == []


def test_the_error_of_a_status_carries_it() -> None:
    error = status_error(401, challenge=Challenge("Bearer", scope="tools:read"))
    assert isinstance(error, UnauthorizedError)
    assert error.challenge == Challenge("Bearer", scope="tools:read")
    assert error.hint is not None
    assert "tools:read" in error.hint
    assert status_error(401).hint == UnauthorizedError.advice
