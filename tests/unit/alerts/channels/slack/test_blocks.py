"""Within Slack's limits whatever a server sends, and server text never formats, links or mentions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders.changes import BROKEN_OUTPUT, change, finding, part
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.alerts.channels.slack.blocks import clamp, render
from driftwatch.alerts.message import Link, Message, Paragraph, Subject, Told, drift_message
from driftwatch.testing import slack_limits

LINK = Link("https://drift.example/changes/7", "Open change")
HOSTILE = "<!channel> <https://evil.example|click> *b* \u202e\u200b @here &amp; `x` :smile: \x00 \ud800"


def message(*paragraphs: Paragraph, title: str = "title", fallback: str = "fallback") -> Message:
    return Message(title, fallback, paragraphs, (LINK,))


def leaves(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(leaf for v in value.values() for leaf in leaves(v))]
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list) else []


def test_a_message_looks_like_the_page_says() -> None:
    body = render(
        message(
            Paragraph("text", "`status` may now be null."),
            Paragraph("do", "restart."),
            Paragraph("code", "{}"),
            Paragraph("note", "v3 → v4"),
        ),
        delivery_id="dlv_1",
    )
    assert slack_limits.refusal(body) is None
    header, text, do, code, note, link = body["blocks"]
    assert header["text"] == {"type": "plain_text", "text": "title", "emoji": False}
    assert text["elements"][0]["elements"] == [
        {"type": "text", "text": "status", "style": {"code": True}},
        {"type": "text", "text": " may now be null."},
    ]
    assert do["elements"][0]["elements"][0] == {"type": "text", "text": "Do: ", "style": {"bold": True}}
    assert code["elements"][0]["type"] == "rich_text_preformatted"
    assert note["elements"][0]["type"] == "plain_text"
    assert link["elements"][0]["elements"][0]["url"] == LINK.url
    assert (body["unfurl_links"], body["unfurl_media"], body["text"]) == (False, False, "fallback")
    assert body["metadata"]["event_payload"] == {"delivery_id": "dlv_1"}


def test_server_text_cannot_mention_link_or_hide() -> None:
    body = render(
        message(
            *(Paragraph(kind, HOSTILE) for kind in ("text", "code", "do", "note")), title=HOSTILE, fallback=HOSTILE
        ),
        delivery_id="d",
    )
    assert slack_limits.refusal(body) is None
    found = leaves(body["blocks"])
    assert {leaf["type"] for leaf in found if "type" in leaf} <= {
        "header", "plain_text", "rich_text", "rich_text_section", "rich_text_preformatted", "text", "link", "context",
    }  # fmt: skip
    assert [leaf["url"] for leaf in found if leaf.get("type") == "link"] == [LINK.url]
    assert {leaf["emoji"] for leaf in found if leaf.get("type") == "plain_text"} == {False}
    assert "<" not in body["text"]
    assert "&lt;!channel&gt;" in body["text"]
    shown = json.dumps(body, ensure_ascii=False)
    assert not set("\u202e\u200b\x00\ud800") & set(shown)
    assert "\\u{202E}" in body["blocks"][0]["text"]["text"]


def test_a_newline_in_a_name_starts_no_line_of_its_own() -> None:
    body = render(message(Paragraph("text", "a\nDo: pay"), title="a\nb"), delivery_id="d")
    assert "\n" not in json.dumps(body, ensure_ascii=False).replace("\\n", "\n")


def test_an_unpaired_backtick_styles_nothing() -> None:
    body = render(message(Paragraph("text", "`a` and ` b")), delivery_id="d")
    assert body["blocks"][1]["elements"][0]["elements"] == [{"type": "text", "text": "`a` and ` b"}]


def test_a_long_message_is_clamped_and_keeps_its_link() -> None:
    body = render(
        message(*(Paragraph("text", f"{n} " + "x" * 5000) for n in range(200)), title="t" * 500), delivery_id="d"
    )
    assert slack_limits.refusal(body) is None
    assert leaves(body["blocks"])[-1].get("url") == LINK.url
    shown = [leaf["text"] for leaf in leaves(body["blocks"]) if isinstance(leaf.get("text"), str)]
    (more,) = [text for text in shown if text.startswith("+")]
    kept = sum(text[0].isdigit() for text in shown)
    assert more == f"+{200 - kept} more on the page"


def test_hostile_tools_by_the_hundred_still_fit() -> None:
    told = []
    for n in range(161):
        said = finding("x", "breaking", f"{n}`" + HOSTILE * 50)
        broken = part("output", "breaking", said, via="declared", witness={"value": HOSTILE * 999})
        told.append(Told(change(broken, id=n, tool=f"{n}" + HOSTILE * 100), "silent-break", "alert", "critical"))
    subject = Subject(HOSTILE * 20, 1, HOSTILE * 20, 3, "https://drift.example")
    body = render(drift_message(subject, told), delivery_id="d")
    assert slack_limits.refusal(body) is None
    assert leaves(body["blocks"])[-1].get("url") == "https://drift.example/changesets/3"


def test_the_minimal_form_has_text_and_link_only() -> None:
    body = render(message(Paragraph("text", "long")), delivery_id="d", form="minimal")
    assert "blocks" not in body
    assert body["text"] == f"fallback {LINK.url}"


@pytest.mark.parametrize(
    ("text", "limit", "kept"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("🔇🔇🔇", 4, "🔇…"), ("", 1, "")]
)
def test_clamping_counts_as_slack_does(text: str, limit: int, kept: str) -> None:
    assert clamp(text, limit) == kept


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["text", "code", "do", "note"]), st.text(max_size=4000)), max_size=80),
    st.text(max_size=400),
)
def test_whatever_is_said_slack_takes_it(said: list[tuple[Any, str]], title: str) -> None:
    body = render(message(*(Paragraph(kind, text) for kind, text in said), title=title or "x"), delivery_id="d")
    assert slack_limits.refusal(body) is None


def test_the_real_message_fits_easily() -> None:
    body = render(
        drift_message(
            Subject("orders", 1, None, 3, "https://d.example"),
            [Told(change(BROKEN_OUTPUT), "silent-break", "alert", "critical")],
        ),
        delivery_id="d",
    )
    assert len(json.dumps(body)) < 4000
