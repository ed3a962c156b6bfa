"""Views become API answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from driftwatch.alerts.views import AlertView, DecisionView
from driftwatch.announcement.guide import how_to_announce
from driftwatch.classify.tool import PartAssessment
from driftwatch.classify.verdict import Finding
from driftwatch.history.views import ChangeView, FindingView, JudgementView, PartView
from driftwatch.web.api.models import (
    AlertEventOut,
    AlertOut,
    Announcement,
    ChangeDetail,
    ChangeOut,
    ClientOut,
    EraName,
    EvidenceOut,
    FindingOut,
    Kind,
    PartOut,
    Verdict,
    WindowOut,
)


def part_out(part: PartView) -> PartOut:
    """One part of a change."""
    return PartOut(
        part=part.part,
        verdict=cast("Verdict", part.verdict),
        via=part.via,
        reason=part.reason,
        witness=dict(part.witness) if part.witness is not None else None,
        findings=[finding_out(finding, finding.witness) for finding in part.findings],
        paths=[dict(path) for path in part.paths],
        **_clients(part.clients),
    )


def assessed_out(part: PartAssessment) -> PartOut:
    """One part as the classifier just judged it."""
    return PartOut(
        part=part.part,
        verdict=part.verdict,
        via=part.via,
        reason=part.reason,
        witness=dict(part.witness) if part.witness is not None else None,
        findings=[finding_out(finding, finding.witness if finding.has_witness else None) for finding in part.findings],
        paths=[dict(path) for path in part.paths],
        **_clients(part.clients),
    )


def _clients(said: Mapping[str, Any] | None) -> dict[str, Any]:
    said = said or {}
    return {
        "refusal": said.get("refusal"),
        "refused_at": said.get("refused_at"),
        "clients": [ClientOut(**answer) for answer in said.get("answers", ())],
    }


def finding_out(finding: FindingView | Finding, witness: Any) -> FindingOut:
    """A finding, stored or just made."""
    return FindingOut(
        rule=finding.rule,
        pointer=finding.pointer,
        level=finding.level,
        effect=finding.effect,
        message=finding.message,
        witness=witness,
    )


def change_out(change: ChangeView) -> ChangeOut:
    """A change as lists show it."""
    return ChangeOut(**_fields(change))


def change_detail(change: ChangeView, *, alert_id: int | None, decisions: list[DecisionView]) -> ChangeDetail:
    """A change with the evidence of its announcement and the newest decision about it."""
    return ChangeDetail(
        **_fields(change),
        evidence=None if change.judgement is None else evidence_out(change.judgement),
        alert_id=alert_id,
        decision=decision_out(decisions[0]) if decisions else None,
    )


def evidence_out(judgement: JudgementView) -> EvidenceOut:
    """The newest judgement and what it was made from."""
    return EvidenceOut(
        announcement=cast("Announcement", judgement.announcement),
        reason=judgement.reason,
        fact=judgement.fact,
        rule=judgement.rule,
        at=judgement.at,
        evidence=dict(judgement.evidence),
    )


def decision_out(decision: DecisionView) -> dict[str, Any]:
    """Why a change did or did not alert."""
    return {
        "outcome": decision.outcome,
        "line": decision.line,
        "severity": decision.severity,
        "at": decision.at,
        "path": [dict(step) for step in decision.path],
    }


def _fields(change: ChangeView) -> dict[str, Any]:
    worst = change.worst
    return {
        "id": change.id,
        "changeset_id": change.changeset_id,
        "server_id": change.server_id,
        "server": change.server,
        "profile_id": change.profile_id,
        "era": cast("EraName", change.era),
        "tool_id": change.tool_id,
        "tool": change.tool,
        "kind": cast("Kind", change.kind),
        "from_version": change.from_version,
        "to_version": change.to_version,
        "verdict": change.verdict,
        "via": change.via,
        "part": change.part,
        "witness": dict(worst.witness) if worst is not None and worst.witness is not None else None,
        "parts": [part_out(part) for part in change.parts],
        "announcement": change.announcement,
        "announcement_reason": change.announcement_reason,
        "announcement_help": how_to_announce(change.announcement, change.announcement_reason),
        "window": WindowOut(start=change.window[0], end=change.window[1]),
        "recorded_at": change.recorded_at,
        "state": change.state,
        "facts": dict(change.facts),
    }


def alert_out(alert: AlertView) -> AlertOut:
    """An alert with its events."""
    return AlertOut(
        id=alert.id,
        kind=alert.kind,
        server_id=alert.server_id,
        changeset_id=alert.changeset_id,
        state=alert.state,
        severity=alert.severity,
        title=alert.title,
        opened_at=alert.opened_at,
        closed_at=alert.closed_at,
        handled_by=alert.handled_by,
        events=[
            AlertEventOut(at=event.at, kind=event.kind, actor=event.actor, reason=event.reason)
            for event in alert.events
        ],
    )
