from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

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
    def server(*headers: str) -> ServerLine:
        return ServerLine(1, "x", "https://x.test", None, (), 300, "follow", "active", NOW, headers)

    assert advice.credential(server(), [], NOW)[1] == "The server has not answered yet."
    state, said = advice.credential(server("Authorization"), [], NOW)
    assert (state.word, said) == ("set", "1 secret header: Authorization. Stored sealed, never shown.")


def test_a_rename_is_a_hint_with_its_score_and_leads_to_the_other_half(sample: Any) -> None:
    gone = sample.change(kind="removed", facts={"rename_hint": {"tool": "find", "score": 0.91}})
    come = sample.change(id=8, kind="added", tool="find")
    hint = story.rename(gone, [gone, come])
    assert hint is not None
    assert hint.sentence == "It may be now `find`: their descriptions are alike, score 0.91. A hint, not a fact."
    assert hint.href == "/changes/8"
    assert story.rename(come, []) is None
