"""Reports wait while driftwatch is away: bounded, in order, and what was heard is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from unit.agent.test_report import at, report

from driftwatch.agent import outbox as outboxes
from driftwatch.agent.outbox import Outbox
from driftwatch.agent.report import Report
from driftwatch.agent.service import AwayError, RefusedReportError, Registration, Service, Taken
from driftwatch.wire.facts import Era


class Fake(Service):
    """Takes reports unless it is away, or they are called bad."""

    def __init__(self) -> None:
        self.away = False
        self.got: list[Report] = []

    async def register(self, wanted: Registration) -> tuple[int, float]:
        if self.away:
            raise AwayError("away")
        return 7, 30.0

    async def push(self, server_id: int, report: Report) -> Taken:
        assert server_id == 7
        if self.away:
            raise AwayError("away")
        if report.id == "bad":
            raise RefusedReportError("bad")
        self.got.append(report)
        return Taken("unchanged", None, 40.0)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setattr(outboxes, "FIRST_WAIT", 0.01)
    return Fake()


async def sent(outbox: Outbox, service: Fake) -> list[str]:
    running = asyncio.create_task(outbox.run())
    await asyncio.wait_for(outbox.drained(), 60)
    running.cancel()
    await asyncio.wait({running})
    return [one.id for one in service.got]


async def test_what_waited_is_sent_in_order(service: Fake) -> None:
    outbox = Outbox(service, Registration("x"))
    service.away = True
    running = asyncio.create_task(outbox.run())
    taken = [outbox.put(report(name)) for name in "abc"]
    await asyncio.sleep(0.05)
    assert len(outbox) == 3
    service.away = False
    answers = await asyncio.wait_for(asyncio.gather(*taken), 60)
    assert [one.id for one in service.got] == ["a", "b", "c"]
    assert [answer.outcome for answer in answers] == ["unchanged"] * 3
    assert outbox.interval == 40.0
    running.cancel()
    await asyncio.wait({running})


async def test_over_the_bound_what_says_nothing_new_goes_first(service: Fake) -> None:
    outbox = Outbox(service, Registration("x"), most=3)
    for name, body in (("a", b"{}"), ("b", b"[]"), ("c", b"[]"), ("d", b"{}")):
        outbox.put(report(name, body=body, notifications=(at(ord(name)),)))
    assert await sent(outbox, service) == ["a", "b", "d"]
    assert service.got[2].evidence.notifications == (at(ord("c")), at(ord("d")))


async def test_the_bytes_are_bounded_as_well(service: Fake) -> None:
    outbox = Outbox(service, Registration("x"), most_bytes=250)
    for name in "abcdef":
        outbox.put(report(name, body=name.encode() * 100))
    assert await sent(outbox, service) == ["a", "f"]


async def test_one_era_does_not_take_what_the_other_heard(service: Fake) -> None:
    outbox = Outbox(service, Registration("x"), most=2)
    legacy = report("l")
    outbox.put(report("a"))
    outbox.put(replace(legacy, listing=replace(legacy.listing, era=Era.LEGACY)))
    outbox.put(report("b", notifications=(at(1),)))
    outbox.put(report("c"))
    assert await sent(outbox, service) == ["a", "l", "c"]
    assert service.got[2].evidence.notifications == (at(1),)


async def test_a_refused_report_holds_up_nothing(service: Fake) -> None:
    outbox = Outbox(service, Registration("x"))
    refused = outbox.put(report("bad", notifications=(at(1),)))
    outbox.put(report("good"))
    assert await sent(outbox, service) == ["good"]
    assert refused.cancelled()
    assert service.got[0].evidence.notifications == (at(1),)
