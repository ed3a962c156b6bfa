"""What holding idle change streams costs: ``python benchmarks/idle_streams.py [STREAMS] [SECONDS]``.

A raw server in a process of its own acknowledges subscriptions and sends a keep-alive every 15 s, as the mcp SDK does;
this process holds them with driftwatch's own holders and a journal that forgets. Prints memory per stream, and CPU in
per cent of one core while nothing happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import resource
import sys
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from driftwatch.scheduler.streams.holder import OPENING, Holder
from driftwatch.scheduler.streams.journal import Interval, Journal
from driftwatch.scheduler.streams.wanted import Wanted
from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient
from driftwatch.wire.facts import LATEST_MODERN, Era, EraFacts, Target

KEEP_ALIVE = 15.0
ACK = (
    b'data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",'
    b'"params":{"notifications":{"toolsListChanged":true}}}\n\n'
)


class Wall:
    """The machine's clock instead of the database's."""

    def now(self) -> datetime:
        """The time, near enough."""
        return datetime.now(UTC)


class Forgetful(Journal):
    """A journal without a database."""

    def __init__(self) -> None:
        self.intervals: set[Interval] = set()

    def opened(self, profile_id: int, at: datetime) -> Interval:
        """Only counted."""
        interval = Interval(profile_id, at)
        self.intervals.add(interval)
        return interval

    def ended(self, interval: Interval, by: str, why: str) -> None:
        """No longer counted."""
        self.intervals.discard(interval)

    def listening(self, profile_id: int, at: datetime, state: str, reason: str | None = None) -> None:
        """Nobody wants to know."""


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    frame = ACK
    with contextlib.suppress(ConnectionError):
        while True:
            writer.write(b"%x\r\n%s\r\n" % (len(frame), frame))
            await writer.drain()
            await asyncio.sleep(KEEP_ALIVE)
            frame = b": ping\n\n"


def _serve(port: multiprocessing.Queue[int]) -> None:
    async def run() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=1024)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def _resident_kib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1024


@asynccontextmanager
async def _held(client: WireClient, port: int, count: int):
    journal, places = Forgetful(), asyncio.Semaphore(OPENING)
    facts = EraFacts(Era.MODERN, LATEST_MODERN, None, {})
    target = Target(f"http://127.0.0.1:{port}/mcp")
    holders = [Holder(Wanted(n, target, facts), client, journal, places) for n in range(count)]
    while len(journal.intervals) < count:  # noqa: ASYNC110 - a journal tells nobody
        await asyncio.sleep(0.1)
    yield
    await asyncio.gather(*(holder.stop("us", "done") for holder in holders))


async def measure(port: int, count: int, seconds: float) -> None:
    """Hold ``count`` streams for so long and print what that took."""
    async with WireClient(Settings(allow_networks=("127.0.0.0/8",)), Wall()) as client:
        async with _held(client, port, 10):
            pass
        before = _resident_kib()
        async with _held(client, port, count):
            memory = (_resident_kib() - before) / count
            cpu, started = time.process_time(), time.perf_counter()
            await asyncio.sleep(seconds)
            share = 100 * (time.process_time() - cpu) / (time.perf_counter() - started)
            print(f"{count} idle streams: {memory:.0f} KiB each, {share:.1f} % of a core (a keep-alive every 15 s)")


if __name__ == "__main__":
    numbers = [float(word) for word in sys.argv[1:]]
    queue: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=_serve, args=(queue,), daemon=True)
    server.start()
    asyncio.run(measure(queue.get(), int(numbers[0]) if numbers else 1000, numbers[1] if numbers[1:] else 60))
    server.kill()
