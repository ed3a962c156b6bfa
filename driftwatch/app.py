"""What every role works with, and the composition of roles to one process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from socket import socket
from typing import TYPE_CHECKING, Final

import structlog

from driftwatch.alerts.default_channel import ensure_default_channel
from driftwatch.db.clock import DatabaseClock
from driftwatch.db.embedded import EmbeddedPostgres
from driftwatch.db.engine import Database
from driftwatch.db.installation import check_key
from driftwatch.db.migrate import upgrade
from driftwatch.servers.secrets import SecretBox, open_box
from driftwatch.settings import Settings
from driftwatch.supervisor import Role, Supervisor
from driftwatch.telemetry import Health
from driftwatch.web.server import WebServer, bind
from driftwatch.wire.client import WireClient

if TYPE_CHECKING:
    from driftwatch.scheduler.sandbox import Sandbox

log = structlog.get_logger(__name__)

#: how often the embedded Postgres is looked after
POSTGRES_CHECK_SECONDS: Final = 1.0


class RoleName(StrEnum):
    """What a process can do; any number of processes may do each."""

    WEB = "web"
    SCHEDULER = "scheduler"
    WORKER = "worker"
    LISTENER = "listener"


@dataclass(frozen=True, slots=True)
class Services:
    """What is shared by all roles of a process. ``postgres`` is None with an external database."""

    settings: Settings
    db: Database
    clock: DatabaseClock
    wire: WireClient
    secrets: SecretBox
    sandbox: Sandbox
    health: Health = field(default_factory=Health)
    postgres: EmbeddedPostgres | None = None


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[tuple[str, EmbeddedPostgres | None]]:
    """The URL of a migrated database: the external one of the settings, or the embedded one of the home.

    Call it on the main thread: the embedded Postgres ends with the thread that started it.

    Raises:
        DatabaseError: Postgres cannot be started or reached, or cannot be migrated.
    """
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        await asyncio.to_thread(upgrade, url)
        yield url, None
        return
    async with EmbeddedPostgres(settings.home, settings.pg_bin) as postgres:
        await asyncio.to_thread(upgrade, postgres.url)
        yield postgres.url, postgres


@asynccontextmanager
async def build_services(settings: Settings) -> AsyncIterator[Services]:
    """Everything a role needs, closed in reverse order; the embedded Postgres stops last.

    Raises:
        DatabaseError: see :func:`open_database`.
        SettingsError: the secret key is missing, unusable, or not this database's.
    """
    from driftwatch.scheduler.sandbox import Sandbox

    async with contextlib.AsyncExitStack() as stack:
        url, postgres = await stack.enter_async_context(open_database(settings))
        secrets = open_box(settings)
        db = Database(url)
        stack.push_async_callback(db.dispose)
        async with db.transaction() as session:
            await check_key(session, secrets)
        clock = DatabaseClock(db)
        await clock.refresh()
        wire = await stack.enter_async_context(WireClient(settings, clock))
        sandbox = await stack.enter_async_context(Sandbox(settings))
        yield Services(
            settings=settings, db=db, clock=clock, wire=wire, secrets=secrets, sandbox=sandbox, postgres=postgres
        )


def compose(
    services: Services,
    names: Collection[RoleName],
    listener: socket | None = None,
    health_listener: socket | None = None,
) -> list[Role]:
    """The roles to supervise, in the order in which they stop: first what takes work in, last what all rely on.

    ``listener`` is the web role's socket when it was bound already, ``health_listener`` the health port's.
    """
    roles = []
    if RoleName.WEB in names:
        from driftwatch.web.app import create_app

        pages = create_app(services)
        server = WebServer(pages, services.settings.host, services.settings.port, listener)

        def stop_web() -> None:
            pages.state.live.close()  # open pages listen for ever; the server would wait for them
            server.stop()

        roles.append(Role("web", server.run, stop_web))
    if RoleName.SCHEDULER in names:
        from driftwatch.scheduler.tick import run_scheduler

        roles.append(Role("scheduler", lambda: run_scheduler(services)))
    if RoleName.WORKER in names:
        from driftwatch.scheduler.jobs import run_worker

        roles.append(Role("worker", lambda: run_worker(services)))
    if RoleName.LISTENER in names:
        from driftwatch.scheduler.streams.role import run_listener

        roles.append(Role("listener", lambda: run_listener(services)))
    if services.settings.health_port is not None:
        from driftwatch.web.health import create_health_app

        answers = create_health_app(services, installation=RoleName.WEB in names)
        probed = WebServer(answers, services.settings.host, services.settings.health_port, health_listener)
        roles.append(Role("health", probed.run, probed.stop))
    roles.append(Role("clock", services.clock.run))
    if services.postgres is not None:
        postgres = services.postgres
        roles.append(Role("postgres", lambda: keep_running(postgres)))
    return roles


async def keep_running(postgres: EmbeddedPostgres) -> None:
    """Start the embedded Postgres again when it ended; take it over when the process that owned it ended."""
    while True:
        await asyncio.sleep(POSTGRES_CHECK_SECONDS)
        if not postgres.running:
            log.warning("the embedded Postgres ended and is started again")
            postgres.start()


async def run(
    settings: Settings,
    names: Collection[RoleName] = tuple(RoleName),
    *,
    started: Callable[[Services], Awaitable[None]] | None = None,
    extra: Callable[[Services], list[Role]] | None = None,
) -> None:
    """Run roles until SIGINT, SIGTERM or SIGHUP (a terminal that closes), then stop them; a second one ends at once.

    Args:
        settings: of this process.
        names: which roles.
        started: awaited once everything is ready to begin, before the roles do.
        extra: more roles, stopped first (the demo).

    Raises:
        DatabaseError, SettingsError: the process cannot start.
    """
    stop = asyncio.Event()
    with _stopped_by_signals(stop), contextlib.ExitStack() as sockets:
        listener = health_listener = None
        if RoleName.WEB in names:
            listener = sockets.enter_context(bind(settings.host, settings.port))
            settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        if settings.health_port is not None:
            health_listener = sockets.enter_context(bind(settings.host, settings.health_port))
        async with build_services(settings) as services:
            if RoleName.WORKER in names:
                async with services.db.transaction() as session:
                    await ensure_default_channel(session, settings, services.secrets)
            if started is not None:
                await started(services)
            roles = compose(services, names, listener, health_listener)
            if extra is not None:
                roles = [*extra(services), *roles]
            if not stop.is_set():
                await Supervisor(services.health).run(roles, stop)


@contextlib.contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    # who is started by nohup ignores that the terminal closes, and goes on doing so
    signals = [s for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) is not signal.SIG_IGN]

    def first() -> None:
        stop.set()
        for number in signals:
            loop.remove_signal_handler(number)  # so that the second one has its usual effect

    for number in signals:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
