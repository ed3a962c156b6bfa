from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from builders.changes import BROKEN_INPUT, BROKEN_OUTPUT, WINDOW, change, finding, part

from driftwatch.alerts import words


def test_titles_say_glyph_and_words() -> None:
    assert words.headline("silent-break", "silent") == "🔇✕ Silent breaking change"
    assert words.headline("unknown-break", "unknown") == "◌✕ Breaking change, announcement unknown"
    assert words.headline("announced-break", "announced") == "▲✕ Announced breaking change"
    assert words.headline("invalid", "silent") == "🔇⊘ Silent invalid definition"
    assert words.headline("undecided", "unknown") == "◌? Change, not decided, announcement unknown"


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("not-declared", "not announced: the server declares no listChanged"),
        ("restart", "not announced: restarted at 14:04, no list_changed"),
        ("not-delivered", "not announced: no list_changed arrived on our live, acknowledged subscription"),
        (
            "cannot-deliver",
            "not announced: the server declares listChanged, but we found no stream that could carry it",
        ),
    ],
)
def test_silence_is_told_with_its_reason_and_without_blame(reason: str, sentence: str) -> None:
    at = datetime(2026, 11, 30, 14, 4, 31, tzinfo=UTC)
    given = change(BROKEN_OUTPUT, announcement_reason=reason, evidence={"restarts": [at.timestamp()]})
    assert words.evidence(given) == sentence


@pytest.mark.parametrize("at", [1796047471.0, "2026-11-30T14:04:31+00:00", {"at": "2026-11-30T15:04:31+01:00"}])
def test_times_in_evidence_are_read_in_every_form_it_is_stored_in(at: object) -> None:
    given = change(BROKEN_OUTPUT, announcement_reason="restart", evidence={"restarts": [at]})
    assert "restarted at 14:04" in words.evidence(given)


def test_what_we_could_not_hear_is_never_called_silent() -> None:
    given = change(BROKEN_OUTPUT, announcement="unknown", fact="restarted", evidence={"restarts": []})
    assert words.evidence(given) == "we could not hear whether it was announced (restarted)"
    assert "silent" not in words.headline("unknown-break", "unknown").lower()


def test_an_announcement_names_its_time() -> None:
    given = change(BROKEN_OUTPUT, announcement="announced", fact="undeclared", evidence={"notifications": [1796047500]})
    assert words.evidence(given) == "announced: list_changed at 14:05, although listChanged is not declared"


def test_the_witness_is_json_and_null_is_not_nothing() -> None:
    assert words.proof(change(BROKEN_OUTPUT)) == ("A client that cached v3 refuses:", '{"id":"A-1041","status":null}')
    null = part("output", "breaking", via="declared", witness={"value": None})
    assert words.proof(change(null)) == ("A client that cached v3 refuses:", "null")
    absent = part("output", "breaking", via="declared", witness={"absent": True})
    assert words.proof(change(absent)) == ("A client that cached v3 refuses a result without structuredContent", None)
    assert words.proof(change(part("output", "undecided"))) is None
    introduction, value = words.proof(change(BROKEN_INPUT)) or ("", "")
    assert "the server now refuses" in introduction
    assert value == '{"query":""}'


def test_what_to_do_depends_on_who_must_act() -> None:
    assert words.do(change(BROKEN_OUTPUT), "silent-break", None) == (
        "restart clients started before 14:07 UTC, so that they read v4; check code that reads `status`."
    )
    assert "send what v4 asks for" in words.do(change(BROKEN_INPUT), "silent-break", None)
    assert words.do(change(), "invalid", "payments").startswith("ask payments")
    gone = change(kind="removed", to_version=None, facts={"rename_hint": {"tool": "find", "score": 0.9}})
    assert "it may be called `find` now" in words.do(gone, "tool-removed", None)
    assert "until someone accepts it" in words.do(change(), "undecided", None)


def test_sentences_come_worst_first_once_and_are_never_missing() -> None:
    mixed = part(
        "output",
        "breaking",
        finding("a", "info", "results may now carry `eta`."),
        finding("b", "breaking", "`status` may now be null"),
        finding("b", "breaking", "`status` may now be null"),
        via="declared",
    )
    assert words.sentences(change(mixed)) == ["`status` may now be null", "results may now carry `eta`"]
    assert words.sentences(change(part("input"))) == ["the arguments changed"]
    assert words.sentences(change(part("input", "undecided"))) == [
        "the arguments changed, and we could not prove that it breaks nobody"
    ]
    assert words.sentences(change()) == ["the definition changed"]
    assert words.sentences(change(kind="removed", tool="a`b")) == ["`a’b` is gone"]


def test_windows_are_utc_and_as_exact_as_needed() -> None:
    start, end = WINDOW
    assert words.window(start, end) == "between 14:02 and 14:07 UTC"
    assert words.window(start, start + timedelta(seconds=2)) == "between 14:02:00 and 14:02:02 UTC"
    assert words.window(start - timedelta(days=1), end) == "between 29 Nov 14:02 and 30 Nov 14:07 UTC"
    elsewhere = timezone(timedelta(hours=9))
    assert words.window(start.astimezone(elsewhere), end.astimezone(elsewhere)) == "between 14:02 and 14:07 UTC"


def test_the_servers_own_version_is_told_when_it_did_not_move() -> None:
    assert words.server_version(change(facts={"version_not_bumped": True, "server_version": "2.3.1"})) == (
        "version still 2.3.1"
    )
    assert words.server_version(change(facts={"server_version": "2.3.1"})) is None


def test_who_saw_it() -> None:
    assert words.seen_by(e for e in ("legacy", "modern")) == "seen by 2026-07-28 and 2025-11-25 clients"
    assert words.seen_by(["legacy"]) == "seen by 2025-11-25 clients"
