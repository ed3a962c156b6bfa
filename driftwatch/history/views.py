"""What alerts and web read: a change with its parts, evidence and versions, already joined. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
