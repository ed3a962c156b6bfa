"""kill -9 of delivering workers, of any size: what both the integration and the acceptance test run.

Real alerts go to an incoming Slack webhook, a Slack app and a signed webhook at once; half of them are reminded of.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from builders.receiver import Receiver, receiving
from builders.world import Services, World
from cryptography.fernet import Fernet

from driftwatch.alerts import channel_actions, release
from driftwatch.alerts.actions import By
from driftwatch.alerts.default_channel import ensure_default_channel
from driftwatch.alerts.tables import Channel, Outbox
from driftwatch.db.engine import Database
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings
from driftwatch.testing.fake_slack import FakeSlack, serve
from driftwatch.testing.slack_received import Received

#: far above what a delivery takes on a busy machine: a lease that runs out under a living worker repeats a message too
LEASE_SECONDS = 20.0
SEED = 20261130
ME = By("mei")
#: what each kind of channel is sent for an alert, and for a reminder of it
FIRST = {"slack-webhook": 1, "slack-app": 2, "webhook": 1}
REMINDER = {"slack-webhook": 1, "slack-app": 2, "webhook": 1}


@dataclass(frozen=True)
class Size:
    """How many alerts there are, every second with a reminder, and how often somebody is killed in how many seconds."""

    alerts: int
    workers: int
    kills: int
    seconds: float

    @property
    def deliveries(self) -> int:
        return self.alerts * sum(FIRST.values()) + (self.alerts // 2) * sum(REMINDER.values())


@dataclass(frozen=True)
class Outcome:
    """What was found: repetitions by kind of channel, all of them explained."""

    alerts: int
    delivered: int
    kills: int
    repetitions: dict[str, int]


@dataclass(frozen=True)
class Ears:
    """Where the messages arrive."""

    slack: FakeSlack
    hooks: Receiver

    @property
    def heard(self) -> int:
        return len(self.slack.messages) + len(self.hooks.taken)

    def by_kind(self) -> dict[str, list[str]]:
        """The delivery ids that each kind of channel took, in order."""
        return {
            "slack-webhook": [str(m.delivery_id) for m in self.slack.messages if not m.app],
            "slack-app": [str(m.delivery_id) for m in self.slack.messages if m.app],
            "webhook": [event.delivery_id for event in self.hooks.taken],
        }


class Workers:
    """Processes that are killed and replaced."""

    def __init__(self, url: str, key: str, environment: dict[str, str], count: int) -> None:
        command = [sys.executable, str(Path(__file__).with_name("outbox_worker.py")), url, str(LEASE_SECONDS), key]
        self._nursery = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._running = [self._start() for _ in range(count)]

    def _start(self) -> int:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        print(file=self._nursery.stdin, flush=True)
        return int(self._nursery.stdout.readline())

    def kill(self, index: int) -> None:
        os.kill(self._running[index], signal.SIGKILL)
        self._running[index] = self._start()

    def stop(self) -> None:
        assert self._nursery.stdin is not None
        self._nursery.stdin.close()
        self._nursery.wait()
        if self._nursery.stdout is not None:
            self._nursery.stdout.close()


async def prove(db: Database, size: Size) -> Outcome:
    """Deliver while workers are killed; fails unless nothing is lost and every repetition is explained."""
    chance = random.Random(SEED)

    def latency() -> float:
        return chance.uniform(0.1, 0.35)

    ears = Ears(FakeSlack(latency=latency, kept=None), Receiver(latency=latency))
    key = Fernet.generate_key().decode()
    async with serve(ears.slack) as slack, receiving(ears.hooks) as hook:
        environment = {
            "DRIFTWATCH_SLACK_WEBHOOK_URL": slack,
            "DRIFTWATCH_SLACK_API_URL": slack.replace("/services/T0/B0/test", "/api/"),
            "DRIFTWATCH_SLACK_ALLOW_HOSTS": "127.0.0.1",
            "DRIFTWATCH_ALLOW_NETWORKS": "127.0.0.0/8",
        }
        given = {name.removeprefix("DRIFTWATCH_").lower(): value for name, value in environment.items()}
        settings = Settings.model_validate({**given, "messages_per_hour": 0, "reminder_hours": 24})
        world = World(Services(db, settings, SecretBox([key.encode()])))
        ears.hooks.secret = await channels(world, hook)
        workers = Workers(db.url, key, environment, size.workers)
        try:
            telling = asyncio.create_task(tell(world, size))
            killed = await kill_and_wait(world, ears, workers, chance, size, telling)
        finally:
            workers.stop()
    return await judge(world, ears, size, killed)


async def channels(world: World, hook: str) -> str:
    """One channel of each kind; the secret of the signed one."""
    services = world.services
    async with world.db.transaction() as session:
        await ensure_default_channel(session, services.settings, services.secrets)
        app = {"token": "xoxb-fake", "conversation": "C0ALERTS"}
        add = channel_actions.add
        await add(session, services.settings, services.secrets, ME, name="app", kind="slack-app", given=app)
        given = {"url": hook}
        _, secret = await add(
            session, services.settings, services.secrets, ME, name="hook", kind="webhook", given=given
        )
    assert secret is not None
    return secret


async def tell(world: World, size: Size) -> None:
    """Open the alerts, one for each tool that breaks silently; then remind of every second one."""
    server = await world.server()
    for number in range(size.alerts):
        await world.change(server, f"tool-{number:03}")
        if number % 20 == 19:
            await world.raise_due()
    await world.raise_due()
    aged = "- interval '25 h' WHERE {} % 2 = 0"
    await world.sql(f"UPDATE alert SET opened_at = opened_at {aged.format('id')}")
    await world.sql(f"UPDATE outbox SET created_at = created_at {aged.format('alert_id')}")
    async with world.db.transaction() as session:
        reminded = await release.remind_due(session, world.services.settings, limit=size.alerts)
    assert len(reminded) == size.alerts // 2


async def kill_and_wait(
    world: World, ears: Ears, workers: Workers, chance: random.Random, size: Size, telling: asyncio.Task[None]
) -> int:
    """Kill at random moments while messages arrive, then wait until all are recorded; the number of kills."""
    killed, end = 0, time.monotonic() + size.seconds
    every = size.deliveries // (size.kills + 1)
    while time.monotonic() < end:
        await asyncio.sleep(chance.uniform(0.02, 0.08))
        if killed < size.kills and ears.heard >= every * (killed + 1) // 2:
            await asyncio.to_thread(workers.kill, chance.randrange(size.workers))
            killed += 1
        elif telling.done() and killed == size.kills and await all_delivered(world, size):
            await telling
            return killed
    raise AssertionError(
        f"not delivered in time after {killed} kills: {Counter(row.state for row in await world.outbox())}"
    )


async def all_delivered(world: World, size: Size) -> bool:
    states = [row.state for row in await world.outbox()]
    return states == ["delivered"] * size.deliveries


async def judge(world: World, ears: Ears, size: Size, killed: int) -> Outcome:
    """Nothing is lost, repetitions are explained, the order of each alert's messages is kept."""
    assert killed == size.kills
    alerts, rows = await world.alerts(), await world.outbox()
    assert [alert.kind for alert in alerts] == ["drift"] * size.alerts
    kinds = {channel.id: channel.kind for channel in await world.all(Channel)}
    repeated = {}
    recorded = Counter(attempt.outbox_id for attempt in await world.attempts())
    for kind, taken in ears.by_kind().items():
        mine = [row for row in rows if kinds[row.channel_id] == kind and row.action != "update"]
        assert set(taken) == {f"dlv_{row.id}" for row in mine}, f"{kind}: a message was lost, or came under another id"
        repeated[kind] = explained(mine, Counter(taken), recorded)
        in_order(kind, mine, taken)
    threads_are_whole(ears.slack, size)
    return Outcome(len(alerts), len(rows), killed, repeated)


