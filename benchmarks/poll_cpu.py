"""What does an unchanged poll cost? CPU of this process per poll, beside a raw loop and the MCP SDK's client.

Three ways to ask the same fast local server (a process of its own) for the same 20 tools:

- raw: a shared httpx2 client posts tools/list and reads the body; it keeps nothing
- driftwatch: the scheduler's whole path, claim to batched flush, on a real Postgres
- sdk: ``mcp.client.Client(url)`` opened for each poll

Targets: driftwatch at most 2 × raw, and at least 10 × cheaper than sdk. ``python benchmarks/poll_cpu.py [POLLS]``.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import httpx2
import structlog
from mcp.client import Client
from sqlalchemy import text

from driftwatch.app import Services, build_services
from driftwatch.db.engine import run_sql
from driftwatch.scheduler import poll
from driftwatch.scheduler.hosts import PER_HOST, HostLimits
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register_many
from driftwatch.settings import Settings
from driftwatch.wire.facts import LATEST_MODERN, Era

PROFILES = 500
BATCH = 50
#: what the scheduler allows one host
AT_ONCE = PER_HOST
SDK_POLLS = 60
ROUNDS = 3

BODY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": LATEST_MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",
    "mcp-protocol-version": LATEST_MODERN,
    "mcp-method": "tools/list",
}


async def cpu_ms(work: Callable[[], Awaitable[int]]) -> float:
    """Milliseconds of CPU of this process for each poll that ``work`` did; the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        polls = await work()
        best = min(best, (time.process_time() - began) * 1000 / polls)
    return best


async def raw(url: str) -> float:
    """The baseline."""
    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    async with httpx2.AsyncClient(limits=limits, trust_env=False) as client:
        places = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with places:
                answer = await client.post(url, json=BODY, headers=HEADERS)
                assert len(answer.content) > 20_000

        async def work() -> int:
            await asyncio.gather(*(one() for _ in range(PROFILES)))
            return PROFILES

        return await cpu_ms(work)


async def sdk(url: str) -> float:
    """A client of the SDK for each poll."""

    async def work() -> int:
        for _ in range(SDK_POLLS):
            async with Client(url) as client:
                assert len((await client.list_tools()).tools) == 20
        return SDK_POLLS

    return await cpu_ms(work)


async def driftwatch(services: Services, url: str) -> float:
    """The scheduler's path over registered profiles that do not change."""
    specs = [ServerSpec(url=url, name=f"fast-{n}", eras=frozenset({Era.MODERN})) for n in range(PROFILES)]
    outcomes = await register_many(services, specs, actor="benchmark")
    assert all(outcome.registered for outcome in outcomes)
    async with services.db.transaction() as session:
        found = await run_sql(session, text("SELECT profile_id FROM profile_state ORDER BY profile_id"))
        profiles = list(found.scalars())
    hosts = HostLimits(AT_ONCE)

    async def batch(ids: list[int]) -> None:
        token = uuid4()
        claim = text(
            "UPDATE profile_state SET claim_token = :token, claimed_until = now() + interval '1 minute' "
            "WHERE profile_id = ANY(:ids)"
        )
        async with services.db.transaction() as session:
            await run_sql(session, claim, {"token": token, "ids": ids})
        await poll.run(services, hosts, token, ids)

    async def work() -> int:
        before = await polls_counted(services)
        for start in range(0, len(profiles), BATCH):
            await batch(profiles[start : start + BATCH])
        assert await polls_counted(services) - before == len(profiles), "every poll was unchanged and was counted"
        return len(profiles)

    return await cpu_ms(work)


async def polls_counted(services: Services) -> int:
    """Unchanged polls written so far."""
    async with services.db.transaction() as session:
        found = await run_sql(session, text("SELECT coalesce(sum(unchanged), 0) FROM poll_rollup"))
        return int(found.scalar_one())


async def main() -> None:
    """Measure and print."""
    logging.disable(logging.WARNING)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("fast_server.py")), str(port), stdout=asyncio.subprocess.PIPE
    )
    home = Path(tempfile.mkdtemp(prefix="dw-bench-", dir="/tmp"))
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        assert server.stdout is not None
        await server.stdout.readline()
        settings = Settings(home=home, allow_networks=("127.0.0.0/8",))
        async with build_services(settings) as services:
            ours = await driftwatch(services, url)
        baseline = await raw(url)
        theirs = await sdk(url)
    finally:
        server.terminate()
        shutil.rmtree(home, ignore_errors=True)
    print(f"CPU per unchanged poll of {PROFILES} profiles, 20 tools, best of {ROUNDS} rounds")
    print(f"  raw httpx2 loop     {baseline:7.2f} ms   1.0 ×")
    print(f"  driftwatch          {ours:7.2f} ms  {ours / baseline:4.1f} ×   (target: at most 2 ×)")
    print(f"  SDK client per poll {theirs:7.2f} ms  {theirs / baseline:4.1f} ×")
    print(f"  driftwatch is {theirs / ours:.1f} × cheaper than the SDK client (target: at least 10 ×)")


if __name__ == "__main__":
    asyncio.run(main())
