from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from driftwatch.capture.said import said
from driftwatch.wire.facts import Era, EraFacts, Listing, Session

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FACTS = EraFacts(Era.MODERN, "2026-07-28", {"name": "s", "version": "1"}, {"tools": {}}, "Be kind.")


def listing(flaws: tuple[str, ...] = (), **facts: object) -> Listing:
    return Listing(Era.MODERN, replace(FACTS, **facts), NOW, NOW, (), b"", 1, 0, 1.0, flaws=flaws)


def rules(found: Listing) -> list[tuple[str, str]]:
    return [(note.rule, note.pointer) for note in said(found).findings]


def test_a_server_that_says_everything_has_no_findings() -> None:
    assert said(listing()).findings == ()


@pytest.mark.parametrize(
    "other",
    [
        {"protocol_version": "2027-01-01"},
        {"server_info": {"name": "s", "version": "2"}},
        {"server_info": None},
        {"instructions": "Be quick."},
        {"instructions": None},
        {"capabilities": {"tools": {"listChanged": True}}},
        {"flaws": ("no ttlMs",)},
    ],
)
def test_every_field_counts(other: dict[str, object]) -> None:
    assert said(listing(**other)).sha256 != said(listing()).sha256


def test_neither_the_session_nor_the_order_of_keys_counts() -> None:
    turned = {"version": "1", "name": "s"}
    same = listing(server_info=turned, session=Session("x", "2026-07-28"))
    assert said(same).sha256 == said(listing()).sha256


def test_text_that_no_utf8_can_spell_is_text() -> None:
    assert said(listing(instructions="\ud800\x00")).sha256 != said(listing()).sha256
    assert ("hidden-characters", "/instructions") in rules(listing(instructions="\ud800\x00"))


def test_findings_about_a_server() -> None:
    assert rules(listing(server_info={"name": "s\u202e", "version": ""})) == [
        ("hidden-characters", "/serverInfo/name"),
        ("no-server-version", "/serverInfo"),
    ]
    assert rules(listing(server_info=None)) == [("no-server-version", "/serverInfo")]
    assert rules(listing(capabilities={})) == [("tools-undeclared", "/capabilities")]


@pytest.mark.parametrize(
    ("flaws", "who"),
    [
        (("no cacheScope", "no ttlMs"), "no cacheScope, no ttlMs: modern Python and TypeScript clients lose"),
        (("a ttlMs that is no count of milliseconds",), "milliseconds: modern TypeScript clients lose"),
    ],
)
def test_who_loses_a_list_without_its_hints(flaws: tuple[str, ...], who: str) -> None:
    (note,) = said(listing(flaws)).findings
    assert who in note.message
