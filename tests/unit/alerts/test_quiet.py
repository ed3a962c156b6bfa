"""Ignores take findings out of the policy's sight; people change lines for a server, a tag, or everything."""

from __future__ import annotations

from typing import Any

import pytest
from builders.changes import BROKEN_INPUT, BROKEN_OUTPUT, change, finding, part

from driftwatch.alerts.ignores import Ignore
from driftwatch.alerts.overrides import LineChange, check, lines_for
from driftwatch.alerts.policy import decide
from driftwatch.errors import InputError
from driftwatch.history.views import ChangeView

NULL = "output-null-added"


def line(found: ChangeView, *ignores: Ignore, **given: Any) -> tuple[str, str]:
    decision = decide(found, ignores=ignores, **given)
    assert decision is not None
    return decision.line, decision.outcome


@pytest.mark.parametrize(
    "ignore",
    [
        Ignore(1, "known", server_id=1),
        Ignore(1, "known", tool="get_order"),
        Ignore(1, "known", rule=NULL),
        Ignore(1, "known", pointer="/properties"),
        Ignore(1, "known", pointer="/properties/status"),
        Ignore(1, "known", server_id=1, tool="get_order", rule=NULL, pointer="/properties/status"),
    ],
)
def test_what_is_ignored_goes_to_history_and_says_why(ignore: Ignore) -> None:
    decision = decide(change(BROKEN_OUTPUT), ignores=(ignore,))
    assert decision is not None
    assert (decision.outcome, decision.line, decision.severity) == ("history", "ignored", None)
    assert decision.path[-1].words == "somebody asked not to hear of it (ignore rule 1: known)"
    assert [step.line for step in decision.path if step.matched] == ["ignored"]


@pytest.mark.parametrize(
    "ignore",
    [
        Ignore(1, "known", server_id=2),
        Ignore(1, "known", tool="get_orders"),
        Ignore(1, "known", rule="output-property-removed"),
        Ignore(1, "known", pointer="/properties/stat"),
        Ignore(1, "known", rule="tool-removed"),
    ],
)
def test_what_is_not_meant_alerts(ignore: Ignore) -> None:
    assert line(change(BROKEN_OUTPUT), ignore) == ("silent-break", "alert")


def test_an_ignore_hides_its_finding_and_no_other() -> None:
    both = change(BROKEN_OUTPUT, BROKEN_INPUT)
    assert line(both, Ignore(1, "known", rule=NULL)) == ("silent-break", "alert")
    other = part("output", "breaking", finding(NULL, "breaking"), finding("output-type-widened", "breaking"))
    assert line(change(other), Ignore(1, "known", rule=NULL)) == ("silent-break", "alert")


def test_what_is_left_of_a_part_is_told_as_what_it_is() -> None:
    mixed = part("output", "breaking", finding(NULL, "breaking"), finding("output-opened", "info"), via="declared")
    assert line(change(mixed), Ignore(1, "known", rule=NULL)) == ("silent-output-change", "alert")


def test_a_removal_is_ignored_by_its_own_rule() -> None:
    gone = change(kind="removed", to_version=None, verdict="breaking")
    assert line(gone, Ignore(1, "known", rule="tool-removed")) == ("ignored", "history")
    assert line(gone, Ignore(1, "known", rule=NULL)) == ("tool-removed", "alert")


def changed(**given: Any) -> LineChange:
    return LineChange(**{"line": "wording-only", "outcome": "alert", "severity": "notice", "by": "mei", **given})


def outcome(*changes: LineChange) -> tuple[str, str | None, str]:
    lines = lines_for(changes, server_id=1, tags=["prod", "vendor"])
    found = decide(change(part("text", "compatible", finding("description-changed", "annotation"))), lines=lines)
    assert found is not None
    return found.outcome, found.severity, found.path[-1].words


def test_a_changed_line_holds_and_says_who_changed_it() -> None:
    told, severity, words = outcome(changed())
    assert (told, severity) == ("alert", "notice")
    assert words.endswith("(changed for everything by mei)")


def test_the_narrowest_change_holds() -> None:
    everywhere, tag = changed(), changed(tag="prod", outcome="summary", severity=None)
    server = changed(server_id=1, outcome="history", severity=None)
    assert outcome(everywhere, tag)[0] == "summary"
    assert outcome(server, tag, everywhere)[0] == "history"
    assert outcome(everywhere, changed(tag="test", outcome="summary", severity=None))[0] == "alert"
    assert outcome(changed(server_id=2))[0] == "history"


def test_without_a_server_what_was_changed_for_everything_holds() -> None:
    lines = {line.id: line.outcome for line in lines_for([changed(), changed(line="noise", tag="prod")])}
    assert (lines["wording-only"], lines["noise"]) == ("alert", "history")


@pytest.mark.parametrize(
    ("name", "to", "severity"),
    [
        ("no-such-line", "alert", "critical"),
        ("noise", "shout", None),
        ("noise", "alert", None),
        ("noise", "alert", "loud"),
        ("noise", "summary", "notice"),
    ],
)
def test_lines_that_cannot_be_changed_so(name: str, to: str, severity: str | None) -> None:
    with pytest.raises(InputError):
        check(name, to, severity)
