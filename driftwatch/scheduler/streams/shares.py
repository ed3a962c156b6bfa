"""Who holds which streams: profiles hash to shards, a shard is a session advisory lock of one listener.

The connection that holds the locks is the one that writes what was heard. When it is gone, so is the ownership, and
nothing more can be written in its name: that is the fence.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg

#: how finely streams can be shared out; more listeners than this would hold nothing
SHARDS: Final = 64
APPLICATION: Final = "driftwatch-listener"
#: a listener that vanished without a goodbye (its machine lost power) is forgotten by Postgres within this
_KEEPALIVES: Final[dict[str, Any]] = {"keepalives_idle": 4, "keepalives_interval": 2, "keepalives_count": 2}
_SERVER_KEEPALIVES: Final = "-c tcp_keepalives_idle=4 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=2"

_COUNT: Final = """
SELECT count(*) FROM pg_stat_activity WHERE application_name = %(name)s AND datname = current_database()
"""
_TAKE: Final = "SELECT pg_try_advisory_lock(hashtext('driftwatch streams'), %(shard)s)"
_GIVE: Final = "SELECT pg_advisory_unlock(hashtext('driftwatch streams'), %(shard)s)"

Connection = psycopg.AsyncConnection[Any]


def plain_url(url: str) -> str:
    """The libpq form of a database URL."""
    return url.replace("postgresql+psycopg://", "postgresql://", 1)


@asynccontextmanager
async def connected(url: str, *, name: str = APPLICATION) -> AsyncIterator[Connection]:
    """A connection of its own, in autocommit, which dies when one of its ends does."""
    connection: Connection = await psycopg.AsyncConnection.connect(
        plain_url(url),
        autocommit=True,
        application_name=name,
        options=f"-csearch_path=public {_SERVER_KEEPALIVES}",
        **_KEEPALIVES,
    )
    async with connection:
        yield connection


def share(listeners: int, shards: int = SHARDS) -> int:
    """How many shards one of so many live listeners may hold."""
    return math.ceil(shards / max(listeners, 1))


class Shares:
    """The shards that one listener holds through its connection."""

    def __init__(self, connection: Connection, *, shards: int = SHARDS) -> None:
        self.held: set[int] = set()
        self.shards = shards
        self._connection = connection
        self._turn = asyncio.Lock()

    @property
    def lost(self) -> bool:
        """True once the connection, and with it every shard, is gone."""
        return self._connection.closed or self._connection.broken

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Connection]:
        """The fenced connection, for one transaction."""
        async with self._turn, self._connection.transaction():
            yield self._connection

    async def surplus(self) -> set[int]:
        """Shards to give back, because other listeners came: more than the share of one."""
        allowed = share(await self._listeners(), self.shards)
        return set(random.sample(sorted(self.held), max(0, len(self.held) - allowed)))

    async def take(self) -> set[int]:
        """Take free shards up to the share; answers those that are new."""
        missing = share(await self._listeners(), self.shards) - len(self.held)
        free = [shard for shard in range(self.shards) if shard not in self.held]
        random.shuffle(free)  # listeners that start together do not fight over the same ones
        taken: set[int] = set()
        for shard in free if missing > 0 else ():
            if len(taken) == missing:
                break
            if await self._ask(_TAKE, {"shard": shard}):
                taken.add(shard)
        self.held |= taken
        return taken

    async def give(self, shards: Collection[int]) -> None:
        """Let shards go; their streams must be closed and everything heard on them written."""
        for shard in shards:
            self.held.discard(shard)
            await self._ask(_GIVE, {"shard": shard})

    async def _listeners(self) -> int:
        return int(await self._ask(_COUNT, {"name": APPLICATION}))

    async def _ask(self, statement: str, parameters: dict[str, Any]) -> Any:
        async with self._turn:
            row = await (await self._connection.execute(statement, parameters)).fetchone()
        return None if row is None else row[0]
