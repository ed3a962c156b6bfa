"""At most a few polls at a time against one host, over all batches of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

PER_HOST: Final = 8


class HostLimits:
    """Hands out places at hosts. A host that nobody waits for is forgotten."""

    def __init__(self, per_host: int = PER_HOST) -> None:
        self._per_host = per_host
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, host: str) -> AsyncIterator[None]:
        """Wait for a place at ``host`` and hold it for the block."""
        places = self._places.get(host)
        if places is None:
            places = self._places[host] = asyncio.Semaphore(self._per_host)
        async with places:
            yield
