"""Delivers what the outbox holds: claim with a lease, send, record the attempt.

Nothing is lost: a delivery stays in the outbox until an answer is recorded. A message goes out twice only when a
process died between the receiver's acceptance and our record; the second one carries the same delivery id.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import channel_store
from driftwatch.alerts import outbox_store as store
from driftwatch.alerts.channels.answer import Answer, Transport
from driftwatch.alerts.channels.transports import open_transports
from driftwatch.alerts.default_channel import Box, ensure_default_channel
from driftwatch.alerts.notice import WEBHOOK
from driftwatch.alerts.outbox_store import Claimed
from driftwatch.db.engine import Database
from driftwatch.errors import DriftwatchError
from driftwatch.settings import Settings

log = structlog.get_logger(__name__)

#: a worker that is silent for this long has lost its deliveries; far above a transport's own time-out
LEASE_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 0.5
#: deliveries in flight to one channel from one worker: one slow channel takes this much and no more
PER_CHANNEL: Final = 4
GRACE_SECONDS: Final = 10.0
#: a channel that refuses so many messages for good, one after the other, is taken out of service
MOST_REFUSALS: Final = 10

_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 900.0
_GIVE_UP_SECONDS: Final = 3 * 24 * 3600.0

Transports = Mapping[str, Transport]


class OutboxServices(Protocol):
    """The part of the process's services that deliveries need."""

    @property
    def db(self) -> Database:
        """The connection pool."""

    @property
    def settings(self) -> Settings:
        """Every setting."""

    @property
    def secrets(self) -> Box:
        """The box that sealed the channels' configuration."""


async def run_outbox(services: OutboxServices, *, lease_seconds: float = LEASE_SECONDS) -> None:
    """Set up the default channel, then deliver until cancelled; what is in flight then gets a moment to be recorded.

    A database that is away is waited for: deliveries stay where they are.
    """
    async with services.db.transaction() as session:
        await ensure_default_channel(session, services.settings, services.secrets)
    async with open_transports(services.settings) as transports:
        worker = Deliverer(services, transports, lease_seconds=lease_seconds)
        try:
            while True:
                if not await _started(worker):
                    await asyncio.sleep(IDLE_SECONDS)
        finally:
            await worker.drain(GRACE_SECONDS)


async def deliver_due(services: OutboxServices, limit: int = 100, *, transports: Transports | None = None) -> int:
    """Make the deliveries that are due now, at most ``limit`` of them; how many were tried."""
    if transports is None:
        async with open_transports(services.settings) as opened:
            return await deliver_due(services, limit, transports=opened)
    worker = Deliverer(services, transports)
    tried = 0
    while tried < limit:
        started = await worker.start(limit - tried)
        if not started and not worker.busy:
            break
        tried += started
        await worker.wait()
    await worker.drain(None)
    return tried


async def _started(worker: Deliverer) -> int:
    try:
        return await worker.start()
    except Exception as error:  # deliveries wait, the loop must not end
        log.warning("outbox not readable", error=type(error).__name__)
        return 0


