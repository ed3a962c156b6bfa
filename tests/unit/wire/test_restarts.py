from dataclasses import replace
from datetime import UTC, datetime

from driftwatch.wire.facts import Era, EraFacts
from driftwatch.wire.restarts import compare_facts, lost_session

AT = datetime(2026, 11, 30, tzinfo=UTC)
OLD = EraFacts(Era.LEGACY, "2025-06-18", {"name": "s", "version": "1"}, {})


def kinds(old, new):
    return [restart.kind for restart in compare_facts(old, new, AT)]


def test_changed_facts_are_evidence():
    assert kinds(OLD, OLD) == []
    assert kinds(OLD, replace(OLD, server_info={"name": "s", "version": "2"})) == ["server-info-changed"]
    assert kinds(OLD, replace(OLD, protocol_version="2025-11-25")) == ["versions-changed"]
    assert kinds(OLD, replace(OLD, server_info=None)) == []
    assert kinds(replace(OLD, server_info=None), OLD) == []


def test_the_detail_says_what_changed():
    (restart,) = compare_facts(OLD, replace(OLD, server_info={"name": "s", "version": "2"}), AT)
    assert restart.detail == "s 1 → s 2"
    assert restart.at == AT


def test_a_lost_session_counts_from_three_survived_polls_on():
    assert lost_session(AT, 404, 2) == ()
    (restart,) = lost_session(AT, 404, 3)
    assert (restart.kind, restart.detail) == ("session-lost", "HTTP 404")
