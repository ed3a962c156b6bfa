"""What is worth fixing although nothing changed, and what a server says of itself, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.history.ledger import Doubt
from driftwatch.history.views import Hearing, ListView, Statement
from driftwatch.web.pages import advice, conformance, said
from driftwatch.web.pages.models import ProfileLine

NOW = datetime(2026, 11, 30, 14, tzinfo=UTC)


def profile(state: str = "ok", era: str = "modern", **more: Any) -> ProfileLine:
    polled = {"last_poll_at": NOW, "next_due_at": NOW, "failing_since": None, "failures": 0, "duration_ms": 1.0}
    given = {"list_changed_declared": True, "last_error": {"message": "The cursor 'x' came twice."}} | more
    return ProfileLine(1, 1, era, state, None, None, tool_count=2, polls_survived=0, **polled, **given)


def hearing(state: str, reason: str | None = None) -> Hearing:
    return Hearing(state, reason, None, None, 0, 0, 0, noisy=False)


def rules(*profiles: ProfileLine) -> list[str]:
    return [note.rule for _, note in conformance.of_server(profiles, NOW)]


@pytest.mark.parametrize("reason", ["get-405", "no-session", "listen-404", "ack-omits-tools", None])
def test_what_is_declared_and_cannot_be_delivered(reason: str | None) -> None:
    found = conformance.of_server([profile(hearing=hearing("cannot-deliver", reason))], NOW)
    [(tool, note)] = found
    assert (tool, note.rule) == ("", "declared-undeliverable")
    assert note.message.startswith("declares listChanged to 2026-07-28 clients, and ")
    assert rules(profile(hearing=hearing("ok"))) == []
    assert rules(profile(hearing=hearing("cannot-deliver", reason), list_changed_declared=False)) == []


def test_an_order_that_moves_again_and_again_within_a_day() -> None:
    moved = {"order_moves": 3, "order_moved_at": NOW - timedelta(hours=1)}
    assert rules(profile(**moved)) == ["unstable-order"]
    assert rules(profile(**moved | {"order_moves": 2})) == []
    assert rules(profile(**moved | {"order_moved_at": NOW - timedelta(hours=25)})) == []


def test_a_list_that_nobody_can_read_to_its_end_is_told_once() -> None:
    both = [profile("repeated-cursor"), profile("repeated-cursor", "legacy")]
    [(_, note)] = conformance.of_server(both, NOW)
    assert note.message == "no client can read the list to its end: The cursor 'x' came twice."
    assert rules(profile("timeout"), profile("unauthorized")) == []


def test_the_server_itself_can_be_unsettled() -> None:
    doubt = Doubt(b"1", b"2", NOW, NOW, NOW, returns=3)
    [(tool, note)] = conformance.unsettled([{"": doubt}])
    assert (tool, note.rule) == ("", "replicas-differ")
    assert note.message.startswith("what it says of itself: two definitions alternate since ")


def test_every_finding_has_something_to_do() -> None:
    shown = rules(
        profile("repeated-cursor"),
        profile(hearing=hearing("cannot-deliver"), order_moves=9, order_moved_at=NOW),
    )
    assert len(shown) == 3
    assert all(advice.todo(rule) for rule in shown)


def test_the_same_instructions_are_shown_once() -> None:
    lists = [
        ListView(n, era, NOW, None, None, 1, (), text)
        for n, (era, text) in enumerate((("modern", "Hi"), ("legacy", "Hi"), ("legacy", "Ho"), ("legacy", None)))
    ]
    assert said.instructions(lists) == [("2026-07-28 clients", "Hi"), ("2025-11-25 clients", "Ho")]


def test_statements_in_words() -> None:
    told = said.lines(
        [
            Statement("modern", NOW, "/serverInfo/version", "1", "2"),
            Statement("legacy", NOW, "/capabilities/tools/listChanged", None, True),
        ]
    )
    assert [(line.clients, line.field, line.old, line.new) for line in told] == [
        ("2026-07-28 clients", "serverInfo.version", "1", "2"),
        ("2025-11-25 clients", "capabilities.tools.listChanged", "–", "true"),
    ]
