"""The services of a process on a fresh database, and a real MCP server to watch."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser.world import Template, seeded
from cryptography.fernet import Fernet
from sqlalchemy import text

from driftwatch.app import Services
from driftwatch.db.clock import DatabaseClock
from driftwatch.db.engine import Database
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings
from driftwatch.testing.shop import Shop
from driftwatch.wire.client import WireClient


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Loopback may be watched, and nothing takes long."""
    return Settings(
        home=tmp_path,
        allow_networks=("127.0.0.0/8",),
        confirm_seconds=(0.05, 0.1),
        removal_seconds=0.3,
        collect_seconds=0,
        announcement_lead_seconds=0.5,
        announcement_lag_seconds=0.2,
        announcement_grace_seconds=0.1,
        min_interval_seconds=1,
        poll_timeout_seconds=10,
    )


@pytest.fixture
async def services(db: Database, settings: Settings) -> AsyncIterator[Services]:
    """What every role works with; no role runs."""
    clock = DatabaseClock(db)
    await clock.refresh()
    sandbox = Sandbox(settings)
    async with WireClient(settings, clock) as wire, sandbox:
        yield Services(settings, db, clock, wire, SecretBox([Fernet.generate_key()]), sandbox)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    """A real mcp 2.x server in this process, both eras; ``move_to`` changes its contract silently."""
    running = Shop(free_port())
    serving = asyncio.create_task(running.serve())
    for _ in range(200):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.close()
            await writer.wait_closed()
            break
        await asyncio.sleep(0.02)
    yield running
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


@pytest.fixture
def free_url() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/mcp"


@pytest.fixture(scope="session")
def template(postgres_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    """A database with ten servers in every state, seeded once and copied for each test."""
    with seeded(postgres_server, tmp_path_factory.mktemp("seed")) as found:
        yield found


@pytest.fixture
def query(db: Database) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    """Run SQL and answer its rows."""

    async def _query(statement: str, **parameters: object) -> list[dict[str, Any]]:
        async with db.engine.begin() as connection:
            result = await connection.execute(text(statement), parameters)
            return [dict(row) for row in result.mappings()] if result.returns_rows else []

    return _query
