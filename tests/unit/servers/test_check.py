from __future__ import annotations

from typing import Any

import pytest

from driftwatch.servers.check import check
from driftwatch.servers.errors import BadServerError
from driftwatch.servers.model import ServerPatch, ServerSpec
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era

URL = "https://mcp.example.com/mcp"
SETTINGS = Settings()


@pytest.mark.parametrize(
    "spec",
    [
        ServerSpec(URL),
        ServerSpec("http://10.0.0.7:8000/mcp"),  # whether the address may be reached is asked when it is resolved
        ServerSpec(URL, name="Größe 42", headers={"Authorization": "Bearer a b"}, interval_seconds=10),
        ServerSpec(URL, eras=frozenset({Era.LEGACY}), tags=("prod", "team:a/b"), owner="mei", mode="pinned"),
        ServerPatch(),
        ServerPatch(owner=None, eras=None, headers={}),
    ],
)
def test_honest_registrations_pass(spec: ServerSpec | ServerPatch) -> None:
    check(spec, SETTINGS)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ""),
        ("url", "ftp://example.com"),
        ("url", "https://user:secret@example.com/mcp"),
        ("url", "https://example.com/mcp#part"),
        ("url", "https://2130706433/mcp"),
        ("url", None),
        ("name", ""),
        ("name", "   "),
        ("name", "a" * 201),
        ("name", "a\u202eb"),
        ("name", "a\nb"),
        ("headers", {"Bad Name": "x"}),
        ("headers", {"X": "line\r\nbreak"}),
        ("headers", {"X": ""}),
        ("headers", {"X": "ü"}),
        ("headers", {"X": "a" * 8193}),
        ("headers", {"Host": "elsewhere"}),
        ("headers", {"mcp-session-id": "1"}),
        ("headers", {f"X-{n}": "1" for n in range(51)}),
        ("interval_seconds", 9),
        ("interval_seconds", 86_401),
        ("interval_seconds", 60.5),
        ("interval_seconds", True),
        ("eras", frozenset()),
        ("eras", frozenset({"modern!"})),
        ("tags", ("a b",)),
        ("tags", tuple("a" * 51)),
        ("owner", "a\x00"),
        ("listen", "on"),
        ("mode", "pin"),
    ],
)
def test_a_wrong_field_is_named(field: str, value: Any) -> None:
    with pytest.raises(BadServerError, match=field):
        check(ServerPatch(**{field: value}), SETTINGS)


def test_a_patch_cannot_take_the_name_away() -> None:
    with pytest.raises(BadServerError, match="name"):
        check(ServerPatch(name=None), SETTINGS)  # type: ignore[arg-type]  # what a script might send


def test_secrets_are_not_in_the_words_of_a_refusal() -> None:
    with pytest.raises(BadServerError) as refusal:
        check(ServerSpec(URL, headers={"Authorization": "Bearer s3cr3t\n"}), SETTINGS)
    assert "s3cr3t" not in str(refusal.value)
