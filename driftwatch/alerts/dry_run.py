"""What a change would send now, where, and why: the policy, ignores, mutes, windows, routes and filters of today."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import quiet_store, route_store, store
from driftwatch.alerts.announce import change_facts, reason_to_hold
from driftwatch.alerts.message import Message, Subject, Told, by_tool, drift_message
from driftwatch.alerts.policy import PolicyDecision, decide, worst
from driftwatch.alerts.routes import Facts, Plan, plan
from driftwatch.history import read as history
from driftwatch.history.views import ChangeView
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings


@dataclass(frozen=True, slots=True)
class DryRun:
    """The answer. ``decision`` None: the change is not judged yet. ``plan`` and ``message`` are of its whole deploy.

    ``held``: why the message would wait (maintenance, rate, muted).
    """

    change_id: int
    decision: PolicyDecision | None
    held: str | None
    plan: Plan | None
    message: Message | None


async def dry_run(session: AsyncSession, settings: Settings, change_id: int) -> DryRun:
    """Decide about a change's whole deploy as if it came now; nothing is written. Raises NotFoundError."""
    change = await history.load_change(session, change_id)
    siblings = await history.load_changeset(session, change.changeset_id)
    server = await session.get_one(Server, change.server_id)
    told, own = await _decide(session, server, siblings, change_id)
    loud = [t for t in told if t.outcome == "alert"]
    if not by_tool(told):
        return DryRun(change_id, own, None, None, None)
    facts = Facts(
        kind="drift",
        event="drift.opened",
        severity=worst(t.severity for t in loud),
        server=server.name,
        tags=tuple(server.tags),
        owner=server.owner,
        changes=change_facts(told),
    )
    planned = plan(await route_store.rules(session), await route_store.ways(session), facts)
    subject = Subject(server.name, change.server_id, server.owner, change.changeset_id, settings.public_url)
    held = await _held(session, settings, change, {t.change.tool for t in loud})
    return DryRun(change_id, own, held, planned, drift_message(subject, told))


async def _decide(
    session: AsyncSession, server: Server, changes: list[ChangeView], change_id: int
) -> tuple[list[Told], PolicyDecision | None]:
    lines, ignores = await quiet_store.policy_of(session, server)
    ids = [change.id for change in changes]
    verdicts = await store.baseline_verdicts(session, ids)
    stored = await store.newest_decisions(session, ids)
    told: list[Told] = []
    own: PolicyDecision | None = None
    for change in changes:
        before = stored.get(change.id)
        decision = decide(
            change,
            baseline_verdict=verdicts.get(change.id),
            back_at_baseline=before is not None and before.line == "back-at-baseline",
            lines=lines,
            ignores=ignores,
        )
        if decision is not None:
            told.append(Told(change, decision.line, decision.outcome, decision.severity))
        if change.id == change_id:
            own = decision
    return told, own


async def _held(session: AsyncSession, settings: Settings, change: ChangeView, tools: set[str]) -> str | None:
    why, _ = await reason_to_hold(session, settings, change.server_id)
    if why is not None:
        return why
    mutes = await quiet_store.mutes_on(session, change.server_id, alert_id=None, tools=tools)
    return None if mutes is None else "muted"
