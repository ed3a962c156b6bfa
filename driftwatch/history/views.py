"""What alerts and web read: a change with its parts, evidence and versions, already joined. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding as stored; ``message`` is words for people and may hold server text (escape it)."""

    rule: str
    pointer: str
    level: str
    effect: str
    message: str
    witness: Any = None


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of a change. ``witness``: {"value": …} | {"absent": true} | None, plus refusal words in ``clients``."""

    part: str
    verdict: str
    via: str | None
    reason: str | None
    witness: Mapping[str, Any] | None
    findings: tuple[FindingView, ...]
    paths: tuple[Mapping[str, Any], ...] = ()
    clients: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class JudgementView:
    """The newest judgement with the evidence it was made from."""

    announcement: str
    reason: str | None
    fact: str | None
    rule: int
    at: datetime
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One tool's transition with everything a page, an API answer or a message needs."""

    id: int
    changeset_id: int
    server_id: int
    server: str
    profile_id: int
    era: str
    tool_id: int
    tool: str
    kind: str
    from_version: int | None
    to_version: int | None
    verdict: str | None
    via: str | None
    part: str | None
    announcement: str | None
    announcement_reason: str | None
    window: tuple[datetime, datetime]
    recorded_at: datetime
    state: str
    facts: Mapping[str, Any]
    parts: tuple[PartView, ...]
    judgement: JudgementView | None = None

    @property
    def worst(self) -> PartView | None:
        """The part that decided the verdict."""
        return next((p for p in self.parts if p.part == self.part), None)


@dataclass(frozen=True, slots=True)
class IntervalView:
    """When a version was current. ``end`` None: still. The true start lies in (``not_before``, ``start``]."""

    not_before: datetime | None
    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class VersionView:
    """One distinct definition of a tool. ``invalid``: {code, message, scope} when client SDKs refuse it."""

    id: int
    number: int
    created_at: datetime
    part_shas: Mapping[str, str]
    invalid: Mapping[str, Any] | None
    findings: tuple[Mapping[str, Any], ...]
    intervals: tuple[IntervalView, ...]


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool as a profile has it now. ``version`` None: it is absent."""

    id: int
    profile_id: int
    era: str
    name: str
    version_id: int | None
    version: int | None
    versions: int
    declares_output: bool
    invalid: Mapping[str, Any] | None
    findings: tuple[Mapping[str, Any], ...]
    last_change_id: int | None
    last_change_at: datetime | None
    last_verdict: str | None
    last_via: str | None = None
    part_shas: Mapping[str, str] = field(default_factory=dict)
    semantic_shas: Mapping[str, str | None] = field(default_factory=dict)
    last_from_id: int | None = None


@dataclass(frozen=True, slots=True)
class WeekView:
    """Changes of a server in one week, 0 being the last seven days, by verdict.

    ``none`` while not assessed; ``strict`` for a break that only undeclared keys or unsafe numbers show.
    """

    ago: int
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ListView:
    """The newest list of a profile: what the server said of itself and what is to be known about the list."""

    profile_id: int
    era: str
    first_seen_at: datetime
    protocol_version: str | None
    server_info: Mapping[str, Any] | None
    tool_count: int
    findings: tuple[Mapping[str, Any], ...]
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A field in which a server began to say something else of itself, by JSON pointer; None: it was, or is, not there.

    ``at``: when a poll first believed it.
    """

    era: str
    at: datetime
    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Hearing:
    """Listening to a profile, for its server's page.

    ``since``: begin of the stretch that is held now, None while none is. ``gaps``: how often a stretch ended in the
    last 90 days; ``notifications`` and ``unanswered`` (every look that followed saw the old list) in the same time.
    """

    state: str
    reason: str | None
    since: datetime | None
    verified_until: datetime | None
    gaps: int
    notifications: int
    unanswered: int
    noisy: bool
