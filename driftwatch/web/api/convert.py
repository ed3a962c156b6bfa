"""Views become API answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from driftwatch.alerts.views import AlertView, DecisionView, alerting_line
from driftwatch.announcement.guide import how_to_announce
from driftwatch.classify.tool import PartAssessment
from driftwatch.classify.verdict import Finding
from driftwatch.history.views import ChangeView, FindingView, JudgementView, PartView
from driftwatch.web.api.models import (
    AlertChangeOut,
    AlertEventOut,
    AlertKind,
    AlertOut,
    Announcement,
    ChangeDetail,
    ChangeOut,
    ChangesetOut,
    ClientOut,
    DecisionOut,
    EraName,
    EvidenceOut,
    FindingOut,
    Kind,
    PartOut,
    RenameOut,
    Verdict,
    WindowOut,
)
from driftwatch.web.pages import story


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


def change_detail(
    change: ChangeView,
    siblings: Sequence[ChangeView],
    decisions: Sequence[DecisionView],
    *,
    owner: str | None,
    base: str,
) -> ChangeDetail:
    """A change with the evidence of its announcement and the newest decision about it; ``base`` begins its link."""
    return ChangeDetail(
        **_fields(change),
        url=f"{base}/changes/{change.id}",
        summary=story.summary(change),
        proof=story.proof(change).sentence,
        todo=story.todo(change, alerting_line(decisions), owner),
        rename=_rename(change, siblings),
        evidence=None if change.judgement is None else evidence_out(change.judgement),
        alert_id=next((one.alert_id for one in decisions if one.alert_id is not None), None),
        decision=decision_out(decisions[0]) if decisions else None,
    )


def _rename(change: ChangeView, siblings: Sequence[ChangeView]) -> RenameOut | None:
    hint = story.rename(change, siblings)
    return None if hint is None else RenameOut(sentence=hint.sentence, change_id=hint.change_id)


def changeset_out(changes: Sequence[ChangeView], alert_id: int | None) -> ChangesetOut:
    """A changeset from its changes, of which there is at least one."""
    first = changes[0]
    return ChangesetOut(
        id=first.changeset_id,
        server_id=first.server_id,
        server=first.server,
        window=WindowOut(start=min(c.window[0] for c in changes), end=max(c.window[1] for c in changes)),
        changes=[change_out(change) for change in changes],
        alert_id=alert_id,
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


def decision_out(decision: DecisionView) -> DecisionOut:
    """Why a change did or did not alert."""
    return DecisionOut(
        outcome=decision.outcome,
        line=decision.line,
        severity=decision.severity,
        at=decision.at,
        path=[dict(step) for step in decision.path],
    )


def _fields(change: ChangeView) -> dict[str, Any]:
    worst = change.worst
    return {
        "id": change.id,
        "headline": story.headline(change),
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
        kind=cast("AlertKind", alert.kind),
        server_id=alert.server_id,
        server=alert.server,
        changeset_id=alert.changeset_id,
        state=alert.state,
        severity=alert.severity,
        title=alert.title,
        opened_at=alert.opened_at,
        settles_at=alert.settles_at,
        closed_at=alert.closed_at,
        handled_by=alert.handled_by,
        held=alert.held,
        changes=[
            AlertChangeOut(
                change_id=change.change_id,
                changeset_id=change.changeset_id,
                tool_id=change.tool_id,
                tool=change.tool,
                era=cast("EraName", change.era),
                kind=cast("Kind", change.kind),
                from_version=change.from_version,
                to_version=change.to_version,
                verdict=cast("Verdict | None", change.verdict),
                announcement=cast("Announcement | None", change.announcement),
                outcome=change.outcome,
            )
            for change in alert.changes
        ],
        events=[
            AlertEventOut(at=event.at, kind=event.kind, actor=event.actor, reason=event.reason)
            for event in alert.events
        ],
    )
