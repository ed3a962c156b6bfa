"""The heartbeat: told while this process can work, silent when it cannot or nobody asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from driftwatch.app import Services
from driftwatch.scheduler import heartbeat


def with_url(services: Services, url: str) -> Services:
    settings = type(services.settings).model_validate({**services.settings.model_dump(), "heartbeat_url": url})
    return replace(services, settings=settings)


async def test_another_monitor_is_told_only_while_we_are_ready(services: Services) -> None:
    heard: list[bytes] = []
    answered = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        answered.set()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        alive = with_url(services, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/beat")
        assert await heartbeat.beat(alive)
        await answered.wait()
        alive.health.watch("scheduler", lambda: "stands still")
        assert not await heartbeat.beat(alive)
    assert heard == [b"POST /beat HTTP/1.1"]


async def test_an_internal_address_is_not_asked(services: Services) -> None:
    assert not await heartbeat.beat(with_url(services, "http://169.254.169.254/beat"))


async def test_without_a_url_nothing_is_sent(services: Services) -> None:
    assert not await heartbeat.beat(services)
