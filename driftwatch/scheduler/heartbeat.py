"""Tells another monitor that driftwatch is alive: when the calls stop, somebody else raises the alarm."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import structlog

import driftwatch
from driftwatch.errors import WireError
from driftwatch.telemetry import readiness
from driftwatch.wire.once import post_once

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

TIMEOUT: Final = 10.0
_READ: Final = 1024


async def run_heartbeat(services: Services) -> None:
    """POST to the heartbeat URL as often as the setting says, while this process is ready; nothing when it is unset."""
    while True:
        if services.settings.heartbeat_url is not None:
            await beat(services)
        await asyncio.sleep(services.settings.heartbeat_seconds)


async def beat(services: Services) -> bool:
    """One heartbeat; False when it was not sent or not taken. A process that cannot work says nothing."""
    url = services.settings.heartbeat_url
    report = await readiness(services)
    if url is None or not report.ready:
        return False
    headers = {"user-agent": f"driftwatch/{driftwatch.__version__}", "accept-encoding": "identity"}
    try:
        async with asyncio.timeout(TIMEOUT):
            status, _, _ = await post_once(services.wire, url.get_secret_value(), headers, b"", limit=_READ)
    except (WireError, TimeoutError) as error:
        log.warning("heartbeat not taken", error=type(error).__name__)
        return False
    if status >= 300:
        log.warning("heartbeat not taken", status=status)
    return status < 300
