from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from driftwatch.testing import slack_limits
from driftwatch.testing.fake_slack import KEPT_MESSAGES, FakeSlack
from driftwatch.testing.slack_api import WebApi

PLAIN = {"type": "plain_text", "text": "x"}
BUTTON = {"type": "button", "text": PLAIN}


def rich(*elements: dict[str, Any], kind: str = "rich_text_section") -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(elements)}]}


TEXT = {"type": "text", "text": "x"}

TAKEN = [
    {"text": "hello"},
    {"text": "x", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 150}}]},
    {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}]},
    {"blocks": [{"type": "section", "fields": [PLAIN] * 10}]},
    {"blocks": [{"type": "divider"}] * 50},
    {"blocks": [{"type": "context", "elements": [PLAIN] * 10}]},
    {"blocks": [{"type": "actions", "elements": [{**BUTTON, "value": "v" * 2000}]}]},
    {"blocks": [rich(TEXT, {"type": "link", "url": "https://x.example"})]},
    {"blocks": [rich({"type": "rich_text_section", "elements": [TEXT]}, kind="rich_text_list")]},
]
REFUSED = [
    ({}, "no_text"),
    ([], "invalid_payload"),
    ({"text": 1}, "invalid_payload"),
    ({"text": "x" * 40_001}, "msg_too_long"),
    ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
    ({"blocks": {"type": "divider"}}, "invalid_blocks"),
    ({"blocks": ["x"]}, "invalid_blocks"),
    ({"blocks": [{"type": "video"}]}, "invalid_blocks"),
    ({"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]}, "invalid_blocks"),
    ({"blocks": [{"type": "header", "text": {"type": "plain_text", "text": ""}}]}, "invalid_blocks"),
    ({"blocks": [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}]}, "invalid_blocks"),
    ({"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}]}, "invalid_blocks"),
    ({"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x", "emoji": False}}]}, "invalid_blocks"),
    ({"blocks": [{"type": "section"}]}, "invalid_blocks"),
    ({"blocks": [{"type": "section", "fields": [PLAIN] * 11}]}, "invalid_blocks"),
    ({"blocks": [{"type": "context", "elements": [PLAIN] * 11}]}, "invalid_blocks"),
    ({"blocks": [{"type": "context", "elements": []}]}, "invalid_blocks"),
    ({"blocks": [{"type": "actions", "elements": [{**BUTTON, "value": "v" * 2001}]}]}, "invalid_blocks"),
    ({"blocks": [rich({"type": "text", "text": ""})]}, "invalid_blocks"),
    ({"blocks": [rich({"type": "link", "url": "javascript:alert(1)"})]}, "invalid_blocks"),
    ({"blocks": [rich({"type": "mrkdwn", "text": "x"})]}, "invalid_blocks"),
    ({"blocks": [rich(TEXT, kind="section")]}, "invalid_blocks"),
    ({"blocks": [{"type": "divider", "block_id": "x" * 256}]}, "invalid_blocks"),
    ({"blocks": [rich({"type": "text", "text": "x" * 2700}) for _ in range(5)]}, "msg_blocks_too_long"),
]  # fmt: skip


@pytest.mark.parametrize("body", TAKEN)
def test_what_slack_takes(body: dict[str, Any]) -> None:
    assert slack_limits.refusal(body) is None


@pytest.mark.parametrize(("body", "error"), REFUSED)
def test_what_slack_refuses(body: Any, error: str) -> None:
    found = slack_limits.refusal(body)
    assert found is not None
    assert found[0] == error
    assert found[1]


def test_a_webhook_is_answered_as_slack_answers_it() -> None:
    fake = FakeSlack()
    client = TestClient(fake.app)
    taken = client.post("/services/T0/B0/alerts", json={"text": "hello"})
    refused = client.post("/services/T0/B0/alerts", json={"blocks": [{"type": "video"}]})
    broken = client.post("/services/T0/B0/alerts", content=b"{")
    strange = client.post("/services/T0/B0/alerts", content=b'{"text": "x", "n": NaN}')
    huge = client.post("/services/T0/B0/alerts", json={"text": "x" * 300_000})
    assert (taken.status_code, taken.text) == (200, "ok")
    assert (refused.status_code, refused.text) == (400, "invalid_blocks")
    assert broken.text == huge.text == strange.text == "invalid_payload"
    inbox = client.get("/inbox.json").json()
    assert [(m["text"], m["blocks"], m["channel"]) for m in inbox["messages"]] == [("hello", [], "#alerts")]
    assert [r["error"] for r in inbox["refused"]] == [
        "invalid_blocks",
        "invalid_payload",
        "invalid_payload",
        "invalid_payload",
    ]


