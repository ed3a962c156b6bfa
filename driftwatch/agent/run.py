"""The agent put together: what is watched, in which eras, and the end of it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import structlog

from driftwatch.agent.clock import AgentClock
from driftwatch.agent.http_sight import open_http
from driftwatch.agent.outbox import Outbox
from driftwatch.agent.service import Registration, Service, Taken
from driftwatch.agent.sight import Opener, Sight
from driftwatch.agent.stdio_sight import open_stdio
from driftwatch.agent.watch import EraWatch
from driftwatch.errors import WireError
from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import Era, Target
from driftwatch.wire.process import Command

log = structlog.get_logger(__name__)

#: whoever runs the agent chooses what it speaks to; metadata addresses stay forbidden
EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
#: the last reports get this long when the agent is stopped
GOODBYE_SECONDS: Final = 5.0
#: and so long when it looks only once
ONCE_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What an agent does. ``eras``: those to watch; where nobody chose, one that is not spoken is no failure."""

    target: Command | Target
    service_url: str
    token: str = field(repr=False)
    registration: Registration
    eras: tuple[Era, ...] = (Era.MODERN, Era.LEGACY)
    once: bool = False


async def run(plan: Plan, settings: Settings) -> bool:
    """Watch until SIGTERM or SIGINT, or look once; False when looking once did not succeed."""
    clock = AgentClock()
    async with Service(plan.service_url, plan.token, clock) as service, _opener(plan, clock, settings) as opener:
        outbox = Outbox(service, plan.registration)
        spoken: set[Era] = set()
        watches = [EraWatch(era, opener, outbox, lambda: _interval(outbox, settings), spoken) for era in plan.eras]
        if plan.once:
            return await _once(outbox, watches)
        await _until_told(outbox, watches)
    return True


@asynccontextmanager
async def _opener(plan: Plan, clock: AgentClock, settings: Settings) -> AsyncIterator[Opener]:
    target = plan.target
    if isinstance(target, Command):
        yield lambda era: _as_sight(open_stdio(target, era, clock, settings))
        return
    async with WireClient(settings.model_copy(update={"allow_networks": EVERYWHERE}), clock) as client:
        yield lambda era: _as_sight(open_http(client, target, era))


def _as_sight(
    opened: contextlib.AbstractAsyncContextManager[Sight],
) -> contextlib.AbstractAsyncContextManager[Sight]:
    return opened


def _interval(outbox: Outbox, settings: Settings) -> float:
    return outbox.interval or float(settings.interval_seconds)


async def _until_told(outbox: Outbox, watches: Sequence[EraWatch]) -> None:
    """Everything until a signal comes; then the servers are ended, and what is left is sent."""
    sending = asyncio.create_task(outbox.run(), name="outbox")
    watching = asyncio.create_task(_watch_all(watches), name="watches")
    told = asyncio.Event()
    with _signals(told):
        waiting = asyncio.create_task(told.wait(), name="signals")
        try:
            await asyncio.wait({sending, watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (waiting, watching):
                task.cancel()
            await asyncio.wait({waiting, watching})
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(outbox.drained(), GOODBYE_SECONDS)
    left = len(outbox)
    sending.cancel()
    await asyncio.wait({sending})
    log.info("stopped", unsent=left)
    for task in (watching, sending):
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error


async def _watch_all(watches: Sequence[EraWatch]) -> None:
    """One after the other to begin with: two cold starts of one package may be in each other's way."""
    async with asyncio.TaskGroup() as group:
        for watch in watches:
            group.create_task(watch.run(), name=f"watch {watch.era}")
            await watch.tried.wait()


@contextlib.contextmanager
def _signals(told: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _once(outbox: Outbox, watches: Sequence[EraWatch]) -> bool:
    """Every era once; a difference is looked at until driftwatch believes it."""
    sending = asyncio.create_task(outbox.run(), name="outbox")
    try:
        async with asyncio.timeout(ONCE_SECONDS):
            seen = [await _look_once(watch) for watch in watches]
    except TimeoutError:
        log.warning("driftwatch did not take what was seen", waiting=len(outbox))
        return False
    finally:
        sending.cancel()
        await asyncio.wait({sending})
    return any(outcome is not None for outcome in seen) and False not in seen


async def _look_once(watch: EraWatch) -> bool | None:
    """True: taken; False: not readable, or refused; None: the era is not spoken."""
    try:
        sent: list[asyncio.Future[Taken]] = await watch.once()
    except EraNotSpokenError as error:
        log.info("era not spoken", era=watch.era, error=error.message)
        return None
    except WireError as error:
        log.warning("the server cannot be read", era=watch.era, code=error.code, error=error.message)
        return False
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) is not None and current.cancelling():
            raise
        return False  # the report was refused
    log.info("pushed", era=watch.era, outcome=sent[-1].result().outcome)
    return True
