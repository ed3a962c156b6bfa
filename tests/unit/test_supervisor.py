"""Roles are kept running, reported, and stopped in order."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

from driftwatch.supervisor import Role, Supervisor
from driftwatch.telemetry import ROLE_RESTARTS, Health

DELAY = 0.01


async def supervised(roles: list[Role], until: Callable[[], bool], health: Health | None = None) -> None:
    """Run roles until a condition holds, then stop them."""
    stop = asyncio.Event()
    running = asyncio.create_task(Supervisor(health or Health(), first_delay=DELAY).run(roles, stop))
    async with asyncio.timeout(5):
        while not until():
            await asyncio.sleep(0.005)
        stop.set()
        await running


def forever(log: list[str], name: str) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        log.append(f"{name} began")
        try:
            await asyncio.Event().wait()
        finally:
            log.append(f"{name} ended")

    return run


async def test_a_role_that_fails_is_started_again() -> None:
    starts: list[int] = []
    before = ROLE_RESTARTS.labels("fragile")._value.get()

    async def fragile() -> None:
        starts.append(1)
        if len(starts) < 3:
            raise ValueError("broken")
        await asyncio.Event().wait()

    await supervised([Role("fragile", fragile)], lambda: len(starts) == 3)
    assert ROLE_RESTARTS.labels("fragile")._value.get() == before + 2


async def test_a_role_that_returns_is_started_again() -> None:
    starts: list[int] = []

    async def short() -> None:
        starts.append(1)

    await supervised([Role("short", short)], lambda: len(starts) >= 3)


async def test_pauses_grow_while_a_role_keeps_failing() -> None:
    loop = asyncio.get_running_loop()
    starts: list[float] = []

    async def hopeless() -> None:
        starts.append(loop.time())
        raise ValueError("broken")

    await supervised([Role("hopeless", hopeless)], lambda: len(starts) == 5)
    pauses = [later - sooner for sooner, later in itertools.pairwise(starts)]
    assert [pause >= DELAY * 2**number for number, pause in enumerate(pauses)] == [True] * 4


async def test_one_failing_role_leaves_the_others_alone() -> None:
    log: list[str] = []

    async def failing() -> None:
        log.append("failed")
        raise ValueError("broken")

    await supervised(
        [Role("steady", forever(log, "steady")), Role("failing", failing)], lambda: log.count("failed") >= 3
    )
    assert log.count("steady began") == 1


async def test_readiness_says_which_role_is_down_and_why() -> None:
    health = Health()
    seen: list[str] = []

    async def failing() -> None:
        raise ValueError("no pool")

    def down() -> bool:
        problem = health.problems().get("failing") or ""
        if problem.startswith("ended"):
            seen.append(problem)
        return bool(seen)

    log: list[str] = []
    await supervised([Role("steady", forever(log, "steady")), Role("failing", failing)], down, health)
    # anybody may ask: the kind of error is said, its words are for the log
    assert seen[0].startswith("ended (ValueError)")
    assert "no pool" not in seen[0]


async def test_a_role_with_a_stop_is_asked_and_not_cancelled() -> None:
    asked = asyncio.Event()
    log: list[str] = []

    async def polite() -> None:
        log.append("began")
        await asked.wait()
        await asyncio.sleep(0.01)
        log.append("finished its work")

    await supervised([Role("polite", polite, asked.set)], lambda: log == ["began"])
    assert log == ["began", "finished its work"]


async def test_a_role_between_two_runs_ends_at_once() -> None:
    log: list[str] = []

    async def failing() -> None:
        log.append("failed")
        raise ValueError("broken")

    def never_asked() -> None:
        log.append("asked")

    stop = asyncio.Event()
    running = asyncio.create_task(
        Supervisor(Health(), first_delay=60).run([Role("failing", failing, never_asked)], stop)
    )
    async with asyncio.timeout(5):
        while log != ["failed"]:
            await asyncio.sleep(0.005)
        stop.set()
        await running
    assert log == ["failed"]


async def test_roles_end_when_the_supervisor_itself_is_cancelled() -> None:
    log: list[str] = []
    running = asyncio.create_task(Supervisor(Health()).run([Role("steady", forever(log, "steady"))], asyncio.Event()))
    while not log:
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert log == ["steady began", "steady ended"]
