"""A client that may read loopback, and the hostile server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from integration.wire.hostile import HostileServer, serving

from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient


class SteadyClock:
    """A clock that only runs forward, as the database's does."""

    def __init__(self) -> None:
        self._start, self._zero = datetime(2026, 11, 30, tzinfo=UTC), time.monotonic()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=time.monotonic() - self._zero)


@pytest.fixture(scope="session")
def hostile() -> Iterator[HostileServer]:
    server = HostileServer()
    with serving(server.app) as origin:
        server.origin = origin
        yield server


@pytest.fixture
def settings() -> Settings:
    return Settings(allow_networks=("127.0.0.0/8",), poll_timeout_seconds=5)


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock()


@pytest.fixture
async def client(settings: Settings, clock: SteadyClock) -> AsyncIterator[WireClient]:
    async with WireClient(settings, clock) as ready:
        yield ready
