"""However often a stateful server is polled, it holds one session of ours, and none once it is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from acceptance.harness import Deployment, mcp1

from driftwatch.app import Services
from driftwatch.scheduler import store
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.poll import run as poll
from driftwatch.servers import changes
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]
POLLS = 100


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Deployment]:
    """A real mcp 1.27 server, which counts its sessions."""
    place = Deployment(tmp_path)
    try:
        await asyncio.to_thread(place.deploy, mcp1(declare=True))
        yield place
    finally:
        await asyncio.to_thread(place.close)


async def sessions(deployment: Deployment) -> int:
    """How many sessions the server holds."""
    told = await asyncio.to_thread(deployment.asked, "sessions")
    held: int = told["sessions"]
    return held


async def test_a_hundred_polls_leave_one_session_and_forgetting_the_server_none(
    services: Services, deployment: Deployment, query: Query
) -> None:
    registered = await register(services, ServerSpec(deployment.url, interval_seconds=60), actor="test")
    assert registered.server_id is not None
    most = await sessions(deployment)
    for n in range(POLLS):
        if n % 10 == 0:  # the eras are looked for anew once a day, and every look opens a session
            await query("UPDATE server SET detected_at = now() - interval '2 days'")
        await query("UPDATE profile_state SET next_due_at = now(), due_reason = 'check-now'")
        async with services.db.transaction() as session:
            batches = await store.claim_due(session, limit=10)
        assert batches
        for token, ids in batches.items():
            await poll(services, HostLimits(), token, ids)
        if n % 10 == 0:
            most = max(most, await sessions(deployment))
    [counted] = await query("SELECT sum(polls) AS polls, sum(errors) AS errors FROM poll_rollup")
    assert (counted["polls"], counted["errors"]) == (POLLS + 1, 0)
    assert (most, await sessions(deployment)) == (1, 1)
    await changes.delete(services, registered.server_id, actor="test")
    assert await sessions(deployment) == 0
