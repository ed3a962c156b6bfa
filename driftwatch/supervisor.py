"""Keeps the roles of a process running: one that ends is started again, later and later while it keeps ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from driftwatch.telemetry import ROLE_RESTARTS, ROLE_UP, Health

log = structlog.get_logger(__name__)

FIRST_DELAY: Final = 0.5
#: short: a database that was away for an hour is used again this soon after it came back
LONGEST_DELAY: Final = 5.0
#: a role that ran this long has recovered; its next failure is a new one
STEADY_SECONDS: Final = 60.0
#: time the roles get to end by themselves when the process stops
STOP_SECONDS: Final = 8.0


@dataclass(frozen=True, slots=True)
class Role:
    """Something that runs until it is stopped.

    ``stop`` asks it to end; without one it is cancelled.
    """

    name: str
    run: Callable[[], Awaitable[None]]
    stop: Callable[[], None] | None = None


class Supervisor:
    """Runs roles until told to stop. What each of them does is part of the process's readiness."""

    def __init__(self, health: Health, *, first_delay: float = FIRST_DELAY) -> None:
        self._health = health
        self._first_delay = first_delay
        self._problems: dict[str, str | None] = {}
        self._running: set[Role] = set()
        self._stopping = False

    async def run(self, roles: Sequence[Role], stop: asyncio.Event) -> None:
        """Run all roles; when ``stop`` is set, stop them in order and return once they have ended."""
        tasks = {}
        for role in roles:
            self._problems[role.name] = "starting"
            self._health.watch(role.name, partial(self._problems.get, role.name))
            tasks[role] = asyncio.create_task(self._keep(role), name=role.name)
        try:
            await stop.wait()
        finally:
            self._stopping = True
            await self._stop(tasks)

    async def _keep(self, role: Role) -> None:
        delay = self._first_delay
        while True:
            started = time.monotonic()
            reason = await self._once(role)
            if self._stopping:
                return
            delay = self._first_delay if time.monotonic() - started > STEADY_SECONDS else delay
            # Anybody may ask for readiness: it names the kind of error, the log has its words.
            self._problems[role.name] = f"ended ({reason}), starts again in {delay:g} s"
            log.warning("role ended", role=role.name, reason=reason, again_in_seconds=delay)
            ROLE_RESTARTS.labels(role.name).inc()
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)

    async def _once(self, role: Role) -> str:
        self._problems[role.name] = None
        self._running.add(role)
        ROLE_UP.labels(role.name).set(1)
        try:
            await role.run()
        except Exception as error:
            log.exception("role failed", role=role.name)
            return type(error).__name__
        finally:
            self._running.discard(role)
            ROLE_UP.labels(role.name).set(0)
        return "without an error"

    async def _stop(self, tasks: dict[Role, asyncio.Task[None]]) -> None:
        for role, task in tasks.items():
            self._problems[role.name] = "stopping"
            # A role between two runs has nothing that could be asked to end.
            if role.stop is not None and role in self._running:
                role.stop()
            else:
                task.cancel()
        _, late = await asyncio.wait(tasks.values(), timeout=STOP_SECONDS)
        for task in late:
            log.warning("role did not stop in time", role=task.get_name())
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)
