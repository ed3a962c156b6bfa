"""Channels, routes, deliveries and what people asked not to hear, between the rooms' rows and the API. Pure."""

from __future__ import annotations

from driftwatch.alerts.dry_run import DryRun
from driftwatch.alerts.message import to_json
from driftwatch.alerts.policy import Line
from driftwatch.alerts.quiet_tables import PolicyChange
from driftwatch.alerts.route_tables import Route
from driftwatch.alerts.views import ChannelView, DeliveryView
from driftwatch.web.api.models import (
    AttemptOut,
    ChannelOut,
    DeliveryOut,
    DestinationOut,
    DryRunOut,
    LineChangeOut,
    LineOut,
    RouteOut,
)


def channel_out(channel: ChannelView) -> ChannelOut:
    """A channel without its secrets."""
    return ChannelOut(
        id=channel.id,
        name=channel.name,
        kind=channel.kind,
        state=channel.state,
        disabled_reason=channel.disabled_reason,
        accepts=dict(channel.accepts or {}),
        waiting=channel.waiting,
        oldest_waiting_at=channel.oldest,
        paused_until=channel.paused_until,
    )


def delivery_out(delivery: DeliveryView) -> DeliveryOut:
    """A delivery with every attempt."""
    return DeliveryOut(
        id=delivery.id,
        event=delivery.event,
        action=delivery.action,
        state=delivery.state,
        form=delivery.form,
        alert_id=delivery.alert_id,
        route=delivery.route,
        tries=delivery.tries,
        created_at=delivery.created_at,
        next_try_at=delivery.next_try_at,
        delivered_at=delivery.delivered_at,
        attempts=[
            AttemptOut(
                at=a.at, outcome=a.outcome, status=a.status, error=a.error, body=a.body, duration_ms=a.duration_ms
            )
            for a in delivery.attempts
        ],
    )


def route_out(row: Route) -> RouteOut:
    """A route."""
    return RouteOut(
        id=row.id or 0, name=row.name, match=dict(row.match or {}), channels=list(row.channels), goes_on=row.goes_on
    )


def line_out(line: Line) -> LineOut:
    """A line of the policy."""
    return LineOut(line=line.id, words=line.words, outcome=line.outcome, severity=line.severity)


def line_change_out(row: PolicyChange) -> LineChangeOut:
    """A change of the policy."""
    return LineChangeOut.model_validate(row.model_dump())


def dry_run_out(run: DryRun) -> DryRunOut:
    """What a change would send."""
    decision, plan = run.decision, run.plan
    return DryRunOut(
        change_id=run.change_id,
        outcome=None if decision is None else decision.outcome,
        line=None if decision is None else decision.line,
        severity=None if decision is None else decision.severity,
        path=[]
        if decision is None
        else [{"line": s.line, "matched": s.matched, "words": s.words} for s in decision.path],
        held=run.held,
        routes=[] if plan is None else [{"route": name, "matched": matched} for name, matched in plan.asked],
        destinations=[]
        if plan is None
        else [
            DestinationOut(channel_id=d.channel_id, channel=d.channel, told=d.told, why=d.why)
            for d in plan.destinations
        ],
        message=None if run.message is None else to_json(run.message),
    )
