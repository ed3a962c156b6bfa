"""Delivery on a real Postgres to a fake Slack: every kind of answer and the state it leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from uuid import uuid4

import pytest
from builders.notices import notice
from builders.world import Services, World

from driftwatch.alerts import channel_store, delivery_read, outbox, outbox_store
from driftwatch.alerts.channels.answer import Answer, Sending
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.alerts.notice import SLACK_WEBHOOK
from driftwatch.testing.fake_slack import FakeSlack

pytestmark = pytest.mark.oldest_postgres

SOON = "UPDATE outbox SET next_try_at = now() - interval '1 s' WHERE state = 'queued'"


def message(text: str = "hello") -> Message:
    return Message(text, text, (Paragraph("text", text),), (Link("https://drift.example/1", "Open"),))


async def put(services: Services, *texts: str, ordering: str | None = None) -> None:
    async with services.db.transaction() as session:
        for text in texts:
            await dispatch(session, notice(message(text), group=str(uuid4()), ordering=ordering or text))


async def add_channel(services: Services, name: str, url: str) -> None:
    async with services.db.transaction() as session:
        await channel_store.add_channel(session, name, SLACK_WEBHOOK, services.secrets.seal(url.encode())[0])


async def states(world: World) -> list[str]:
    return [row.state for row in await world.outbox()]


async def test_a_delivery_is_made_and_recorded(world: World, fake: FakeSlack) -> None:
    await world.change(await world.server())
    (alert,) = await world.raise_due()
    assert await outbox.deliver_due(world.services) == 1
    assert await outbox.deliver_due(world.services) == 0
    async with world.db.transaction() as session:
        (told,) = await delivery_read.deliveries_for_alert(session, alert)
    assert (told.state, told.tries, told.delivered_at is None, told.event) == ("delivered", 1, False, "drift.opened")
    (attempt,) = told.attempts
    assert (attempt.outcome, attempt.status, attempt.body, attempt.error) == ("delivered", 200, "ok", None)
    (received,) = fake.messages
    assert received.delivery_id == f"dlv_{told.id}"
    assert received.body["text"] == "🔇✕ Silent breaking change · orders / get_order: status may now be null"
    assert not fake.refused


async def test_the_same_event_is_put_in_once(world: World) -> None:
    async with world.db.transaction() as session:
        for _ in range(2):
            await dispatch(session, notice(message(), group="event-1", ordering="1"))
    assert len(await world.outbox()) == 1


async def test_a_rate_limit_is_waited_out_by_the_whole_channel(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    fake.answer_next(status=429, body="ratelimited", retry_after=600.5)
    await outbox.deliver_due(world.services)
    await put(world.services, "b")
    assert await outbox.deliver_due(world.services) == 0, "what comes later waits too"
    (first, _) = await world.outbox()
    (attempt,) = await world.attempts()
    assert first.state == "queued"
    assert 600.5 <= (first.next_try_at - attempt.at).total_seconds() < 660
    assert attempt.outcome == "transient"
    await world.sql("UPDATE channel SET paused_until = now() - interval '1 s'")
    await world.sql(SOON)
    assert await outbox.deliver_due(world.services) == 2
    assert [m.body["text"] for m in fake.messages] == ["a", "b"]


async def test_a_rate_limit_pauses_what_waits_behind_it(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a", "b", "c", "d", "e", "f")
    fake.answer_next(status=429, body="ratelimited", retry_after=600, times=4)
    assert await outbox.deliver_due(world.services) == 4
    assert fake.posts == 4
    assert await states(world) == ["queued"] * 6


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ({"status": 500, "body": "rollup_error"}, "rollup_error"),
        ({"status": 503, "body": "<html>"}, "http-503"),
        ({"cut": True}, "connection-closed"),
        ({"body": '{"ok": false, "error": "ratelimited"}'}, "ratelimited"),
    ],
)
async def test_what_passes_is_tried_again(
    world: World, fake: FakeSlack, behaviour: dict[str, object], error: str
) -> None:
    await put(world.services, "a")
    fake.answer_next(**behaviour)  # type: ignore[arg-type]  # one dict for differently typed arguments
    assert await outbox.deliver_due(world.services) == 1
    (row,) = await world.outbox()
    (attempt,) = await world.attempts()
    assert (row.state, row.attempts, attempt.error, attempt.outcome) == ("queued", 1, error, "transient")
    assert 0 < (row.next_try_at - attempt.at).total_seconds() < 60
    await world.sql(SOON)
    await outbox.deliver_due(world.services)
    assert await states(world) == ["delivered"]
    assert len(fake.messages) == 1


async def test_it_gives_up_after_days(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    await world.sql("UPDATE outbox SET created_at = now() - interval '4 days'")
    fake.answer_next(status=500)
    await outbox.deliver_due(world.services)
    assert await states(world) == ["dead"]


async def test_a_refused_message_goes_out_once_more_as_a_minimal_one(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    fake.answer_next(status=400, body="invalid_blocks")
    assert await outbox.deliver_due(world.services) == 2
    (row,) = await world.outbox()
    assert (row.state, row.form, row.attempts) == ("delivered", "minimal", 2)
    (received,) = fake.messages
    assert "blocks" not in received.body
    assert received.body["text"] == "a https://drift.example/1"


async def test_a_message_that_is_refused_twice_is_dead_and_blocks_nothing(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a", "b", ordering="same")
    fake.answer_next(status=400, body="invalid_blocks", times=2)
    assert await outbox.deliver_due(world.services) == 3
    assert await states(world) == ["dead", "delivered"]
    assert [a.outcome for a in await world.attempts()] == ["message-permanent", "message-permanent", "delivered"]


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, "no_service", "no_service (HTTP 404)"),
        (410, "channel_is_archived", "channel_is_archived (HTTP 410)"),
        (403, "invalid_token", "invalid_token (HTTP 403)"),
        (302, "", "redirected (HTTP 302)"),
        (200, '{"ok": false, "error": "token_revoked"}', "token_revoked (HTTP 200)"),
    ],
)
async def test_a_dead_channel_is_disabled_and_loses_nothing(
    world: World, fake: FakeSlack, status: int, body: str, reason: str
) -> None:
    await put(world.services, "a", "b", ordering="same")
    fake.answer_next(status=status, body=body, headers={"Location": "http://127.0.0.1:9/"})
    await outbox.deliver_due(world.services)
    async with world.db.transaction() as session:
        (channel,) = await delivery_read.channels(session)
    assert (channel.state, channel.disabled_reason, channel.waiting) == ("disabled", reason, 2)
    assert fake.posts == 1
    await put(world.services, "c")
    assert await states(world) == ["queued", "queued"], "nothing new is put in for a disabled channel"
    await world.sql("UPDATE channel SET state = 'enabled', disabled_reason = NULL")
    await outbox.deliver_due(world.services)
    assert [m.body["text"] for m in fake.messages] == ["a", "b"]


async def test_disabling_leaves_an_audit_row_without_the_secret(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    fake.answer_next(status=404, body="no_service")
    await outbox.deliver_due(world.services)
    async with world.db.engine.connect() as connection:
        rows = (await connection.exec_driver_sql("SELECT actor, action, object, after FROM audit_log")).all()
    assert [tuple(row) for row in rows] == [
        ("driftwatch", "channel.disabled", "channel slack", '{"reason": "no_service (HTTP 404)"}')
    ]


async def test_a_key_that_is_gone_disables_the_channel(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    await world.sql("UPDATE channel SET config = 'forged'")
    await outbox.deliver_due(world.services)
    async with world.db.transaction() as session:
        (channel,) = await delivery_read.channels(session)
    assert (channel.state, channel.disabled_reason) == ("disabled", "cannot-open-secret")
    assert fake.posts == 0


async def test_one_key_is_delivered_in_order_even_when_the_first_waits(world: World, fake: FakeSlack) -> None:
    await put(world.services, *(f"a{n}" for n in range(5)), ordering="a")
    await put(world.services, "b")
    fake.answer_next(status=500)
    await outbox.deliver_due(world.services)
    assert [m.body["text"] for m in fake.messages] == ["b"]
    await world.sql(SOON)
    await outbox.deliver_due(world.services)
    assert [m.body["text"] for m in fake.messages] == ["b", "a0", "a1", "a2", "a3", "a4"]


class Slow:
    """A transport whose one channel answers when it is let go."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.let_go = asyncio.Event()

    async def send(self, config: bytes, sending: Sending) -> Answer:
        if b"slow" in config:
            await self.let_go.wait()
        self.sent.append(sending.message.title)
        return Answer("delivered", status=200, body="ok")

    async def close(self) -> None:
        """Nothing to close."""


