"""kill -9 of delivering workers, of any size: what both the integration and the acceptance test run."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path

from builders.notices import notice
from builders.world import Services, World
from cryptography.fernet import Fernet

from driftwatch.alerts.default_channel import ensure_default_channel
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.message import Link, Message, Paragraph
from driftwatch.db.engine import Database
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings
from driftwatch.testing.fake_slack import FakeSlack, serve

LEASE_SECONDS = 1.5
SEED = 20261130


@dataclass(frozen=True)
class Size:
    """How much is delivered and how often somebody is killed; ``seconds``: the time it may take."""

    alerts: int
    messages: int
    workers: int
    kills: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What was found: repetitions, all of them explained."""

    delivered: int
    kills: int
    repetitions: int


class Workers:
    """Processes that are killed and replaced."""

    def __init__(self, services: Services, key: str, url: str, count: int) -> None:
        self._command = [sys.executable, str(Path(__file__).with_name("outbox_worker.py")), services.db.url]
        self._command += [str(LEASE_SECONDS), key]
        self._env = {**os.environ, "DRIFTWATCH_SLACK_WEBHOOK_URL": url, "DRIFTWATCH_SLACK_ALLOW_HOSTS": "127.0.0.1"}
        self._running = [self._start() for _ in range(count)]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, index: int) -> None:
        self._running[index].kill()
        self._running[index].wait()
        self._running[index] = self._start()

    def stop(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


async def prove(db: Database, size: Size) -> Outcome:
    """Deliver while workers are killed; fails unless nothing is lost and every repetition is explained."""
    chance = random.Random(SEED)
    fake = FakeSlack(latency=lambda: chance.uniform(0.1, 0.35))
    fake.messages = deque()  # every one of them counts
    key = Fernet.generate_key().decode()
    async with serve(fake) as url:
        settings = Settings.model_validate({"slack_webhook_url": url, "slack_allow_hosts": ("127.0.0.1",)})
        services = Services(db, settings, SecretBox([key.encode()]))
        await fill(services, size)
        workers = Workers(services, key, url, size.workers)
        try:
            killed = await deliver_and_kill(World(services), fake, workers, chance, size)
        finally:
            workers.stop()
    assert killed == size.kills
    received = [(m.delivery_id, str(m.body["text"])) for m in fake.messages]
    wanted = {f"{alert}.{number}" for alert in range(size.alerts) for number in range(size.messages)}
    assert {text for _, text in received} == wanted, "a message was lost"
    assert len(set(received)) == len(wanted), "a repetition came under another id"
    repeated = await repetitions_are_explained(World(services), Counter(delivery for delivery, _ in received))
    for alert in range(size.alerts):
        seen = [text for _, text in received if text.startswith(f"{alert}.")]
        assert sorted(seen) == seen, "the order of an alert's messages"
    return Outcome(len(wanted), killed, repeated)


async def repetitions_are_explained(world: World, received: Counter[str | None]) -> int:
    """A message came twice only if an attempt was begun and never recorded: a kill fell in between. How many did."""
    recorded = Counter(attempt.outbox_id for attempt in await world.attempts())
    for row in await world.outbox():
        assert received[f"dlv_{row.id}"] - 1 <= row.attempts - recorded[row.id]
    return sum(received.values()) - len(received)


async def fill(services: Services, size: Size) -> None:
    async with services.db.transaction() as session:
        await ensure_default_channel(session, services.settings, services.secrets)
        for alert in range(size.alerts):
            for number in range(size.messages):
                text = f"{alert}.{number}"
                message = Message(text, text, (Paragraph("text", text),), (Link("https://drift.example", "Open"),))
                await dispatch(session, notice(message, group=text, ordering=str(alert)))


async def deliver_and_kill(world: World, fake: FakeSlack, workers: Workers, chance: random.Random, size: Size) -> int:
    """Kill at random moments while messages arrive, then wait until all are recorded; the number of kills."""
    killed, end = 0, time.monotonic() + size.seconds
    every = size.alerts * size.messages // (size.kills + 1)
    while time.monotonic() < end:
        await asyncio.sleep(chance.uniform(0.02, 0.08))
        if killed < size.kills and len(fake.messages) >= every * (killed + 1) // 2:
            await asyncio.to_thread(workers.kill, chance.randrange(size.workers))
            killed += 1
        elif killed == size.kills and all(row.state == "delivered" for row in await world.outbox()):
            return killed
    raise AssertionError(
        f"not delivered in time after {killed} kills: {Counter(r.state for r in await world.outbox())}"
    )
