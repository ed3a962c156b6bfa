"""The listener role: takes its share of the profiles and holds their streams, until cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog

from driftwatch.scheduler.let_go import LET_GO, whose_doing
from driftwatch.scheduler.streams import store
from driftwatch.scheduler.streams.holder import OPENING, Holder
from driftwatch.scheduler.streams.journal import Journal
from driftwatch.scheduler.streams.shares import APPLICATION, Connection, Shares, connected
from driftwatch.scheduler.streams.wanted import Plan, plan

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

#: how often shares and wishes are looked at; a killed listener's streams are taken over this soon after its connection
LOOK_SECONDS: Final = 1.0
#: how far we listened is written in time for the judge's patience, but not more often than this
SHORTEST_FLUSH: Final = 0.25
#: the last words of a role that is stopped
GOODBYE_SECONDS: Final = 3.0


async def run_listener(services: Services) -> None:
    """Hold streams until cancelled. Raises when the owning connection is gone: the supervisor starts all again."""
    async with (
        connected(services.db.url) as owner,
        connected(services.db.url, name=f"{APPLICATION}-ears") as ears,
    ):
        shares = Shares(owner)
        journal = Journal(
            shares, coverage_seconds=max(SHORTEST_FLUSH, services.settings.announcement_grace_seconds / 3)
        )
        listener = Listener(services, shares, journal)
        await ears.execute(f"LISTEN {LET_GO}")
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(journal.run(), name="journal")
                group.create_task(listener.run(), name="shares")
                group.create_task(_hear(ears, listener), name="let go")
        finally:
            await listener.close()


async def _hear(ears: Connection, listener: Listener) -> None:
    async for said in ears.notifies():
        profile_id, _, reason = said.payload.partition(" ")
        await listener.let_go(int(profile_id), reason)
    raise ConnectionError("the connection that hears of failed polls is gone")


class Listener:
    """What one process holds, brought in line with what should be held."""

    def __init__(self, services: Services, shares: Shares, journal: Journal) -> None:
        self._services = services
        self._shares = shares
        self._journal = journal
        self._holders: dict[int, Holder] = {}
        self._told: dict[int, str] = {}
        self._places = asyncio.Semaphore(OPENING)
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Look again and again until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Take and give shards, then open and close streams."""
        self._journal.uncertainty = self._services.clock.error_seconds
        if surplus := await self._shares.surplus():
            await self._hand_over(surplus)
        if taken := await self._shares.take():
            async with self._shares.writing() as connection:
                await store.end_orphans(connection, taken, self._shares.shards)
        async with self._turn:
            async with self._services.db.transaction() as session:
                rows = await store.load_wanted(session, self._shares.held, self._shares.shards)
            await self._fit(plan(rows, self._services.secrets))

    async def let_go(self, profile_id: int, reason: str) -> None:
        """Close a stream at once: a poll says that the server wants to stop, or cannot be reached."""
        async with self._turn:
            if (holder := self._holders.pop(profile_id, None)) is not None:
                await holder.stop(whose_doing(reason), reason)

    async def close(self) -> None:
        """Close every stream and write what was heard, if the connection still lives."""
        await self._stop(self._holders, "us", "stopped")
        with contextlib.suppress(Exception):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self._journal.write()

    async def _hand_over(self, shards: set[int]) -> None:
        gone = [profile for profile in self._holders if profile % self._shares.shards in shards]
        async with self._turn:
            await self._stop(gone, "us", "moved")
        await self._journal.write()
        await self._shares.give(shards)

    async def _fit(self, wishes: Plan) -> None:
        now = self._services.clock.now()
        for profile_id, holder in list(self._holders.items()):
            wanted = wishes.wanted.get(profile_id)
            if wanted is not None and wanted == holder.wanted:
                holder.wanted = replace(holder.wanted, target=wanted.target)  # a renewed token is for the next stream
                continue
            reason = wishes.off.get(profile_id, "changed")
            await self._stop([profile_id], whose_doing(reason), reason)
        for profile_id, reason in wishes.off.items():
            if self._told.get(profile_id) != reason:
                self._told[profile_id] = reason
                self._journal.listening(profile_id, now, "off", reason)
        for profile_id in wishes.wanted.keys() - self._holders.keys():
            self._told.pop(profile_id, None)
            wanted = wishes.wanted[profile_id]
            self._holders[profile_id] = Holder(wanted, self._services.wire, self._journal, self._places)

    async def _stop(self, profile_ids: Iterable[int], by: str, why: str) -> None:
        stopping = [self._holders.pop(profile_id) for profile_id in list(profile_ids)]
        await asyncio.gather(*(holder.stop(by, why) for holder in stopping))
