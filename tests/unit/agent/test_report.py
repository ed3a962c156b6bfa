"""Reports: what the service reads is what the agent meant, bytes included; nothing that was heard gets lost."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from driftwatch.agent.clock import AgentClock, Measured
from driftwatch.agent.report import MOST_EVIDENCE, Covered, Evidence, Report
from driftwatch.scheduler.pushed.statement import dated
from driftwatch.web.api.pushed import statement_of
from driftwatch.wire.facts import Era, EraFacts, Listing, Restart

START = datetime(2031, 5, 1, tzinfo=UTC)
ODD = b'{ "tools":[ {"name":"\xc3\xa4", "x": 1.50e2, "z":"\\ud800"} ]}'


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def report(name: str = "r", *, begun: float = 10, body: bytes = ODD, **evidence: object) -> Report:
    facts = EraFacts(Era.MODERN, "2026-07-28", {"name": "s"}, {"tools": {"listChanged": True}}, "do not \x00 this")
    listing = Listing(
        Era.MODERN,
        facts,
        at(begun),
        at(begun + 1),
        tools=(),
        body_sha256=hashlib.sha256(body).digest(),
        pages=1,
        size_bytes=len(body),
        duration_ms=1000,
        results=(body, b'{"tools":[]}'),
    )
    return Report(name, listing, fresh=True, evidence=Evidence(**evidence))  # type: ignore[arg-type]  # by name


def test_the_service_reads_what_the_agent_wrote() -> None:
    coverage = (Covered(at(0), at(11)), Covered(at(-9), at(-2), "server", "process-exited"))
    sent = report(
        coverage=coverage,
        notifications=(at(5),),
        restarts=(Restart(at(-2), "process-exited", "x" * 900),),
        unheard=("cannot-deliver", "get-405"),
    )
    read = statement_of(sent.body(at(20), Measured(-3.5, 0.25)))
    assert read.pages == sent.listing.results
    assert (read.id, read.era, read.fresh, read.sent_at) == ("r", Era.MODERN, True, at(20))
    assert read.window == (at(10), at(11))
    assert read.facts.instructions == "do not \x00 this"
    assert read.facts.capabilities == {"tools": {"listChanged": True}}
    assert [(one.start, one.until, one.ended_by, one.why) for one in read.heard.coverage] == [
        (at(0), at(11), "open", None),
        (at(-9), at(-2), "server", "process-exited"),
    ]
    assert read.heard.notifications == (at(5),)
    assert read.heard.restarts == (Restart(at(-2), "process-exited", "x" * 500),)
    assert read.heard.listening is not None
    assert (read.heard.listening.state, read.heard.listening.reason) == ("cannot-deliver", "get-405")
    when = dated(read, at(20 - 3.5 + 0.1))
    assert when.window == (at(10 - 3.5 - 0.25), at(11 - 3.5 + 0.25))
    assert (when.heard.coverage[0].start, when.heard.coverage[0].until) == (at(-3.5 + 0.25), at(11 - 3.5 - 0.25))


def test_without_a_measured_clock_the_time_of_sending_is_used() -> None:
    read = statement_of(report().body(at(20), None))
    assert read.clock is None
    assert dated(read, at(1020)).window == (at(1005), at(1016))


def test_what_was_heard_goes_with_the_next_report() -> None:
    first = report(notifications=(at(5),), coverage=(Covered(at(0), at(10)),), restarts=(Restart(at(1), "refused"),))
    second = report(notifications=(at(15),), coverage=(Covered(at(0), at(20)), Covered(at(30), at(31))))
    heard = second.after(first).evidence
    assert heard.notifications == (at(5), at(15))
    assert heard.coverage == (Covered(at(0), at(20)), Covered(at(30), at(31)))
    assert heard.restarts == (Restart(at(1), "refused"),)


def test_where_notifications_had_to_go_nobody_claims_to_have_listened() -> None:
    stormy = Evidence((Covered(at(0), at(10)),), tuple(at(n) for n in range(MOST_EVIDENCE)))
    both = stormy.before(Evidence((Covered(at(0), at(20)),), (at(2000),)))
    assert len(both.notifications) == MOST_EVIDENCE
    assert both.notifications[-1] == at(2000)
    assert both.coverage == ()


def test_the_clock_keeps_the_best_measurement() -> None:
    clock = AgentClock()
    assert clock.measured() is None
    ours = clock.now()
    clock.compare(ours, ours + timedelta(seconds=100), ours + timedelta(seconds=60))
    assert clock.measured() is None
    clock.compare(ours, ours + timedelta(seconds=100.1), ours + timedelta(seconds=0.2))
    clock.compare(ours, ours + timedelta(seconds=103), ours + timedelta(seconds=4))
    found = clock.measured()
    assert found is not None
    assert abs(found.offset_seconds - 100) < 1e-6
    assert 0.1 <= found.error_seconds < 0.2