def test_answers_can_be_planned_once() -> None:
    fake = FakeSlack()
    client = TestClient(fake.app)
    fake.answer_next(status=429, body="ratelimited", retry_after=1.5)
    limited = client.post("/services/x", json={"text": "a"})
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1.5")
    assert not fake.messages
    assert client.post("/services/x", json={"text": "a"}).text == "ok"
    assert len(fake.messages) == 1


def test_memory_is_bounded() -> None:
    fake = FakeSlack()
    client = TestClient(fake.app)
    for number in range(KEPT_MESSAGES + 5):
        client.post("/services/x", json={"text": str(number)})
    assert len(fake.messages) == KEPT_MESSAGES
    assert fake.messages[0].body["text"] == "5"


def test_the_page_shows_messages_and_trusts_nobody() -> None:
    fake = FakeSlack()
    client = TestClient(fake.app)
    evil = "<script>alert(1)</script>\u202e"
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": f"title {evil}"}},
        rich({"type": "text", "text": f"name {evil}", "style": {"code": True}}),
        rich({"type": "link", "url": 'https://x.example/"><b', "text": evil}),
        rich({"type": "text", "text": evil}, kind="rich_text_preformatted"),
        {"type": "context", "elements": [{"type": "plain_text", "text": evil}, {"type": "image"}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "<!channel>"}},
    ]
    assert client.post("/services/%3Cb%3E", json={"text": evil, "blocks": blocks}).text == "ok"
    page = client.get("/")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "<b>" not in page.text.replace("<b>driftwatch</b>", "")
    assert "\u202e" not in page.text
    assert "title &lt;script&gt;" in page.text
    assert "&lt;!channel&gt;" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "style=" not in page.text


def test_the_page_without_messages_and_with_a_lone_surrogate() -> None:
    fake = FakeSlack()
    client = TestClient(fake.app)
    assert "No message has arrived yet" in client.get("/").text
    client.post("/services/x", content=b'{"text": "lone \\ud800"}')
    assert "lone \\u{D800}" in client.get("/").text
    assert client.get("/inbox.json").json()["messages"][0]["text"] == "lone \ud800"


def test_channels_are_kept_apart() -> None:
    client = TestClient(FakeSlack().app)
    client.post("/services/one", json={"text": "first"})
    client.post("/services/two", json={"text": "second"})
    assert "second" in client.get("/").text
    page = client.get("/", params={"channel": "#one"}).text
    assert "first" in page
    assert "second" not in page


VIEW: dict[str, Any] = {
    "type": "modal",
    "title": PLAIN,
    "submit": PLAIN,
    "blocks": [{"type": "input", "label": PLAIN, "element": {"type": "plain_text_input", "action_id": "a"}}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"type": "home"},
        {"title": {"type": "plain_text", "text": "x" * 25}},
        {"title": None},
        {"submit": {"type": "plain_text", "text": "x" * 25}},
        {"private_metadata": "x" * 3001},
        {"callback_id": "x" * 256},
        {"blocks": [{"type": "divider"}] * 101},
        {"blocks": [{"type": "input", "label": PLAIN, "element": {"type": "datepicker"}}]},
        {"blocks": [{"type": "input", "label": PLAIN, "element": {"type": "plain_text_input", "max_length": 3001}}]},
    ],
)
def test_dialogs_that_slack_does_not_open(change: dict[str, Any]) -> None:
    assert slack_limits.refusal_of_view(VIEW) is None
    assert (slack_limits.refusal_of_view({**VIEW, **change}) or ("",))[0] == "invalid_arguments"


def test_a_field_needs_a_way_to_send_it() -> None:
    assert slack_limits.refusal_of_view({k: v for k, v in VIEW.items() if k != "submit"}) is not None


def test_two_buttons_need_two_names() -> None:
    twice = [{**BUTTON, "action_id": "same"}] * 2
    assert (slack_limits.refusal({"blocks": [{"type": "actions", "elements": twice}]}) or ("",))[0] == "invalid_blocks"


@pytest.mark.parametrize("seconds", [600.0, -1.0])
def test_a_trigger_opens_one_dialog_in_time(seconds: float) -> None:
    fake = FakeSlack(trigger_seconds=seconds)
    api = WebApi(fake.messages, fake.refused, fake.dialogs, trigger_seconds=seconds)
    trigger = api.trigger()
    answers = [api.call("views.open", "xoxb-1", {"trigger_id": trigger, "view": VIEW}) for _ in range(2)]
    assert answers[0].get("error") == (None if seconds > 0 else "expired_trigger_id")
    assert answers[1]["error"] == "invalid_trigger_id"
    assert len(fake.dialogs) == (seconds > 0)
