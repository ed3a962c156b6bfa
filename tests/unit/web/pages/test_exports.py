from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from driftwatch.servers.credential_state import CredentialView, state_of
from driftwatch.web.pages import advice, chips, exports, searching, story
from driftwatch.web.pages.models import ServerLine

NOW = datetime(2026, 11, 30, 14, 9, tzinfo=UTC)


def test_server_text_cannot_become_markup_in_markdown() -> None:
    assert exports.prose("a [link](x) <b> *bold* `a|b` \u202e") == r"a \[link\](x) \<b\> \*bold\* `a|b` \\u{202E}"
    assert exports.code("a`b\nc") == "`a’b c`"


def test_a_change_for_a_ticket_has_proof_evidence_and_permalink(sample: Any) -> None:
    change = sample.change()
    text = exports.change(
        change, story.headline(change), story.proof(change), "restart clients", "https://x.test/changes/7"
    )
    assert text.startswith("## `status` may now be null\n")
    assert "- `status` may now be null (`output-null-added`)" in text
    assert "Announced? No." in text
    assert "Do: restart clients" in text
    assert text.endswith("https://x.test/changes/7\n")


def test_a_chosen_chip_can_always_be_taken_back() -> None:
    offered = chips.offer("tag", [f"t{i}" for i in range(20)], "t19", cap=4)
    assert offered.values == ("t19", "t0", "t1", "t2")
    assert "t19" not in offered.more
    assert chips.offer("rule", ["a", "b"], "", cap=0).values == ()


def test_rules_are_found_by_words_of_their_id() -> None:
    assert [hit.id for hit in searching.find_rules("null added")] == ["output-null-added"]
    assert searching.find_rules("  ") == []


def test_the_credential_says_what_the_server_made_of_it() -> None:
    def said(view: CredentialView | None) -> tuple[str, str]:
        line = ServerLine(1, "x", "https://x.test", None, (), 300, "follow", "active", NOW, credential=view)
        state, told = advice.credential(line, [], NOW)
        return state.word, told

    hour = timedelta(hours=1)
    assert said(None) == ("none set", "The server has not answered yet.")
    headers = CredentialView("default", "headers", "untried", ("Authorization",), NOW, {})
    assert said(headers) == ("set", "1 secret header: Authorization. Stored sealed, never shown.")
    grant = CredentialView(
        "default",
        "client-secret",
        "ok",
        ("Authorization",),
        NOW,
        {"client_id": "us"},
        NOW - hour,
        NOW + hour,
        ("a", "b"),
    )
    assert said(grant) == (
        "accepted",
        "OAuth client credentials by secret, us · access token renewed 1 h ago, ends in 1 h, scopes a b. "
        "Stored sealed, never shown.",
    )
    refused = replace(grant, state="refused", failed_at=NOW, failure={"code": "token-refused", "message": "No."})
    assert said(refused) == (
        "refused",
        "OAuth client credentials by secret, us, refused since 14:09: renew it below. No.",
    )
    ended = replace(grant, state="expired", failure={"code": "no-token", "message": "Out of order."})
    assert said(ended)[1].endswith("Its access token ended and no new one came. Out of order.")


def test_the_state_of_a_credential() -> None:
    later, earlier = NOW + timedelta(hours=1), NOW - timedelta(hours=1)
    no_token, refused = {"code": "no-token"}, {"code": "token-refused"}
    assert state_of(["ok"], NOW, expires_at=later, failure=None) == "ok"
    assert state_of(["ok"], NOW, expires_at=later, failure=no_token) == "ok"  # the old token still does
    assert state_of(["ok"], NOW, expires_at=earlier, failure=no_token) == "expired"
    assert state_of(["no-token"], NOW, expires_at=None, failure=no_token) == "expired"
    assert state_of(["ok", "unauthorized"], NOW, expires_at=later, failure=None) == "refused"
    assert state_of(["timeout"], NOW, expires_at=None, failure=refused) == "refused"
    assert state_of(["timeout"], NOW, expires_at=None, failure=None) == "untried"


def test_a_rename_is_a_hint_with_its_score_and_leads_to_the_other_half(sample: Any) -> None:
    gone = sample.change(kind="removed", facts={"rename_hint": {"tool": "find", "score": 0.91}})
    come = sample.change(id=8, kind="added", tool="find")
    hint = story.rename(gone, [gone, come])
    assert hint is not None
    assert hint.sentence == "It may be now `find`: their descriptions are alike, score 0.91. A hint, not a fact."
    assert hint.href == "/changes/8"
    assert story.rename(come, []) is None
