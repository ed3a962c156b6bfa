"""A Slack app from end to end: message with buttons, thread, a signed press, the message edited, the audit log."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from builders.world import World

from driftwatch.alerts import channel_actions, outbox
from driftwatch.alerts.actions import By
from driftwatch.app import Services
from driftwatch.scheduler import jobs
from driftwatch.testing.fake_slack import FakeSlack, serve
from driftwatch.testing.slack_buttons import User
from driftwatch.testing.slack_received import Dialog, Received
from driftwatch.web.app import create_app

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
Query = Callable[..., Awaitable[list[dict[str, Any]]]]
CHANNEL = "C0ALERTS"


@pytest.fixture
def fake() -> FakeSlack:
    return FakeSlack(trigger_seconds=600)  # a slow machine must not make a dialog fail


@pytest.fixture
async def slack(services: Services, fake: FakeSlack) -> AsyncIterator[Services]:
    """Services with one app channel at the fake."""
    async with serve(fake) as url:
        update = {
            "slack_api_url": url.replace("/services/T0/B0/test", "/api/"),
            "slack_allow_hosts": ("127.0.0.1",),
            "slack_signing_secret": SECRET,
            "base_url": "https://drift.example",
        }
        settings = type(services.settings).model_validate({**services.settings.model_dump(), **update})
        found = replace(services, settings=settings)
        async with found.db.transaction() as session:
            given = {"token": "xoxb-fake", "conversation": CHANNEL}
            await channel_actions.add(
                session, settings, found.secrets, By("mei"), name="alerts", kind="slack-app", given=given
            )
        yield found


@asynccontextmanager
async def web(services: Services) -> AsyncIterator[str]:
    """The web role on a port; the address of interactions."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(services), log_level="critical", lifespan="off"))
    server.capture_signals = _no_signals  # type: ignore[method-assign]  # pytest's own handlers stay
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/slack/interactions"
    finally:
        server.should_exit = True
        await task
        listener.close()


def _no_signals() -> Any:
    from contextlib import nullcontext

    return nullcontext()


async def alert(services: Services, *, mode: str = "follow") -> int:
    world = World(services)
    await world.change(await world.server(mode=mode))
    (found,) = await world.raise_due()
    await outbox.deliver_due(services)
    return found


async def press(services: Services, fake: FakeSlack, text: str, *, user: User | None = None) -> Received:
    """Press a button of the first message, do what it asks, deliver what follows; the message as it reads now."""
    parent = fake.messages[0]
    async with web(services) as url:
        status, body = await fake.press(parent, text, url, SECRET, user=user or User("U7", "bo"))
    assert (status, body) == (200, "")
    await jobs.work(services, wait=False)
    await outbox.deliver_due(services)
    return fake.messages[0]


async def accept(services: Services, fake: FakeSlack, reason: str = "", *, user: User | None = None) -> Received:
    """Press Accept…, fill in the dialog that opens, send it; the message as it reads then."""
    await press(services, fake, "Accept…", user=user)
    async with web(services) as url:
        status, body = await fake.submit(fake.dialogs[-1], url, SECRET, user=user or User("U7", "bo"), reason=reason)
    assert (status, body) == (200, "")
    await jobs.work(services, wait=False)
    await outbox.deliver_due(services)
    return fake.messages[0]


def words(message: Received) -> str:
    return str(message.body["blocks"])


async def test_the_first_message_has_buttons_and_a_thread_with_the_whole_diff(slack: Services, fake: FakeSlack) -> None:
    alert_id = await alert(slack)
    assert not fake.refused
    parent = fake.messages[0]
    assert list(parent.buttons) == ["Acknowledge", "Accept…", "Mute 24 h"]
    assert {b["value"] for b in parent.buttons.values()} == {str(alert_id)}
    (reply,) = fake.replies(parent)
    assert reply.body["text"] == "Full diff"
    assert "get_order  v1 → v2" in words(reply)


