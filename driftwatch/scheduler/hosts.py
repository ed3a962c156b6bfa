"""At most a few polls at a time against one host, and so many in all, over all batches of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

PER_HOST: Final = 8
#: each may hold an answer of several MiB
IN_ALL: Final = 64


class HostLimits:
    """Hands out places at hosts. A host that nobody waits for is forgotten."""

    def __init__(self, per_host: int = PER_HOST, in_all: int = IN_ALL) -> None:
        self._per_host = per_host
        self._in_all = asyncio.Semaphore(in_all)
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, host: str) -> AsyncIterator[None]:
        """Wait for a place at ``host`` and hold it for the block."""
        places = self._places.get(host)
        if places is None:
            places = self._places[host] = asyncio.Semaphore(self._per_host)
        # In this order: whoever waits for a slow host takes no place from others.
        async with places, self._in_all:
            yield
