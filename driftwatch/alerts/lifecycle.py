"""From judged changes to alerts, and what people do with alerts. Every function works in the caller's transaction.

What the policy decided, the alert, its event and the outbox rows are written together: either all of it is there, or
nothing happened and the changeset is due again.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import baseline, drift, outbox_store, parent, quiet_store, states, store, words
from driftwatch.alerts.announce import About, Happening, announce
from driftwatch.alerts.drift import Decided
from driftwatch.alerts.message import Told, drift_message, drift_title
from driftwatch.alerts.policy import PolicyDecision, decidable, decide, worst
from driftwatch.alerts.quiet_tables import Mute
from driftwatch.alerts.read import delivery_group
from driftwatch.alerts.tables import Alert, Decision
from driftwatch.db.stored import row_id
from driftwatch.errors import ConflictError, InputError
from driftwatch.history.views import ChangeView
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings


async def raise_due(session: AsyncSession, settings: Settings, *, limit: int = 20) -> list[int]:
    """Decide about every changeset that is complete; the ids of alerts opened, joined, opened again or reverted.

    Complete: all its undecided changes are judged, and none was recorded within the collection time.
    """
    touched: list[int] = []
    for changeset_id in await store.due_changesets(session, collect_seconds=settings.collect_seconds, limit=limit):
        decided = await _decide(session, settings, changeset_id)
        if decided is None or decided.server.state == "deleted":
            continue
        alert = await drift.raise_alert(session, settings, decided)
        touched += [] if alert is None else [alert]
        touched += await drift.revert_alerts(session, settings, decided)
    return touched


async def settle_due(session: AsyncSession, settings: Settings, *, limit: int = 50) -> list[int]:
    """Close alerts of followed servers that nobody closed in time; what they told of becomes the baseline."""
    settled = []
    for alert in await store.to_settle(session, limit=limit):
        alert_id = row_id(alert.id)
        reason = f"nobody objected within {settings.settle_days:g} days"
        await _accept_tools(session, alert_id, by="driftwatch", mode="settled", reason=reason, tools=None)
        await _close(session, alert, "settled", by="driftwatch")
        await _say(session, settings, alert, "settled", "✓ Settled by itself", reason=reason)
        settled.append(alert_id)
    return settled


async def acknowledge(
    session: AsyncSession, settings: Settings, alert_id: int, *, actor: str, reason: str | None = None
) -> None:
    """Somebody is on it. Raises NotFoundError, ConflictError."""
    alert = await store.lock_alert(session, alert_id)
    states.check(alert.kind, alert.state, "acknowledged", handled_by=alert.handled_by)
    alert.state, alert.handled_by = "acknowledged", actor
    await _say(session, settings, alert, "acknowledged", "● Acknowledged", actor=actor, reason=_words(reason))


async def accept(
    session: AsyncSession,
    settings: Settings,
    alert_id: int,
    *,
    actor: str,
    reason: str | None = None,
    tools: Collection[int] | None = None,
) -> None:
    """Make what the alert tells of the baseline; for some tools (by id) or for all of them.

    The alert is closed when none of its tools is left. A pinned server demands a reason.
    Raises NotFoundError, ConflictError, InputError.
    """
    alert = await store.lock_alert(session, alert_id)
    states.check(alert.kind, alert.state, "accepted", handled_by=alert.handled_by)
    server = await session.get_one(Server, alert.server_id)
    if _words(reason) is None and server.mode == "pinned":
        raise InputError(
            "A reason is needed: this server's contracts are pinned.", hint="Say in a few words why this is fine."
        )
    left = await _accept_tools(session, alert_id, by=actor, mode="person", reason=_words(reason), tools=tools)
    if not left:
        await _close(session, alert, "accepted", by=actor)
    detail = None if tools is None else {"tools": sorted(tools), "left": sorted(left)}
    about = await About.load(session, settings, alert)
    done = parent.accepted(about.newest, len(left))
    await _say(session, settings, alert, "accepted", done, actor=actor, reason=_words(reason), detail=detail)


async def mute(
    session: AsyncSession, settings: Settings, alert_id: int, *, actor: str, until: datetime, reason: str | None = None
) -> int:
    """No reminder and no repetition of this alert until then; a new change ends it early. The id of the mute.

    Raises NotFoundError, ConflictError, InputError.
    """
    alert = await store.lock_alert(session, alert_id)
    if alert.state not in states.OPEN:
        raise ConflictError(f"This alert is {alert.state}: there is nothing to mute.", hint="Mute the tool instead.")
    row = Mute(server_id=alert.server_id, alert_id=alert_id, until=until, reason=_words(reason), created_by=actor)
    mute_id = await quiet_store.add(session, row)
    done = f"Muted until {words.day(until)}; a new change ends it"
    detail = {"until": until.isoformat(), "mute": mute_id}
    await _say(session, settings, alert, "muted", done, actor=actor, reason=_words(reason), detail=detail)
    return mute_id


async def _say(
    session: AsyncSession,
    settings: Settings,
    alert: Alert,
    kind: str,
    done: str,
    *,
    actor: str = "driftwatch",
    reason: str | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    """Write down what was done, and say it where the alert was told of, if that place can be edited or takes events."""
    if alert.kind != "drift" or alert.changeset_id is None:
        await store.add_event(session, row_id(alert.id), kind, actor=actor, reason=reason, detail=detail)
        return
    subject = drift.subject_of(await session.get_one(Server, alert.server_id), alert.changeset_id, settings)
    message = parent.line(done, subject, by=None if actor == "driftwatch" else actor, reason=reason)
    happening = Happening(kind, message, actor=actor, reason=reason, loud=False, detail=detail)
    await announce(session, settings, alert, happening)


async def amend(session: AsyncSession, settings: Settings, change_ids: Collection[int]) -> list[int]:
    """Put right what was decided about changes that were judged again; nothing is posted. The alerts concerned.

    Decisions, titles and messages that still wait follow the newest judgement. Changes that are not decided yet are
    left to :func:`raise_due`.
    """
    before = await store.newest_decisions(session, change_ids)
    verdicts = await store.baseline_verdicts(session, list(before))
    alerts = set[int]()
    for view in await store.views(session, list(before)):
        old = before[view.id]
        lines, ignores = await quiet_store.policy_of(session, await session.get_one(Server, view.server_id))
        new = decide(
            view,
            baseline_verdict=verdicts.get(view.id),
            back_at_baseline=old.line == "back-at-baseline",
            lines=lines,
            ignores=ignores,
        )
        if new is not None and new.line != old.line:
            session.add(_row(view.id, new, old.alert_id))
        if old.alert_id is not None:
            alerts.add(old.alert_id)
    await session.flush()
    return [alert for alert in sorted(alerts) if await _retell(session, settings, alert)]


async def _decide(session: AsyncSession, settings: Settings, changeset_id: int) -> Decided | None:
    changes = await store.undecided(session, changeset_id)
    views = {v.id: v for v in await store.views(session, [row_id(c.id) for c in changes])}
    if not all(decidable(v) for v in views.values()):
        return None  # a change joined while we waited for the lock
    server = await store.server_of(session, changeset_id)
    keeper = await baseline.Keeper.load(session, [c.tool_id for c in changes])
    lines, ignores = await quiet_store.policy_of(session, server)
    verdicts = await store.baseline_verdicts(session, list(views))
    heard = await store.told_of_now(session, [c.tool_id for c in changes])
    told, decisions = [], []
    for change in changes:
        view = views[row_id(change.id)]
        decision = decide(
            view,
            # of a break whose alert is open people know: a harmless step on top of it is no news
            baseline_verdict=None if change.tool_id in heard else verdicts.get(view.id),
            back_at_baseline=keeper.is_back(change),
            lines=lines,
            ignores=ignores,
        )
        if decision is None:
            raise RuntimeError("a decidable change was not decided")
        keeper.see(change, decision, view.verdict, follow=server.mode == "follow")
        told.append(Told(view, decision.line, decision.outcome, decision.severity))
        decisions.append(_row(view.id, decision, None))
    session.add_all(decisions)
    await store.mark_decided(session, changeset_id, [d.change_id for d in decisions])
    subject = drift.subject_of(server, changeset_id, settings)
    return Decided(server, subject, tuple(told), tuple(decisions), tuple(c.tool_id for c in changes))


async def _retell(session: AsyncSession, settings: Settings, alert_id: int) -> bool:
    """Bring an alert, and its first message where it still waits, up to the newest judgement."""
    alert = await store.lock_alert(session, alert_id)
    decisions = await store.decided(session, alert_id)
    views = [v for v in await store.views(session, list(decisions)) if v.changeset_id == alert.changeset_id]
    told = [_told(view, decisions[view.id]) for view in views]
    if alert.changeset_id is None or not any(t.outcome == "alert" for t in told):
        return False
    subject = drift.subject_of(await session.get_one(Server, alert.server_id), alert.changeset_id, settings)
    alert.severity = worst(d.severity for d in decisions.values()) or alert.severity
    alert.title = drift_title(subject, told)
    opened = await store.first_event(session, alert_id)
    if opened is not None:
        await outbox_store.amend(session, drift_message(subject, told), group=delivery_group(row_id(opened.id)))
    message = parent.line("The judgement was put right", subject)
    await announce(session, settings, alert, Happening("amended", message, loud=False))
    return True


async def _accept_tools(
    session: AsyncSession, alert_id: int, *, by: str, mode: str, reason: str | None, tools: Collection[int] | None
) -> set[int]:
    """Accept tools of an alert as it last told of them; the alerting tools that are still not accepted."""
    newest = {c.tool_id: c for c in await store.newest_changes(session, alert_id)}
    if tools is not None and (strangers := set(tools) - set(newest)):
        raise InputError(f"The alert does not tell of the tool {min(strangers)}.", hint="Look at its changes.")
    for tool_id, change in newest.items():
        if tools is None or tool_id in tools:
            store.add_acceptance(session, tool_id, change.to_version_id, by=by, mode=mode, reason=reason)
    await session.flush()
    alerting = await store.alerting_tools(session, alert_id)
    return await baseline.not_at(session, {tool: newest[tool].to_version_id for tool in alerting})


async def _close(session: AsyncSession, alert: Alert, state: states.State, *, by: str) -> None:
    states.check(alert.kind, alert.state, state, handled_by=alert.handled_by)
    alert.state, alert.handled_by, alert.closed_at, alert.settles_at = state, by, await store.now(session), None


def _row(change_id: int, decision: PolicyDecision, alert_id: int | None) -> Decision:
    path = [{"line": step.line, "matched": step.matched, "words": step.words} for step in decision.path]
    return Decision(
        change_id=change_id,
        outcome=decision.outcome,
        line=decision.line,
        severity=decision.severity,
        path=path,
        alert_id=alert_id,
    )


def _told(view: ChangeView, decision: Decision) -> Told:
    """A change with its stored decision."""
    return Told(view, decision.line, decision.outcome, decision.severity)


def _words(reason: str | None) -> str | None:
    return (reason or "").strip() or None
