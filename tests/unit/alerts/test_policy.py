"""Every line of the default policy, both ways."""

from __future__ import annotations

import pytest
from builders.changes import BROKEN_INPUT, BROKEN_OUTPUT, UNDECLARED_INPUT, change, finding, part

from driftwatch.alerts.policy import DEFAULT_LINES, Line, decide, worst
from driftwatch.history.views import ChangeView

LESS_SAFE = part("annotations", "compatible", finding("tool-annotations-changed", "warning", "`readOnlyHint` is gone"))
SAFER = part("annotations", "compatible", finding("tool-annotations-changed", "annotation", "`title` changed"))
REWORDED = part("text", "compatible", finding("description-changed", "annotation", "the description changed"))
NEW_OUTPUT_KEY = part("output", "compatible", finding("output-property-added", "info", "results may carry `eta`"))
OUTPUT_WORDS = part("output", "compatible", finding("default-changed", "annotation", "a default changed"))
UNDECLARED_OUTPUT = part("output", "breaking", finding("output-property-added", "info"), via="undeclared-key")
UNDECIDED = part("input", "undecided", finding("input-pattern-changed", "warning"), reason="budget")
INVALID = part("input", "invalid", finding("invalid-definition", "breaking"))
NEW_INPUT_KEY = part("input", "compatible", finding("input-optional-property-added", "info"))
GONE = part("presence", "breaking", via="declared")
NEW = part("presence", "compatible")

CASES = [
    # (a) breaking with via declared, removed, undecided, invalid
    (change(BROKEN_OUTPUT), "alert", "silent-break", "critical"),
    (change(BROKEN_INPUT), "alert", "silent-break", "critical"),
    (change(GONE, kind="removed", to_version=None), "alert", "tool-removed", "critical"),
    (change(UNDECIDED), "alert", "undecided", "warning"),
    (change(UNDECIDED, announcement="announced"), "alert", "undecided", "warning"),
    (change(INVALID), "alert", "invalid", "critical"),
    (change(INVALID, announcement="announced"), "alert", "invalid", "critical"),
    (change(INVALID, announcement="unknown"), "alert", "invalid", "critical"),
    # (b) any silent semantic change of an output
    (change(NEW_OUTPUT_KEY), "alert", "silent-output-change", "notice"),
    (change(UNDECLARED_OUTPUT), "alert", "silent-output-change", "notice"),
    (change(NEW_OUTPUT_KEY, announcement="unknown"), "summary", "everything-else", None),
    (change(NEW_OUTPUT_KEY, announcement="announced"), "summary", "everything-else", None),
    (change(OUTPUT_WORDS), "history", "wording-only", None),
    (change(part("output", "compatible", finding("dialect-changed", "info"))), "history", "wording-only", None),
    (change(part("output", "compatible", reason="same-meaning")), "history", "wording-only", None),
    # (c) a hint that became less safe
    (change(LESS_SAFE), "alert", "less-safe-hint", "warning"),
    (change(LESS_SAFE, announcement="announced"), "alert", "less-safe-hint", "warning"),
    (change(SAFER), "history", "wording-only", None),
    # (d) announced breaking, lower
    (change(BROKEN_OUTPUT, announcement="announced"), "alert", "announced-break", "warning"),
    # (e) unknown and breaking
    (change(BROKEN_OUTPUT, announcement="unknown"), "alert", "unknown-break", "critical"),
    # everything else
    (change(UNDECLARED_INPUT), "summary", "everything-else", None),
    (change(UNDECLARED_INPUT, announcement="unknown"), "summary", "everything-else", None),
    (change(part("input", "breaking", via="unsafe-number")), "summary", "everything-else", None),
    (change(NEW_INPUT_KEY), "summary", "everything-else", None),
    (change(NEW, kind="added", from_version=None), "summary", "everything-else", None),
    (change(NEW, NEW_OUTPUT_KEY, kind="added", from_version=None), "summary", "everything-else", None),
    (change(NEW, kind="restored", from_version=None, to_version=1), "summary", "everything-else", None),
    (change(REWORDED), "history", "wording-only", None),
    (change(REWORDED, NEW_INPUT_KEY), "summary", "everything-else", None),
    (change(OUTPUT_WORDS, facts={"noise": ["volatile"]}), "history", "noise", None),
    (change(NEW_OUTPUT_KEY, facts={"noise": ["sdk"]}), "history", "noise", None),
    # noise never hides a break
    (change(BROKEN_OUTPUT, facts={"noise": ["volatile"]}), "alert", "silent-break", "critical"),
    # the worst part speaks, whichever decided the change's verdict
    (change(UNDECLARED_OUTPUT, BROKEN_INPUT), "alert", "silent-break", "critical"),
    (change(UNDECLARED_INPUT, UNDECIDED), "alert", "undecided", "warning"),
]


@pytest.mark.parametrize(("given", "outcome", "line", "severity"), CASES)
def test_the_default_policy(given: ChangeView, outcome: str, line: str, severity: str | None) -> None:
    decision = decide(given)
    assert decision is not None
    assert (decision.outcome, decision.line, decision.severity) == (outcome, line, severity)


def test_every_line_is_asked_by_some_case() -> None:
    assert {line for _, _, line, _ in CASES} == {line.id for line in DEFAULT_LINES} - {"back-at-baseline"}


@pytest.mark.parametrize(
    "given",
    [
        change(BROKEN_OUTPUT, announcement="pending"),
        change(BROKEN_OUTPUT, announcement=None),
        change(BROKEN_OUTPUT, state="assessed"),
        change(state="recorded", announcement=None),
    ],
)
def test_a_change_that_is_not_judged_is_not_decided(given: ChangeView) -> None:
    assert decide(given) is None


def test_the_path_names_every_line_asked_and_ends_with_the_one_that_matched() -> None:
    decision = decide(change(UNDECIDED))
    assert decision is not None
    assert [step.line for step in decision.path] == [line.id for line in DEFAULT_LINES[: len(decision.path)]]
    assert [step.matched for step in decision.path] == [False] * (len(decision.path) - 1) + [True]
    assert decision.path[-1].line == "undecided"
    assert all(step.words for step in decision.path)


def test_the_baseline_counts_when_it_is_worse() -> None:
    harmless = change(NEW_INPUT_KEY)
    assert [decide(harmless, baseline_verdict=v).line for v in (None, "compatible")] == ["everything-else"] * 2  # type: ignore[union-attr]  # judged
    for verdict, line in {"breaking": "silent-break", "undecided": "undecided", "invalid": "invalid"}.items():
        decision = decide(harmless, baseline_verdict=verdict)
        assert decision is not None
        assert decision.line == line


def test_what_was_accepted_and_is_back_wakes_nobody() -> None:
    decision = decide(change(BROKEN_OUTPUT), back_at_baseline=True)
    assert decision is not None
    assert (decision.outcome, decision.line) == ("summary", "back-at-baseline")


def test_lines_are_data() -> None:
    quiet = (Line("nobody", "nobody is told", lambda case: True, "history"),)
    decision = decide(change(BROKEN_OUTPUT), lines=quiet)
    assert decision is not None
    assert decision.outcome == "history"
    with pytest.raises(ValueError, match="last line"):
        decide(change(BROKEN_OUTPUT), lines=())


def test_the_worst_severity() -> None:
    assert worst([]) is None
    assert worst([None, "notice"]) == "notice"
    assert worst(["notice", "critical", "warning"]) == "critical"
