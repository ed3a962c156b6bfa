"""One era watched: looks follow what is heard and what driftwatch doubts, and evidence survives the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from unit.agent.test_report import at, report

from driftwatch.agent import watch as watches
from driftwatch.agent.outbox import Outbox
from driftwatch.agent.report import Evidence, Report
from driftwatch.agent.service import Registration, Service, Taken
from driftwatch.agent.watch import EraWatch
from driftwatch.errors import WireError
from driftwatch.wire.errors import EraNotSpokenError, ExitedError, PollTimeoutError
from driftwatch.wire.facts import Era, Listing, Restart

PATIENCE = 60


class FakeSight:
    """A server that lists what it is told; every list is a new object."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.heard = asyncio.Event()
        self.ended = asyncio.Event()

    async def walk(self, *, fresh: bool) -> tuple[Listing, bool]:
        self.server.fresh.append(fresh)
        return replace(report().listing, body_sha256=self.server.body), fresh

    def evidence(self) -> Evidence:
        notified = (at(1),) if self.heard.is_set() else ()
        self.heard.clear()
        return Evidence(notifications=notified)

    def last_words(self, error: WireError | None) -> Evidence:
        kind = None if error is None else error.restart_kind
        return Evidence(restarts=(Restart(at(2), kind),) if kind else ())


class Server:
    """What is opened, in turn; an error instead of a session when there is one."""

    def __init__(self) -> None:
        self.body = b"1"
        self.fresh: list[bool] = []
        self.opened: list[FakeSight] = []
        self.errors: list[WireError] = []

    @asynccontextmanager
    async def open(self, era: Era) -> AsyncIterator[FakeSight]:
        if self.errors:
            raise self.errors.pop(0)
        self.opened.append(FakeSight(self))
        yield self.opened[-1]


class FakeService(Service):
    """Answers with what it is told, then with calm."""

    def __init__(self) -> None:
        self.got: list[Report] = []
        self.answers: list[Taken] = []

    async def register(self, wanted: Registration) -> tuple[int, float]:
        return 1, 1000.0

    async def push(self, server_id: int, report: Report) -> Taken:
        self.got.append(report)
        return self.answers.pop(0) if self.answers else Taken("unchanged", None, 1000.0)


@asynccontextmanager
async def watching(server: Server, service: FakeService, spoken: set[Era] | None = None) -> AsyncIterator[EraWatch]:
    outbox = Outbox(service, Registration("x"))
    found = spoken if spoken is not None else set()
    watch = EraWatch(Era.MODERN, server.open, outbox, lambda: 1000.0, found)
    tasks = [asyncio.create_task(watch.run()), asyncio.create_task(outbox.run())]
    yield watch
    for task in tasks:
        assert not task.done(), task
        task.cancel()
    await asyncio.wait(tasks)


async def until(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not what():
            await asyncio.sleep(0.005)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(watches, "STORM_GAP", 0.01)
    monkeypatch.setattr(watches, "FOLLOW_UPS", (0, 0.02))
    monkeypatch.setattr(watches, "DOUBTS", (0.02, 0.04, 0.06))


async def test_a_notification_brings_looks_and_is_reported() -> None:
    server, service = Server(), FakeService()
    async with watching(server, service):
        await until(lambda: len(service.got) == 1)
        server.opened[0].heard.set()
        await until(lambda: len(service.got) == 3)
    assert [one.evidence.notifications for one in service.got] == [(), (at(1),), ()]
    assert len({one.id for one in service.got}) == 3


async def test_a_difference_is_looked_at_again_on_connections_of_its_own() -> None:
    server, service = Server(), FakeService()
    async with watching(server, service):
        await until(lambda: len(service.got) == 1)
        server.body = b"2"
        server.opened[0].heard.set()
        await until(lambda: len(service.got) >= 3)
    assert server.fresh[:3] == [False, False, True]


async def test_driftwatch_says_when_to_look_again() -> None:
    server, service = Server(), FakeService()
    service.answers = [Taken("doubted", 0.02, 1000.0), Taken("unchanged", 0.02, 1000.0)]
    async with watching(server, service):
        await until(lambda: len(service.got) == 3)
    assert server.fresh[:2] == [False, True]


async def test_a_server_that_ends_is_opened_again_and_its_last_words_are_kept() -> None:
    server, service = Server(), FakeService()
    server.errors = [ExitedError("gone", restart_kind="process-exited")]
    async with watching(server, service) as watch:
        await until(lambda: len(service.got) == 1)
        assert watch.tried.is_set()
        server.errors = [PollTimeoutError("slow")]
        server.opened[0].ended.set()
        await until(lambda: len(service.got) == 2)
    assert len(server.opened) == 2
    assert service.got[1].evidence.restarts == (Restart(at(2), "process-exited"),)


async def test_an_era_that_is_not_spoken_is_left_alone() -> None:
    server, service = Server(), FakeService()
    server.errors = [EraNotSpokenError("no")]
    async with watching(server, service) as watch:
        await asyncio.wait_for(watch.tried.wait(), PATIENCE)
        await asyncio.sleep(0.1)
    assert server.opened == []
    silent = Server()
    silent.errors = [PollTimeoutError("no answer")]
    async with watching(silent, service, {Era.LEGACY}) as watch:
        await asyncio.wait_for(watch.tried.wait(), PATIENCE)
        await asyncio.sleep(0.1)
    assert silent.opened == []


async def test_looking_once_goes_on_until_nothing_is_doubted() -> None:
    server, service = Server(), FakeService()
    service.answers = [Taken("doubted", 0.01, 1000.0), Taken("doubted", 0.01, 1000.0), Taken("changed", 5.0, 1000.0)]
    outbox = Outbox(service, Registration("x"))
    sending = asyncio.create_task(outbox.run())
    watch = EraWatch(Era.MODERN, server.open, outbox, lambda: 1000.0, set())
    sent = await asyncio.wait_for(watch.once(), PATIENCE)
    assert [future.result().outcome for future in sent] == ["doubted", "doubted", "changed"]
    sending.cancel()
    await asyncio.wait({sending})
