"""A worker process that delivers until it is killed: python outbox_worker.py DATABASE_URL LEASE_SECONDS KEY."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

from driftwatch.alerts.outbox import run_outbox
from driftwatch.db.engine import Database
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings


async def main(url: str, lease_seconds: float, key: str) -> None:
    services = SimpleNamespace(db=Database(url), settings=Settings(), secrets=SecretBox([key.encode()]))
    await run_outbox(services, lease_seconds=lease_seconds)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
