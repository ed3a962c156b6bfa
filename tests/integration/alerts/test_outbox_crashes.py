"""kill -9 of delivering workers: nothing is lost, and a message comes twice only where a kill explains it."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter
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

ALERTS = 60
MESSAGES_OF_AN_ALERT = 2
WORKERS = 2
KILLS = 10
LEASE_SECONDS = 1.5
SEED = 20261130


class Workers:
    """Processes that are killed and replaced."""

    def __init__(self, services: Services, key: str, url: str) -> None:
        self._command = [sys.executable, str(Path(__file__).with_name("outbox_worker.py")), services.db.url]
        self._command += [str(LEASE_SECONDS), key]
        self._env = {**os.environ, "DRIFTWATCH_SLACK_WEBHOOK_URL": url, "DRIFTWATCH_SLACK_ALLOW_HOSTS": "127.0.0.1"}
        self._running = [self._start() for _ in range(WORKERS)]

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


async def test_killed_workers_lose_nothing(db: Database) -> None:
    chance = random.Random(SEED)
    fake = FakeSlack(latency=lambda: chance.uniform(0.1, 0.35))
    key = Fernet.generate_key().decode()
    async with serve(fake) as url:
        settings = Settings.model_validate({"slack_webhook_url": url, "slack_allow_hosts": ("127.0.0.1",)})
        services = Services(db, settings, SecretBox([key.encode()]))
        await fill(services)
        workers = Workers(services, key, url)
        try:
            killed = await deliver_and_kill(World(services), fake, workers, chance)
        finally:
            workers.stop()
    assert killed == KILLS
    received = [(m.delivery_id, str(m.body["text"])) for m in fake.messages]
    wanted = {f"{alert}.{number}" for alert in range(ALERTS) for number in range(MESSAGES_OF_AN_ALERT)}
    assert {text for _, text in received} == wanted, "a message was lost"
    assert len(set(received)) == len(wanted), "a repetition came under another id"
    await repetitions_are_explained(World(services), Counter(delivery for delivery, _ in received))
    for alert in range(ALERTS):
        seen = [text for _, text in received if text.startswith(f"{alert}.")]
        assert sorted(seen) == seen, "the order of an alert's messages"


async def repetitions_are_explained(world: World, received: Counter[str | None]) -> None:
    """A message came twice only if an attempt was begun and never recorded: a kill fell in between."""
    recorded = Counter(attempt.outbox_id for attempt in await world.attempts())
    for row in await world.outbox():
        assert received[f"dlv_{row.id}"] - 1 <= row.attempts - recorded[row.id]


async def fill(services: Services) -> None:
    async with services.db.transaction() as session:
        await ensure_default_channel(session, services.settings, services.secrets)
        for alert in range(ALERTS):
            for number in range(MESSAGES_OF_AN_ALERT):
                text = f"{alert}.{number}"
                message = Message(text, text, (Paragraph("text", text),), (Link("https://drift.example", "Open"),))
                await dispatch(session, notice(message, group=text, ordering=str(alert)))


async def deliver_and_kill(world: World, fake: FakeSlack, workers: Workers, chance: random.Random) -> int:
    """Kill at random moments while messages arrive, then wait until all are recorded; the number of kills."""
    killed, end = 0, time.monotonic() + 90
    every = ALERTS * MESSAGES_OF_AN_ALERT // (KILLS + 1)
    while time.monotonic() < end:
        await asyncio.sleep(chance.uniform(0.02, 0.08))
        if killed < KILLS and len(fake.messages) >= every * (killed + 1) // 2:
            await asyncio.to_thread(workers.kill, chance.randrange(WORKERS))
            killed += 1
        elif killed == KILLS and all(row.state == "delivered" for row in await world.outbox()):
            return killed
    raise AssertionError(
        f"not delivered in time after {killed} kills: {Counter(r.state for r in await world.outbox())}"
    )
