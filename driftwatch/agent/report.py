"""One walk and what was heard around it, on its way to driftwatch. Pure; every time is the agent's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from driftwatch.agent.clock import Measured
from driftwatch.wire.facts import Listing, Restart

#: what driftwatch takes in one report
MOST_EVIDENCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Covered:
    """A stretch in which a list_changed would have been heard."""

    start: datetime
    until: datetime
    ended_by: Literal["open", "us", "server"] = "open"
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was heard since the last report. ``unheard``: (state, reason), why nothing could be."""

    coverage: tuple[Covered, ...] = ()
    notifications: tuple[datetime, ...] = ()
    restarts: tuple[Restart, ...] = ()
    unheard: tuple[str, str | None] | None = None

    def before(self, later: Evidence) -> Evidence:
        """Both, this one first. Of too many notifications none may be missing where listening is claimed."""
        notifications = (*self.notifications, *later.notifications)
        coverage = _joined(self.coverage, later.coverage)
        if len(notifications) > MOST_EVIDENCE or len(coverage) > MOST_EVIDENCE:
            notifications, coverage = notifications[-MOST_EVIDENCE:], ()
        restarts = (*self.restarts, *later.restarts)[-MOST_EVIDENCE:]
        return Evidence(coverage, notifications, restarts, later.unheard)


def _joined(earlier: Sequence[Covered], later: Sequence[Covered]) -> tuple[Covered, ...]:
    """A stretch that goes on in ``later`` is stated once."""
    starts = {one.start for one in later}
    return (*(one for one in earlier if one.start not in starts), *later)


@dataclass(frozen=True, slots=True)
class Report:
    """A complete walk. ``id`` stays the same however often it is sent; ``fresh``: see the API's fresh_connection."""

    id: str
    listing: Listing = field(repr=False)
    fresh: bool
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def size(self) -> int:
        """Bytes it takes to keep."""
        return self.listing.size_bytes

    def after(self, dropped: Report) -> Report:
        """The report that follows one that could not be kept: the list is lost, what was heard is not."""
        return replace(self, evidence=dropped.evidence.before(self.evidence))

    def body(self, sent_at: datetime, clock: Measured | None) -> bytes:
        """The request's body: the pages stand in it byte for byte."""
        head = json.dumps(self._head(sent_at, clock), ensure_ascii=True)
        return b'%s, "pages": [%s]}' % (head[:-1].encode(), b", ".join(self.listing.results))

    def _head(self, sent_at: datetime, clock: Measured | None) -> dict[str, Any]:
        facts = self.listing.facts
        head: dict[str, Any] = {
            "id": self.id,
            "era": self.listing.era,
            "sent_at": sent_at.isoformat(),
            "window": {"from": self.listing.sent_at.isoformat(), "to": self.listing.arrived_at.isoformat()},
            "fresh_connection": self.fresh,
            "server": {
                "protocol_version": facts.protocol_version,
                "server_info": None if facts.server_info is None else dict(facts.server_info),
                "capabilities": dict(facts.capabilities),
                "instructions": facts.instructions,
            },
            **_evidence(self.evidence),
        }
        if clock is not None:
            head["clock"] = {"offset_seconds": clock.offset_seconds, "error_seconds": clock.error_seconds}
        return head


def _evidence(heard: Evidence) -> dict[str, Any]:
    return {
        "coverage": [
            {"from": one.start.isoformat(), "until": one.until.isoformat(), "ended_by": one.ended_by, "why": one.why}
            for one in heard.coverage
        ],
        "notifications": [at.isoformat() for at in heard.notifications],
        "restarts": [
            {"at": one.at.isoformat(), "kind": one.kind, "detail": None if one.detail is None else one.detail[:500]}
            for one in heard.restarts
        ],
        "listening": None if heard.unheard is None else {"state": heard.unheard[0], "reason": heard.unheard[1]},
    }
