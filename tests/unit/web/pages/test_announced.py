from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from driftwatch.web.pages import announced, times


@pytest.mark.parametrize(
    ("answer", "reason", "fact", "more", "begins", "holds"),
    [
        ("announced", None, None, {"notifications": "at"}, "Yes.", "arrived at 14:05:30 UTC"),
        ("announced", None, "undeclared", {"notifications": "at"}, "Yes.", "does not declare listChanged"),
        ("silent", "not-declared", None, {}, "No.", "declares no listChanged"),
        ("silent", "restart", None, {"restarts": "at"}, "No.", "restarted at 14:05:30 UTC and declares no listChanged"),
        ("silent", "restart", None, {"restarts": "at", "declared": True}, "No.", "live and acknowledged"),
        (
            "silent",
            "restart",
            None,
            {"restarts": "at", "declared": True, "listening": "cannot-deliver"},
            "No.",
            "offers no stream",
        ),
        ("silent", "cannot-deliver", None, {"declared": True}, "No.", "offers no stream"),
        ("silent", "not-delivered", None, {"declared": True}, "No.", "on our live, acknowledged subscription"),
        ("unknown", None, None, {"declared": True}, "We cannot know.", "we held no change stream"),
        ("unknown", None, "restarted", {"declared": True}, "We cannot know.", "A restart was seen."),
        ("unknown", None, None, {"declared": True, "listening": "limit"}, "We cannot know.", "refused another"),
        ("pending", None, None, {}, "Not judged yet", "may still be on its way"),
    ],
)
def test_the_answer_is_a_sentence(
    sample: Any, answer: str, reason: str | None, fact: str | None, more: dict[str, Any], begins: str, holds: str
) -> None:
    at = [(sample.end - timedelta(seconds=98)).timestamp()]
    more = {key: at if value == "at" else value for key, value in more.items()}
    change = sample.change(
        announcement=answer, announcement_reason=reason, judgement=sample.judged(answer, reason, fact, **more)
    )
    said = announced.sentence(change)
    assert said.startswith(begins)
    assert holds in said


def test_nothing_blames_and_unknown_is_never_silent(sample: Any) -> None:
    change = sample.change(announcement="unknown", announcement_reason=None, judgement=sample.judged("unknown"))
    said = announced.sentence(change)
    assert "lied" not in said
    assert said.endswith("So we do not call it silent.")


def test_a_change_without_judgement_is_told_as_waiting(sample: Any) -> None:
    told = announced.explain(sample.change(announcement=None, announcement_reason=None, judgement=None), sample.now)
    assert told.sentence.startswith("Not judged yet")
    assert told.note == "Nothing has been judged yet."


def test_the_facts_are_shown_not_only_the_word(sample: Any) -> None:
    at = sample.end - timedelta(seconds=157)
    change = sample.change(
        facts={"version_not_bumped": True, "server_version": "2.3.1", "within_ttl": True, "dialect_changed": True},
        judgement=sample.judged("silent", "restart", restarts=[at.timestamp()], restart_kinds=["session-lost"]),
    )
    facts = dict(announced.explain(change, sample.now).facts)
    assert facts["restart"] == "seen at 14:04:31, session lost"
    assert facts["notified"] == "none arrived"
    assert facts["server"] == "does not declare listChanged"
    assert facts["version"] == "still 2.3.1, not bumped (weak evidence)"
    assert facts["window"].startswith("14:02:11 last poll")
    assert {"ttl", "dialect"} <= facts.keys()


def test_who_honours_the_old_lists_ttl_stays_stale_for_a_told_time(sample: Any) -> None:
    stale = {"within_ttl": True, "ttl_ms": 600_000, "stale_until": "2026-11-30T14:12:11+00:00"}
    told = dict(announced.explain(sample.change(facts=stale), sample.now).facts)["ttl"]
    assert told == (
        "the old list was to be kept for 10 min: a client that honours ttlMs stays stale, "
        "until 30 Nov 14:12 if it asked when we did"
    )
    shared = dict(announced.explain(sample.change(facts=stale | {"cache_scope": "public"}), sample.now).facts)["ttl"]
    assert shared == f"{told}; cacheScope is public, so shared caches may serve it as well"


def test_the_time_line_holds_window_marks_and_now_in_order(sample: Any) -> None:
    restart = sample.end - timedelta(seconds=157)
    stream = {"acked": (sample.start - timedelta(days=3)).timestamp(), "verified_until": restart.timestamp()}
    change = sample.change(
        judgement=sample.judged("silent", "restart", restarts=[restart.timestamp()], streams=[stream])
    )
    drawn = announced.explain(change, sample.now).timeline
    left, right = drawn.window.x, drawn.window.x + drawn.window.width
    assert 84 <= left < drawn.restarts[0].x < right <= 708
    assert drawn.saw_old.x == left
    assert drawn.saw_new.text == "saw v4"
    assert drawn.now is not None
    assert drawn.now.x > right
    assert drawn.streams[0].x == 84
    assert 2 <= len(drawn.ticks) <= 6
    assert all(tick.text for tick in drawn.ticks)


@pytest.mark.parametrize("seconds", [0, 0.2, 5, 300, 86_400, 90 * 86_400])
def test_a_window_of_any_length_can_be_drawn(sample: Any, seconds: float) -> None:
    change = sample.change(window=(sample.end - timedelta(seconds=seconds), sample.end))
    drawn = announced.explain(change, sample.now).timeline
    assert drawn.window.width > 0
    assert all(84 <= tick.x <= 708 for tick in drawn.ticks)


def test_days_are_named_on_a_long_axis(sample: Any) -> None:
    change = sample.change(window=(sample.end - timedelta(days=6), sample.end))
    ticks = announced.explain(change, sample.now).timeline.ticks
    assert all("Nov" in tick.text or "Dec" in tick.text for tick in ticks)


@pytest.mark.parametrize("broken", [{"restarts": "x"}, {"streams": [None, {"acked": 1}]}, {"notifications": [None]}])
def test_evidence_of_another_shape_is_left_out(sample: Any, broken: dict[str, Any]) -> None:
    change = sample.change(judgement=sample.judged("silent", "not-declared", **broken))
    drawn = announced.explain(change, sample.now).timeline
    assert drawn.streams == drawn.restarts == drawn.notifications == ()


def test_seconds_of_the_clock_become_aware_times() -> None:
    assert times.iso(times.from_epoch(0)) == "1970-01-01T00:00:00Z"