async def test_a_slow_channel_delays_no_other(services: Services) -> None:
    await add_channel(services, "slow", "https://slow")
    await add_channel(services, "quick", "https://quick")
    transport = Slow()
    await put(services, *(f"{n}" for n in range(30)))
    worker = outbox.Deliverer(services, {SLACK_WEBHOOK: transport})
    async with asyncio.timeout(120):  # the quick channel would wait for the slow one for ever
        while len(transport.sent) < 30:
            await worker.start()
            await worker.wait()
    transport.let_go.set()
    await worker.drain(None)
    assert len(transport.sent) == 30 + outbox.PER_CHANNEL


async def test_a_fault_of_ours_blocks_nothing(world: World) -> None:
    class Broken(Slow):
        async def send(self, config: bytes, sending: Sending) -> Answer:
            raise ZeroDivisionError

    await put(world.services, "a")
    await outbox.deliver_due(world.services, transports={SLACK_WEBHOOK: Broken()})
    assert await states(world) == ["dead"]


async def test_the_loop_delivers_what_comes_later(services: Services, fake: FakeSlack) -> None:
    task = asyncio.create_task(outbox.run_outbox(services))
    await until(lambda: _channels(services), 60)
    await put(services, "a")
    await until(lambda: _arrived(fake, 1), 60)
    await put(services, "b")
    await until(lambda: _arrived(fake, 2), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    rows = await World(services).outbox()
    assert [row.state for row in rows] == ["delivered", "delivered"]


async def test_a_cancelled_loop_records_what_was_in_flight(services: Services, fake: FakeSlack) -> None:
    task = asyncio.create_task(outbox.run_outbox(services))
    await until(lambda: _channels(services), 60)
    fake.answer_next(delay=1.0)
    await put(services, "a")
    await until(lambda: _arrived(fake, 1), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [row.state for row in await World(services).outbox()] == ["delivered"]


async def test_a_lease_that_ran_out_is_taken_over_under_the_same_id(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    async with world.db.transaction() as session:
        (lost,) = await outbox_store.claim(session, 1, limit=5, lease_seconds=600)
    assert await outbox.deliver_due(world.services) == 0
    await world.sql("UPDATE outbox SET leased_until = now() - interval '1 s'")
    assert await outbox.deliver_due(world.services) == 1
    assert [m.delivery_id for m in fake.messages] == [lost.delivery_id]
    async with world.db.transaction() as session:
        await outbox_store.retry(session, lost, seconds=0, form="full")
    assert await states(world) == ["delivered"], "a worker that lost its lease changes nothing"


async def test_many_claimers_never_share_a_delivery(world: World) -> None:
    await put(world.services, *(f"{n}" for n in range(40)))

    async def claim() -> Sequence[int]:
        async with world.db.transaction() as session:
            return [c.id for c in await outbox_store.claim(session, 1, limit=7, lease_seconds=30)]

    claimed = [i for ids in await asyncio.gather(*(claim() for _ in range(8))) for i in ids]
    assert len(claimed) == len(set(claimed))


async def test_answers_with_bytes_that_postgres_refuses_are_recorded(world: World, fake: FakeSlack) -> None:
    await put(world.services, "a")
    fake.answer_next(status=500, body="\x00" + "x" * 5000)
    await outbox.deliver_due(world.services)
    (attempt,) = await world.attempts()
    assert attempt.body is not None
    assert len(attempt.body) == 2048
    assert attempt.body[0] == "\x00"


def test_backoff_doubles_to_a_quarter_of_an_hour() -> None:
    assert [outbox.backoff(n, 0.5) for n in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert outbox.backoff(500, 0.5) == 900
    assert (outbox.backoff(1, 0.0), outbox.backoff(1, 1.0)) == (0.5, 1.5)


async def _channels(services: Services) -> bool:
    async with services.db.transaction() as session:
        return bool(await delivery_read.channels(session))


async def _arrived(fake: FakeSlack, count: int) -> bool:
    return len(fake.messages) >= count


async def until(condition: object, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not await condition():  # type: ignore[operator]  # an async callable
        assert time.monotonic() < end, "not in time"
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("change", ["state = 'disabled'", "paused_until = now() + interval '1 h'"])
async def test_a_channel_is_asked_again_before_anything_is_claimed(world: World, change: str) -> None:
    """An answer may have changed it after somebody saw that something waits for it."""
    await put(world.services, "a")
    async with world.db.transaction() as session:
        assert await outbox_store.waiting_channels(session) == [1]
    await world.sql(f"UPDATE channel SET {change}")
    async with world.db.transaction() as session:
        assert await outbox_store.claim(session, 1, limit=5, lease_seconds=30) == []