class Deliverer:
    """Claims deliveries and makes each in a task of its own, so that a slow channel delays no other."""

    def __init__(
        self,
        services: OutboxServices,
        transports: Transports,
        *,
        lease_seconds: float = LEASE_SECONDS,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._services = services
        self._transports = transports
        self._lease_seconds = lease_seconds
        self._chance = chance
        self._tasks = set[asyncio.Task[None]]()
        self._in_flight = Counter[int]()

    @property
    def busy(self) -> bool:
        """True while deliveries are in flight."""
        return bool(self._tasks)

    async def start(self, limit: int = 1_000) -> int:
        """Claim what is due, as far as each channel's share allows, and begin to send it; how many were begun."""
        async with self._services.db.transaction() as session:
            channels = await store.waiting_channels(session)
        started = 0
        for channel in channels:
            room = min(PER_CHANNEL - self._in_flight[channel], limit - started)
            if room <= 0:
                continue
            async with self._services.db.transaction() as session:
                claimed = await store.claim(session, channel, limit=room, lease_seconds=self._lease_seconds)
            for delivery in claimed:
                self._begin(delivery)
            started += len(claimed)
        return started

    async def wait(self) -> None:
        """Until at least one delivery in flight has ended."""
        if self._tasks:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

    async def drain(self, seconds: float | None) -> None:
        """Until everything in flight has ended, at most this long; the rest is cut and will be sent again."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _begin(self, delivery: Claimed) -> None:
        self._in_flight[delivery.channel_id] += 1
        task = asyncio.create_task(self._deliver(delivery), name=delivery.delivery_id)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._end(delivery, done))

    def _end(self, delivery: Claimed, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._in_flight[delivery.channel_id] -= 1
        if not task.cancelled() and (error := task.exception()) is not None:
            # the answer could not be recorded: the lease runs out and the delivery goes out again
            log.warning("delivery not recorded", delivery=delivery.delivery_id, error=type(error).__name__)

    async def _deliver(self, delivery: Claimed) -> None:
        began = time.perf_counter()
        answer = await self._send(delivery)
        duration_ms = (time.perf_counter() - began) * 1000
        log.info("delivery", delivery=delivery.delivery_id, outcome=answer.outcome, error=answer.error)
        async with self._services.db.transaction() as session:
            await store.record(session, delivery, answer, duration_ms=duration_ms)
            if answer.outcome == "delivered":
                await self._delivered(session, delivery, answer)
            elif answer.outcome == "transient":
                await self._later(session, delivery, answer)
            elif answer.outcome == "channel-permanent":
                await channel_store.disable(session, delivery.channel_id, _why(answer))
                await store.retry(session, delivery, seconds=0, form=delivery.form)
            elif delivery.form == "full" and delivery.kind != WEBHOOK:  # data has no smaller form
                await store.retry(session, delivery, seconds=0, form="minimal")
            else:
                await self._refused(session, delivery)

    async def _delivered(self, session: AsyncSession, delivery: Claimed, answer: Answer) -> None:
        await store.finish(session, delivery, "delivered")
        await channel_store.taken(session, delivery.channel_id)
        if answer.thread is not None:
            await store.keep_thread(session, delivery, answer.thread)

    async def _refused(self, session: AsyncSession, delivery: Claimed) -> None:
        await store.finish(session, delivery, "dead")
        await channel_store.refused(session, delivery.channel_id, most=MOST_REFUSALS)

    async def _send(self, delivery: Claimed) -> Answer:
        transport = self._transports.get(delivery.kind)
        if transport is None:
            return Answer("channel-permanent", error=f"no transport for {delivery.kind}")
        try:
            config = self._services.secrets.open(delivery.config)
        except DriftwatchError as error:
            return Answer("channel-permanent", error=error.code)
        try:
            return await transport.send(config, delivery.sending)
        except Exception as error:  # a fault of ours in rendering must not block what stands behind it
            log.exception("transport failed", delivery=delivery.delivery_id)
            return Answer("message-permanent", error=type(error).__name__)

    async def _later(self, session: AsyncSession, delivery: Claimed, answer: Answer) -> None:
        if delivery.seconds_old > _GIVE_UP_SECONDS:
            await self._refused(session, delivery)
            return
        seconds = answer.retry_after if answer.retry_after is not None else backoff(delivery.attempts, self._chance())
        await store.retry(session, delivery, seconds=seconds, form=delivery.form)
        if answer.retry_after is not None:
            await channel_store.pause(session, delivery.channel_id, seconds=seconds)


def backoff(attempts: int, chance: float) -> float:
    """Seconds until the next try after ``attempts`` failed ones: doubling to 15 min, spread by ±50 %."""
    return float(min(_FIRST_WAIT * 2 ** min(attempts - 1, 20), _LONGEST_WAIT) * (0.5 + chance))


def _why(answer: Answer) -> str:
    """Why a channel was disabled, for its banner."""
    return " ".join(str(w) for w in (answer.error, f"(HTTP {answer.status})" if answer.status else None) if w)