async def test_acknowledge_then_accept_edit_the_message_and_are_written_down(
    slack: Services, fake: FakeSlack, query: Query
) -> None:
    alert_id = await alert(slack)
    parent = await press(slack, fake, "Acknowledge")
    assert "● Acknowledged by bo (Slack U7)" in words(parent)
    assert list(parent.buttons) == ["Accept…", "Mute 24 h"]
    parent = await accept(slack, fake)
    assert parent.buttons == {}
    assert parent.body["text"].startswith("🔇✕ Silent breaking change")
    assert "✓ Accepted by bo (Slack U7)" in words(parent)
    assert [r.body["text"] for r in fake.replies(parent)] == [
        "Full diff",
        "● Acknowledged by bo (Slack U7).",
        "✓ Accepted v2 by bo (Slack U7).",
    ]
    assert [a.state for a in await World(slack).alerts()] == ["accepted"]
    rows = await query("SELECT actor, action, object FROM audit_log WHERE action LIKE 'alert.%' ORDER BY id")
    assert rows == [
        {"actor": "bo (Slack U7)", "action": f"alert.{done}", "object": f"alert/{alert_id}"}
        for done in ("acknowledge", "accept")
    ]


async def test_the_dialog_says_what_is_accepted_and_changes_nothing_yet(slack: Services, fake: FakeSlack) -> None:
    await alert(slack)
    await press(slack, fake, "Accept…")
    assert not fake.refused
    assert [a.state for a in await World(slack).alerts()] == ["open"]
    (dialog,) = fake.dialogs
    assert "what later changes are compared with" in str(dialog.view["blocks"])
    assert {"type": "text", "text": "get_order", "style": {"code": True}} in _leaves(dialog.view["blocks"])
    assert dialog.unfilled({}) == [], "a followed server demands no reason"


async def test_a_pinned_server_asks_for_the_reason_and_the_thread_shows_it(
    slack: Services, fake: FakeSlack, query: Query
) -> None:
    alert_id = await alert(slack, mode="pinned")
    await press(slack, fake, "Accept…")
    (dialog,) = fake.dialogs
    assert dialog.unfilled({}) == ["reason"]
    with pytest.raises(ValueError, match="asks for reason first"):
        await fake.submit(dialog, "http://127.0.0.1:9/", SECRET)
    parent = await accept(slack, fake, "carriers may be pending", user=User("U0MEI", "mei"))
    assert "✓ Accepted by mei (Slack U0MEI)" in words(parent)
    assert fake.replies(parent)[-1].body["text"] == "✓ Accepted v2 by mei (Slack U0MEI): carriers may be pending."
    (row,) = await query("SELECT actor, object, after FROM audit_log WHERE action = 'alert.accept'")
    assert (row["actor"], row["object"]) == ("mei (Slack U0MEI)", f"alert/{alert_id}")
    assert "carriers may be pending" in str(row["after"])
    (row,) = await query("SELECT by, reason FROM acceptance WHERE mode = 'person'")
    assert row == {"by": "mei (Slack U0MEI)", "reason": "carriers may be pending"}


async def test_spaces_are_no_reason(slack: Services, fake: FakeSlack) -> None:
    await alert(slack, mode="pinned")
    await accept(slack, fake, "   ")
    assert [a.state for a in await World(slack).alerts()] == ["open"]
    assert "A reason is needed" in words(fake.replies(fake.messages[0])[-1])


async def test_a_dialog_that_does_not_open_is_said_in_the_thread(slack: Services, fake: FakeSlack) -> None:
    await alert(slack)
    fake.answer_next(body='{"ok": false, "error": "expired_trigger_id"}')
    await press(slack, fake, "Accept…")
    assert not fake.dialogs
    last = words(fake.replies(fake.messages[0])[-1])
    assert "Slack did not open the dialog (expired_trigger_id)" in last
    assert "accept on the page" in last
    assert "https://drift.example/changesets/" in last


async def test_a_dialog_that_is_not_ours_does_nothing(slack: Services, fake: FakeSlack) -> None:
    await alert(slack)
    await press(slack, fake, "Accept…")
    (dialog,) = fake.dialogs
    origin = dialog.view["private_metadata"].replace("1", "2")
    for forged in ({"private_metadata": "{"}, {"callback_id": "other"}, {"private_metadata": origin}):
        async with web(slack) as url:
            assert (await fake.submit(Dialog("V0", {**dialog.view, **forged}), url, SECRET))[0] == 200
        await jobs.work(slack, wait=False)
    assert [a.state for a in await World(slack).alerts()] == ["open"]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return _leaves(value["elements"]) if isinstance(value, dict) and "elements" in value else [value]


async def test_mute_for_a_day(slack: Services, fake: FakeSlack, query: Query) -> None:
    await alert(slack)
    await press(slack, fake, "Mute 24 h")
    (row,) = await query(
        "SELECT created_by, until - created_at BETWEEN '23:59' AND '24:01' AS a_day FROM mute WHERE ended_at IS NULL"
    )
    assert row == {"created_by": "bo (Slack U7)", "a_day": True}