def explained(rows: Iterable[Outbox], taken: Counter[str], recorded: Counter[int]) -> int:
    """A message came twice only if an attempt was begun and never recorded: a kill fell in between. How many did."""
    for row in rows:
        assert row.id is not None
        assert taken[f"dlv_{row.id}"] - 1 <= row.attempts - recorded[row.id]
    return taken.total() - len(taken)


def in_order(kind: str, rows: Iterable[Outbox], taken: list[str]) -> None:
    """Of each alert the messages arrived for the first time in the order in which they were written."""
    first = {delivery: place for place, delivery in reversed(list(enumerate(taken)))}
    places = defaultdict[int | None, list[int]](list)
    for row in rows:
        places[row.alert_id].append(first[f"dlv_{row.id}"])
    assert all(found == sorted(found) for found in places.values()), f"{kind}: the order of an alert's messages"


def threads_are_whole(slack: FakeSlack, size: Size) -> None:
    """In the app every alert has a first message, below it the diff, then the reminder where there is one."""
    parents = {str(m.delivery_id): m for m in reversed(slack.messages) if m.app and m.thread is None}
    assert len(parents) == size.alerts
    threads = Counter(tuple(heads(slack.replies(parent))) for parent in parents.values())
    half = size.alerts // 2
    assert threads == {("Full diff",): size.alerts - half, ("Full diff", "Still open after 25 h"): half}
    assert sum(parent.edits > 0 for parent in parents.values()) == half


def heads(replies: Iterable[Received]) -> list[str]:
    """How the replies begin, each once."""
    return list(dict.fromkeys(str(reply.body["text"]).partition(" · ")[0] for reply in replies))
