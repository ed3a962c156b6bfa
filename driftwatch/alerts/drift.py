"""From a changeset that the policy decided about to its alert: opened, joined, opened again, or reverted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import baseline, quiet_store, states, store
from driftwatch.alerts.announce import Happening, announce, hold
from driftwatch.alerts.message import Subject, Told, drift_message, drift_title, reverted_message
from driftwatch.alerts.policy import worst
from driftwatch.alerts.tables import Alert, Decision
from driftwatch.db.stored import row_id
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings

#: drift that comes back this soon after it went away opens its old alert again
REOPEN_WITHIN: Final = timedelta(hours=24)
#: drift that people heard of this lately is known to them: a mute holds it back
REMEMBERED: Final = timedelta(days=90)

#: why a second message comes, by the state the alert was in
_PREFACES: Final = {
    "open": "More on an alert that is still open.",
    "acknowledged": "More on an alert that is acknowledged and still open.",
    "accepted": "More of a deploy that was accepted.",
    "settled": "More of a deploy whose alert had settled.",
    "reverted": "Back again, after it was reverted.",
}


@dataclass(frozen=True, slots=True)
class Decided:
    """Changes of one changeset with what the policy said, the decisions already stored. ``told[i]`` has decision i."""

    server: Server
    subject: Subject
    told: tuple[Told, ...]
    decisions: tuple[Decision, ...]
    tools: tuple[int, ...]

    @property
    def detail(self) -> dict[str, int]:
        """What an event about it says."""
        return {"changeset": self.subject.changeset_id}

    @property
    def alerting(self) -> list[Told]:
        """The changes that people must hear of."""
        return [t for t in self.told if t.outcome == "alert"]

    def tools_where(self, changes: Collection[Told]) -> set[int]:
        """The tool ids of some of the changes."""
        ids = {t.change.id for t in changes}
        return {tool for tool, told in zip(self.tools, self.told, strict=True) if told.change.id in ids}

    def belong_to(self, alert_id: int) -> None:
        """Tie every change, the quiet ones too, to the alert that tells of it."""
        for decision in self.decisions:
            decision.alert_id = alert_id


def subject_of(server: Server, changeset_id: int, settings: Settings) -> Subject:
    """Whom a message about a changeset is about."""
    return Subject(server.name, row_id(server.id), server.owner, changeset_id, settings.public_url)


async def raise_alert(session: AsyncSession, settings: Settings, decided: Decided) -> int | None:
    """The alert that tells of a changeset, opened, joined or opened again; None when nobody needs to hear of it."""
    own = await store.alert_of_changeset(session, decided.subject.changeset_id)
    if not decided.alerting:
        if own is not None:
            decided.belong_to(row_id(own.id))
        return None
    keys = set((await store.drift_keys(session, [t.change.id for t in decided.alerting])).values())
    alert = own or await _earlier(session, decided, keys)
    if alert is None:
        return await _open(session, settings, decided, keys)
    return await _join(session, settings, alert, decided, keys)


async def revert_alerts(session: AsyncSession, settings: Settings, decided: Decided) -> list[int]:
    """Close alerts whose every tool is at its baseline again, and say so to those who heard of the drift."""
    back = [t for t in decided.told if t.line == "back-at-baseline"]
    reverted = []
    for alert in await store.open_alerts_about(session, decided.tools_where(back)) if back else ():
        alert_id = row_id(alert.id)
        if not await baseline.all_back(session, await store.alerting_tools(session, alert_id)):
            continue
        states.check(alert.kind, alert.state, "reverted", handled_by=alert.handled_by)
        alert.state, alert.settles_at, alert.closed_at = "reverted", None, await store.now(session)
        unheard, alert.held, alert.held_at = alert.held, None, None
        message = reverted_message(decided.subject, back)
        # of what nobody heard, nobody needs to hear that it is over
        happening = Happening("reverted", message, loud=unheard is None, detail=decided.detail)
        await announce(session, settings, alert, happening)
        reverted.append(alert_id)
    return reverted


async def _open(session: AsyncSession, settings: Settings, decided: Decided, keys: set[store.DriftKey]) -> int:
    subject = decided.subject
    alert = Alert(
        kind="drift",
        server_id=subject.server_id,
        changeset_id=subject.changeset_id,
        severity=worst(t.severity for t in decided.alerting) or "notice",
        title=drift_title(subject, decided.told),
        settles_at=await _settles_at(session, settings, decided.server),
    )
    alert_id = await store.add_alert(session, alert)
    decided.belong_to(alert_id)
    await session.flush()
    preface = await _mind_mutes(session, alert, decided, keys)
    message = drift_message(subject, decided.told, preface=preface)
    await announce(session, settings, alert, Happening("opened", message, detail=decided.detail))
    return alert_id


async def _join(
    session: AsyncSession, settings: Settings, alert: Alert, decided: Decided, keys: set[store.DriftKey]
) -> int:
    """Add a changeset to an alert. The same drift seen again is only written down; people heard of it."""
    alert_id = row_id(alert.id)
    heard = await store.heard_of(session, alert_id)
    decided.belong_to(alert_id)
    if keys <= heard and alert.state != "reverted":
        await _seen_again(session, alert, decided)
        return alert_id
    open_still = alert.state in states.OPEN
    preface = _PREFACES[alert.state]
    if alert.state != "open":
        states.check(alert.kind, alert.state, "open")
    alert.state, alert.closed_at, alert.handled_by = "open", None, None
    before = alert.severity
    alert.severity = worst([alert.severity, *(t.severity for t in decided.alerting)]) or "notice"
    alert.settles_at = await _settles_at(session, settings, decided.server)
    await session.flush()
    preface = await _mind_mutes(session, alert, decided, keys) or preface
    message = drift_message(decided.subject, decided.told, preface=preface)
    kind = "updated" if open_still else "reopened"
    rising = alert.severity != before
    await announce(session, settings, alert, Happening(kind, message, rising=rising, detail=decided.detail))
    return alert_id


async def _mind_mutes(session: AsyncSession, alert: Alert, decided: Decided, keys: set[store.DriftKey]) -> str | None:
    """A mute holds known drift back and ends at drift that people have not heard of: words that say so."""
    names = {t.change.tool for t in decided.alerting}
    mutes = await quiet_store.mutes_on(session, alert.server_id, alert_id=alert.id, tools=names)
    if mutes is None:
        return None
    now = {t.change.id for t in decided.alerting}
    if keys <= await store.heard_lately(session, alert.server_id, within=REMEMBERED, but=now):
        await hold(session, alert, "muted")
        return None
    await quiet_store.end_mutes(session, mutes, by="a new change")
    if alert.held == "muted":
        alert.held = alert.held_at = None
    return f"This is a new change: it ends the mute by {mutes[0].created_by}."


async def _seen_again(session: AsyncSession, alert: Alert, decided: Decided) -> None:
    """Write down that another profile saw the same drift; what was accepted for one is accepted for all."""
    alert_id = row_id(alert.id)
    detail = {"changeset": decided.subject.changeset_id}
    await store.add_event(session, alert_id, "seen-again", detail=detail)
    if alert.state in states.OPEN:
        return
    tools = decided.tools_where(decided.alerting)
    mode = "person" if alert.state == "accepted" else "settled"
    for change in await store.newest_changes(session, alert_id):
        if change.tool_id in tools:
            by, reason = alert.handled_by or "driftwatch", f"the same drift was {alert.state} before"
            store.add_acceptance(session, change.tool_id, change.to_version_id, by=by, mode=mode, reason=reason)


async def _earlier(session: AsyncSession, decided: Decided, keys: set[store.DriftKey]) -> Alert | None:
    """The alert this drift belongs to: an open one about one of its tools, or the same drift lately reverted."""
    open_ones = await store.open_alerts_about(session, decided.tools_where(decided.alerting))
    if open_ones:
        return open_ones[0]
    for alert in await store.lately_reverted(session, decided.subject.server_id, within=REOPEN_WITHIN):
        if keys & await store.heard_of(session, row_id(alert.id)):
            return alert
    return None


async def _settles_at(session: AsyncSession, settings: Settings, server: Server) -> datetime | None:
    """When an alert ends by itself; never for a pinned server."""
    if server.mode != "follow":
        return None
    return await store.now(session) + timedelta(days=settings.settle_days)
