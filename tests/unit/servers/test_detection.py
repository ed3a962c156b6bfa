from __future__ import annotations

import json

from driftwatch.servers.detection import as_json, facts_of
from driftwatch.wire.eras import Detection
from driftwatch.wire.errors import EraNotSpokenError
from driftwatch.wire.facts import Era, EraFacts, Session, Transport

MODERN = EraFacts(Era.MODERN, "2026-07-28", {"name": "s"}, {"tools": {}}, "be kind")


def stored(detection: Detection) -> dict[str, object]:
    return dict(json.loads(json.dumps(as_json(detection))))


def test_facts_survive_storing() -> None:
    kept = stored(Detection({Era.MODERN: MODERN}, {Era.LEGACY: EraNotSpokenError("no")}))
    assert facts_of(kept, Era.MODERN) == MODERN
    assert facts_of(kept, Era.LEGACY) is None
    assert facts_of(None, Era.MODERN) is None
    assert kept["problems"] == {"legacy": {"code": "era-not-spoken", "message": "no"}}


def test_a_session_is_not_stored_but_its_transport_is() -> None:
    def legacy(transport: Transport) -> EraFacts:
        session = Session("s3cr3t", "2025-11-25", transport)
        return EraFacts(Era.LEGACY, "2025-11-25", None, {}, session=session)

    streamable = stored(Detection({Era.LEGACY: legacy(Transport.STREAMABLE_HTTP)}))
    by_sse = stored(Detection({Era.LEGACY: legacy(Transport.HTTP_SSE)}))
    assert "s3cr3t" not in str(streamable) + str(by_sse)
    facts = facts_of(streamable, Era.LEGACY)
    assert facts is not None
    assert facts.session is None
    facts = facts_of(by_sse, Era.LEGACY)
    assert facts is not None
    assert facts.session == Session(None, "2025-11-25", Transport.HTTP_SSE)
