"""What does an unchanged poll cost? CPU of this process per poll: ``python benchmarks/poll.py [POLLS] [ROUNDS]``.

The same 20 tools (about 28 kB) from a fast local server in a process of its own, over kept connections and over a new
TLS connection each (the usual case at 60 s and more), with 20 and with 100 polls at a time:

- httpx2, aiohttp: a shared raw client posts tools/list and reads the body; it keeps nothing
- driftwatch: the scheduler's whole path (wire, digest, batched UPDATE) on a real Postgres; walk: its wire part alone
- SDK session: one kept open; SDK client: ``mcp.client.Client`` opened for each poll

CPU time of this process, the least of some rounds: other programs of the machine hardly disturb it. The figures are
ratios to raw httpx2 on the same kind of connection; the target is 1.5.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import shutil
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from uuid import uuid4

import aiohttp
import httpx2
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from sqlalchemy import text

from driftwatch.app import Services, build_services
from driftwatch.db.engine import run_sql
from driftwatch.scheduler import poll
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register_many
from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Target
from driftwatch.wire.walk import walk

AT_ONCE = (20, 100)
#: profiles in a job, as the tick groups them
BATCH = 50
#: these cost so much that few will do
SDK_POLLS = 20

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


@dataclass(frozen=True)
class Bench:
    """How much is done, and with what."""

    polls: int
    rounds: int
    tls: ssl.SSLContext

    async def cpu_ms(self, work: Callable[[], Awaitable[None]], polls: int | None = None) -> float:
        """Milliseconds of CPU of this process for each poll; the least of the rounds, after one to warm up."""
        await work()
        best = float("inf")
        for _ in range(self.rounds):
            gc.collect()
            began = time.process_time()
            await work()
            best = min(best, time.process_time() - began)
        return best * 1000 / (polls or self.polls)

    async def many(self, at_once: int, one: Callable[[], Awaitable[None]], polls: int | None = None) -> float:
        """The same for ``one`` poll, done often, so many at a time."""
        places = asyncio.Semaphore(at_once)

        async def placed() -> None:
            async with places:
                await one()

        async def work() -> None:
            await asyncio.gather(*(placed() for _ in range(polls or self.polls)))

        return await self.cpu_ms(work, polls)


async def raw_httpx2(bench: Bench, url: str, at_once: int) -> float:
    """The baseline."""
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, verify=bench.tls) as client:

        async def one() -> None:
            answer = await client.post(url, json=BODY, headers=HEADERS)
            assert len(answer.content) > 20_000

        return await bench.many(at_once, one)


async def raw_aiohttp(bench: Bench, url: str, at_once: int) -> float:
    """The other HTTP library of this house."""
    connector = aiohttp.TCPConnector(limit=at_once, ssl=bench.tls)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def one() -> None:
            async with session.post(url, json=BODY) as answer:
                assert len(await answer.read()) > 20_000

        return await bench.many(at_once, one)


async def wire_walk(bench: Bench, wire: WireClient, url: str, at_once: int) -> float:
    """Our own wire without what the scheduler does around it."""
    target, facts = Target(url), EraFacts(Era.MODERN, LATEST_MODERN, None, {"tools": {}})

    async def one() -> None:
        assert len((await walk(wire, target, facts)).tools) == 20

    return await bench.many(at_once, one)


async def sdk_session(bench: Bench, url: str) -> float:
    """One session of the SDK, kept open."""
    async with (
        httpx2.AsyncClient(trust_env=False, verify=bench.tls, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):

        async def one() -> None:
            assert len((await client.list_tools()).tools) == 20

        return await bench.many(1, one, SDK_POLLS)


async def sdk_client(bench: Bench, url: str) -> float:
    """A client of the SDK for each poll."""

    async def one() -> None:
        async with Client(url) as client:
            assert len((await client.list_tools()).tools) == 20

    return await bench.many(1, one, SDK_POLLS)


async def registered(services: Services, url: str, count: int) -> list[int]:
    """The profiles of so many servers at this address."""
    kind = url.partition(":")[0]
    specs = [ServerSpec(url=url, name=f"{kind}-{n}", eras=frozenset({Era.MODERN})) for n in range(count)]
    outcomes = await register_many(services, specs, actor="benchmark")
    assert all(outcome.registered for outcome in outcomes)
    query = text(
        "SELECT p.id FROM profile p JOIN server s ON s.id = p.server_id WHERE s.name LIKE :names ORDER BY p.id"
    )
    async with services.db.transaction() as session:
        return list((await run_sql(session, query, {"names": f"{kind}-%"})).scalars())


async def driftwatch(bench: Bench, services: Services, profiles: list[int], at_once: int) -> float:
    """The scheduler's path over profiles that do not change."""
    hosts = HostLimits(at_once, at_once)
    claim = text(
        "UPDATE profile_state SET claim_token = :token, claimed_until = now() + interval '1 minute' "
        "WHERE profile_id = ANY(:ids)"
    )

    async def batch(ids: list[int]) -> None:
        token = uuid4()
        async with services.db.transaction() as session:
            await run_sql(session, claim, {"token": token, "ids": ids})
        await poll.run(services, hosts, token, ids)

    async def work() -> None:
        before = await counted(services)
        batches = [profiles[start : start + BATCH] for start in range(0, len(profiles), BATCH)]
        together = max(at_once // BATCH, 1)
        for first in range(0, len(batches), together):
            await asyncio.gather(*(batch(ids) for ids in batches[first : first + together]))
        assert await counted(services) - before == len(profiles), "every poll was unchanged and was counted"

    return await bench.cpu_ms(work, len(profiles))


async def counted(services: Services) -> int:
    """Unchanged polls written so far."""
    async with services.db.transaction() as session:
        found = await run_sql(session, text("SELECT coalesce(sum(unchanged), 0) FROM poll_rollup"))
        return int(found.scalar_one())


def certificate(folder: Path) -> Path:
    """A self-signed certificate of loopback with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = (
        builder.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    file, pem = folder / "certificate.pem", serialization.Encoding.PEM
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(made.public_bytes(pem) + plain)
    return file


def bundle(file: Path) -> Path:
    """Our certificate among those that a machine trusts: loading them all is what a client per poll pays for."""
    trusted = Path(ssl.get_default_verify_paths().openssl_cafile)
    both = file.with_name("bundle.pem")
    both.write_bytes((trusted.read_bytes() if trusted.is_file() else b"") + file.read_bytes())
    return both


@contextlib.asynccontextmanager
async def fast_server(*arguments: str) -> AsyncIterator[str]:
    """The address of a fast server in a process of its own."""
    script = Path(__file__).with_name("fast_server.py")
    server = await asyncio.create_subprocess_exec(
        sys.executable, str(script), *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        yield (await server.stdout.readline()).decode().strip()
    finally:
        server.terminate()
        await server.wait()


async def measure(bench: Bench, services: Services, url: str, kind: str) -> None:
    """All rows for one kind of connection."""
    profiles = await registered(services, url, bench.polls)
    session, each = await sdk_session(bench, url), await sdk_client(bench, url)
    for at_once in AT_ONCE:
        base = await raw_httpx2(bench, url, at_once)
        rows = {
            "raw httpx2": base,
            "raw aiohttp": await raw_aiohttp(bench, url, at_once),
            "driftwatch, walk alone": await wire_walk(bench, services.wire, url, at_once),
            "driftwatch, whole path": await driftwatch(bench, services, profiles, at_once),
        }
        if at_once == AT_ONCE[0]:
            rows |= {"SDK session (1 at a time)": session, "SDK client per poll (1 at a time)": each}
        print(f"{kind}, {at_once} at a time")
        for name, cost in rows.items():
            print(f"  {name:34} {cost:7.2f} ms {cost / base:6.2f} ×")


async def main(polls: int, rounds: int) -> None:
    """Measure and print."""
    logging.disable(logging.WARNING)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    home = Path(tempfile.mkdtemp(prefix="dw-bench-", dir="/tmp"))
    folder = Path(tempfile.mkdtemp(prefix="dw-bench-", dir="/tmp"))
    file = certificate(folder)
    os.environ["SSL_CERT_FILE"] = str(bundle(file))  # for the SDK's own clients
    tls = ssl.create_default_context(cafile=str(file))
    bench = Bench(polls, rounds, tls)
    try:
        async with (
            fast_server() as plain,
            fast_server(str(file)) as secure,
            build_services(Settings(home=home, allow_networks=("127.0.0.0/8",))) as services,
            WireClient(services.settings, services.clock, tls=tls) as wire,
        ):
            services = replace(services, wire=wire)
            print(f"CPU per unchanged poll, 20 tools, least of {rounds} rounds of {polls}; × raw httpx2 (target 1.5)")
            await measure(bench, services, plain, "kept connections")
            await measure(bench, services, secure, "a new TLS connection each")
    finally:
        for made in (home, folder):
            shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(numbers[0] if numbers else 400, numbers[1] if numbers[1:] else 5))
