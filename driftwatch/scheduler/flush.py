"""Collects how the polls of a batch ended and writes them together: at least every 2 s, and at the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Final, Self
from uuid import UUID

import structlog

from driftwatch.db.engine import Database
from driftwatch.scheduler import outcome, store
from driftwatch.scheduler.model import Result

log = structlog.get_logger(__name__)

FLUSH_SECONDS: Final = 2.0

Dropped = Callable[[Result], Awaitable[None]]


class Flush:
    """A batch's outcomes on their way to the database; keeps the claims of polls that still run.

    ``dropped`` is told of every result whose claim was lost meanwhile: it was not written. When the block ends by
    an error or a cancellation, what was collected is written and the other claims are given back.
    """

    def __init__(self, db: Database, token: UUID, profile_ids: Iterable[int], dropped: Dropped) -> None:
        self._db = db
        self._token = token
        self._running = set(profile_ids)
        self._results: list[tuple[float, Result]] = []
        self._dropped = dropped
        self._ending = asyncio.Event()

    def add(self, result: Result) -> None:
        """Hand over the outcome of one poll."""
        self._running.discard(result.claim.profile_id)
        self._results.append((time.monotonic(), result))

    def done(self, profile_id: int) -> None:
        """Forget a poll whose outcome was written elsewhere, in its own transaction."""
        self._running.discard(profile_id)

    async def __aenter__(self) -> Self:
        self._beat = asyncio.create_task(self._keep_flushing(), name="flush")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        await asyncio.shield(self._end())

    async def _end(self) -> None:
        await self._beat  # never cancelled: a write must be known to have happened or not
        await self.write()
        if self._running:
            async with self._db.transaction() as session:
                await store.release(session, self._token, sorted(self._running))

    async def _keep_flushing(self) -> None:
        while not await self._ended_within(FLUSH_SECONDS):
            try:
                await self.write()
                await self._renew()
            except Exception as error:  # Postgres is away: the results wait for the next turn
                log.warning("flush failed", error=str(error))

    async def _ended_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)
        return self._ending.is_set()

    async def write(self) -> None:
        """Write what has been collected so far."""
        if not self._results:
            return
        now = time.monotonic()
        results = [_waited(result, now - since) for since, result in self._results]
        async with self._db.transaction() as session:
            written = await outcome.write(session, results)
        del self._results[: len(results)]
        for result in results:
            if result.claim.profile_id not in written:
                await self._dropped(result)

    async def _renew(self) -> None:
        if self._running:
            async with self._db.transaction() as session:
                await store.renew(session, self._token, sorted(self._running))


def _waited(result: Result, seconds: float) -> Result:
    """The result as it is after waiting here: a slow server of the batch must not stretch the others' intervals."""
    return replace(result, next_in=max(result.next_in - seconds, 0.0))
