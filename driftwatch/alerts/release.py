"""Tells later what had to wait: for maintenance, a mute, or a server's hour of messages to be over. And reminders."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import parent, quiet_store, states, store, words
from driftwatch.alerts.announce import About, Happening, announce, reason_to_hold
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.events import summary_of
from driftwatch.alerts.message import by_tool, drift_message
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.policy import worst
from driftwatch.alerts.read import delivery_group
from driftwatch.alerts.routes import Facts
from driftwatch.alerts.tables import Alert
from driftwatch.db.stored import row_id
from driftwatch.settings import Settings

_WHY: Final = {
    "maintenance": "Held back during maintenance, which is over.",
    "rate": "Held back: this server had its messages for the hour.",
    "muted": "The mute is over, and this is still open.",
}


async def release_due(session: AsyncSession, settings: Settings, *, limit: int = 200) -> list[int]:
    """Tell of alerts whose message waited for nothing any more: one by itself, several of a server in one message."""
    released = []
    for server_id, group in groupby(await quiet_store.held_alerts(session, limit=limit), key=lambda a: a.server_id):
        why, _ = await reason_to_hold(session, settings, server_id)
        if why is not None:
            continue
        ready = [alert for alert in group if not await _still_muted(session, alert)]
        if ready:
            await _tell(session, settings, ready)
            released += [row_id(alert.id) for alert in ready]
    return released


async def remind_due(session: AsyncSession, settings: Settings, *, limit: int = 50) -> list[int]:
    """Remind of open alerts nobody acknowledged; nothing while the setting is 0, while muted or in maintenance."""
    if not settings.reminder_hours:
        return []
    now = await store.now(session)
    before = now - timedelta(hours=settings.reminder_hours)
    reminded = []
    for alert in await quiet_store.to_remind(session, after=before, limit=limit):
        why, _ = await reason_to_hold(session, settings, alert.server_id)
        if why is not None or await _still_muted(session, alert):
            continue
        about = await About.load(session, settings, alert)
        age = words.span((now - (alert.opened_at or now)).total_seconds())
        message = parent.reminder(alert.title, age, about.subject, _do(about))
        await announce(session, settings, alert, Happening("reminded", message))
        reminded.append(row_id(alert.id))
    return reminded


async def _still_muted(session: AsyncSession, alert: Alert) -> bool:
    names = await store.alerting_tool_names(session, row_id(alert.id))
    mutes = await quiet_store.mutes_on(session, alert.server_id, alert_id=row_id(alert.id), tools=names)
    return mutes is not None


async def _tell(session: AsyncSession, settings: Settings, alerts: Sequence[Alert]) -> None:
    whys = {alert.held or "" for alert in alerts}
    why = " ".join(_WHY[each] for each in sorted(whys) if each in _WHY)
    for alert in alerts:
        alert.held = alert.held_at = None
    first = alerts[0]
    if len(alerts) > 1 or first.state not in states.OPEN:
        await _digest(session, settings, alerts, why)
        return
    about = await About.load(session, settings, first)
    if by_tool(about.told):
        message = drift_message(about.subject, about.told, preface=why)
        await announce(session, settings, first, Happening("told", message))


async def _digest(session: AsyncSession, settings: Settings, alerts: Sequence[Alert], why: str) -> None:
    about = await About.load(session, settings, alerts[0])
    lines = [f"{alert.title} — {alert.state}" for alert in alerts]
    message = parent.digest(about.subject, lines, why=why)
    group: str | None = None
    for alert in alerts:
        shared = {} if group is None else {"delivery": group}
        added = await store.add_event(session, row_id(alert.id), "told", detail=shared or None)
        group = group or delivery_group(added)
    facts = Facts(
        kind="drift",
        event="drift.digest",
        severity=worst(alert.severity for alert in alerts),
        server=about.server.name,
        tags=tuple(about.server.tags),
        owner=about.server.owner,
        changes=about.facts("drift.digest").changes,
    )
    await dispatch(
        session,
        Notice(
            event="drift.digest",
            group=group or "",
            ordering=f"server-{about.subject.server_id}",
            message=message,
            facts=facts,
            server_id=about.subject.server_id,
            data=summary_of(message),
        ),
    )


def _do(about: About) -> str | None:
    drifts = by_tool(about.told)
    return words.do(drifts[0].change, drifts[0].told.line, about.subject.owner) if drifts else None