async def test_what_cannot_be_done_is_said_in_the_thread(slack: Services, fake: FakeSlack) -> None:
    await alert(slack)
    stale = fake.messages[0]
    await accept(slack, fake)
    async with web(slack) as url:
        assert (await fake.press(stale, "Accept…", url, SECRET))[0] == 200
    await jobs.work(slack, wait=False)
    await outbox.deliver_due(slack)
    assert len(fake.dialogs) == 1, "nothing is asked that cannot be done"
    last = fake.replies(fake.messages[0])[-1]
    assert last.body["text"].startswith("mei (Slack U0MEI): This alert is already accepted by bo (Slack U7)")


@pytest.mark.parametrize(("secret", "age"), [("wrong", 0.0), (SECRET, 400.0)])
async def test_what_slack_did_not_sign_lately_is_refused(
    slack: Services, fake: FakeSlack, secret: str, age: float
) -> None:
    await alert(slack)
    async with web(slack) as url:
        status, body = await fake.press(fake.messages[0], "Acknowledge", url, secret, age=age)
    assert status == 401
    assert "bad-signature" in body
    await jobs.work(slack, wait=False)
    assert [a.state for a in await World(slack).alerts()] == ["open"]


async def test_a_press_on_a_message_that_is_not_ours_does_nothing(slack: Services, fake: FakeSlack) -> None:
    await alert(slack)
    forged = replace(fake.messages[0], ts="1.000001")
    async with web(slack) as url:
        assert (await fake.press(forged, "Accept…", url, SECRET))[0] == 200
    await jobs.work(slack, wait=False)
    assert [a.state for a in await World(slack).alerts()] == ["open"]


async def test_more_drift_is_told_in_the_thread_and_edits_the_message(slack: Services, fake: FakeSlack) -> None:
    world = World(slack)
    server = await world.server()
    await world.change(server)
    await world.raise_due()
    await outbox.deliver_due(slack)
    await world.change(server, old=2, new=3, said="`total` may now be missing")
    await world.raise_due()
    await outbox.deliver_due(slack)
    assert len([m for m in fake.messages if m.thread is None]) == 1
    assert fake.messages[0].edits == 1
    parent = fake.messages[0]
    assert "total" in words(parent), "the first message tells of the newest drift"
    assert "More on an alert that is still open." in words(fake.replies(parent)[-1])


async def test_a_repeated_attempt_looks_first_whether_the_message_arrived(
    slack: Services, fake: FakeSlack, query: Query
) -> None:
    """The worker died between Slack's acceptance and our record: the same id is found, nothing is posted twice."""
    world = World(slack)
    await world.change(await world.server())
    await world.raise_due()
    fake.answer_next(cut=True, keep=True)
    await outbox.deliver_due(slack)
    assert len(fake.messages) == 1
    await query("UPDATE outbox SET next_try_at = now() - interval '1 s' WHERE state = 'queued'")
    await outbox.deliver_due(slack)
    assert [m.thread is None for m in fake.messages] == [True, False]
    rows = await query("SELECT state, attempts FROM outbox ORDER BY id")
    assert rows == [{"state": "delivered", "attempts": 2}, {"state": "delivered", "attempts": 1}]


@pytest.mark.parametrize(
    ("answer", "state", "channel"),
    [
        ({"status": 429, "body": '{"ok": false, "error": "ratelimited"}', "retry_after": 1.5}, "queued", "enabled"),
        ({"body": '{"ok": false, "error": "token_revoked"}'}, "queued", "disabled"),
        ({"body": '{"ok": false, "error": "channel_not_found"}'}, "queued", "disabled"),
        ({"status": 503, "body": "upstream"}, "queued", "enabled"),
        ({"cut": True}, "queued", "enabled"),
        ({"status": 302, "body": "", "headers": {"location": "http://127.0.0.1:1/"}}, "queued", "disabled"),
        ({"body": '{"ok": false, "error": "invalid_blocks"}'}, "delivered", "enabled"),
    ],
)
async def test_every_refusal_leaves_its_state(
    slack: Services, fake: FakeSlack, query: Query, answer: dict[str, Any], state: str, channel: str
) -> None:
    world = World(slack)
    await world.change(await world.server())
    await world.raise_due()
    fake.answer_next(**answer)
    await outbox.deliver_due(slack)
    (first, _) = await world.outbox()
    (row,) = await query("SELECT state FROM channel")
    assert (first.state, row["state"]) == (state, channel)
    if "invalid_blocks" in str(answer):
        assert first.form == "minimal"
