"""Tells of a drift alert: writes the event, and in the same transaction what channels shall be sent, or that it waits.

It waits (``held``) during a maintenance window and when a server has had its messages for the hour: the alert is
there and shown, the message comes later, alone or as a summary (see release.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import msgspec
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import parent, quiet_store, store
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.events import AlertData, Drift, ServerData, change_data, to_data
from driftwatch.alerts.full_diff import full_diff
from driftwatch.alerts.message import Message, Paragraph, Subject, Told
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.read import delivery_group
from driftwatch.alerts.routes import ChangeFacts, Facts
from driftwatch.alerts.tables import Alert
from driftwatch.db.stored import row_id
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings

HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened to an alert. ``loud``: people must hear of it. ``rising``: it is worse than what they heard."""

    kind: str
    message: Message
    actor: str = "driftwatch"
    reason: str | None = None
    loud: bool = True
    rising: bool = False
    detail: Mapping[str, Any] | None = None


async def announce(session: AsyncSession, settings: Settings, alert: Alert, happening: Happening) -> None:
    """Write down what happened and tell of it, now or when what holds it is over."""
    alert_id = row_id(alert.id)
    held, last = await _held(session, settings, alert) if happening.loud else (None, False)
    detail = {**(happening.detail or {}), **({"held": held} if held else {})} or None
    event = await store.add_event(
        session, alert_id, happening.kind, actor=happening.actor, reason=happening.reason, detail=detail
    )
    if held is not None:
        await hold(session, alert, held)
        return
    about = await About.load(session, settings, alert)
    message = _with_limit(happening.message, settings.messages_per_hour) if last else happening.message
    notice = Notice(
        event=f"drift.{happening.kind}",
        group=delivery_group(event),
        ordering=str(alert_id),
        message=message,
        facts=about.facts(f"drift.{happening.kind}"),
        alert_id=alert_id,
        server_id=alert.server_id,
        loud=happening.loud,
        rising=happening.rising,
        parent=about.parent(message if last else None),
        thread=about.full_diff() if happening.kind in {"opened", "told"} else (),
        data=about.data(happening.actor, happening.reason),
    )
    await dispatch(session, notice)


async def hold(session: AsyncSession, alert: Alert, why: str) -> None:
    """Keep an alert's message back. The first reason stays."""
    if alert.held is None:
        alert.held, alert.held_at = why, await store.now(session)


async def reason_to_hold(session: AsyncSession, settings: Settings, server_id: int) -> tuple[str | None, int]:
    """Why a server's messages wait now (maintenance, rate), and how many more it may have within the hour."""
    if await quiet_store.maintained(session, server_id):
        return "maintenance", 0
    if not settings.messages_per_hour:
        return None, 2
    room = settings.messages_per_hour - await quiet_store.messages_within(session, server_id, HOUR)
    return ("rate", 0) if room <= 0 else (None, room)


async def _held(session: AsyncSession, settings: Settings, alert: Alert) -> tuple[str | None, bool]:
    if alert.held is not None:
        return alert.held, False
    why, room = await reason_to_hold(session, settings, alert.server_id)
    return why, room == 1


def _with_limit(message: Message, limit: int) -> Message:
    note = Paragraph("note", f"This is message {limit} about this server within an hour; more come as one summary.")
    return msgspec.structs.replace(message, paragraphs=(*message.paragraphs, note))


@dataclass(frozen=True, slots=True)
class About:
    """An alert with its server and every change that belongs to it."""

    alert: Alert
    server: Server
    subject: Subject
    told: tuple[Told, ...]

    @classmethod
    async def load(cls, session: AsyncSession, settings: Settings, alert: Alert) -> About:
        """Everything that messages and routes need to know of a drift alert."""
        await session.flush()
        server = await session.get_one(Server, alert.server_id)
        decisions = await store.decided(session, row_id(alert.id))
        told = [
            Told(view, decisions[view.id].line, decisions[view.id].outcome, decisions[view.id].severity)
            for view in await store.views(session, list(decisions))
        ]
        subject = Subject(server.name, row_id(server.id), server.owner, alert.changeset_id or 0, settings.public_url)
        return cls(alert, server, subject, tuple(told))

    @property
    def url(self) -> str:
        """The alert's permalink."""
        return f"{self.subject.public_url}/alerts/{self.alert.id}"

    @property
    def newest(self) -> tuple[Told, ...]:
        """Of every tool its last change."""
        return tuple({t.change.tool_id: t for t in self.told}.values())

    def facts(self, event: str) -> Facts:
        """What routes match on."""
        return Facts(
            kind=self.alert.kind,
            event=event,
            severity=self.alert.severity,
            server=self.server.name,
            tags=tuple(self.server.tags),
            owner=self.server.owner,
            changes=change_facts(self.told),
        )

    def parent(self, message: Message | None = None) -> Message:
        """How the alert's first message reads now; ``message`` replaces its words."""
        built = parent.current(
            self.subject,
            self.newest,
            alert_id=row_id(self.alert.id),
            title=self.alert.title,
            state=self.alert.state,
            by=self.alert.handled_by,
        )
        return built if message is None else msgspec.structs.replace(message, buttons=built.buttons)

    def full_diff(self) -> tuple[Message, ...]:
        """Everything that changed, for the thread."""
        return full_diff(self.told, parent.page_of(self.subject).url)

    def data(self, actor: str, reason: str | None) -> dict[str, Any]:
        """The typed event."""
        alert, server = self.alert, self.server
        return to_data(
            Drift(
                server=ServerData(row_id(server.id), server.name, server.owner, tuple(server.tags)),
                alert=AlertData(row_id(alert.id), alert.kind, alert.state, alert.severity, alert.title, self.url),
                changes=tuple(change_data(t, self.subject.public_url) for t in self.told),
                actor=actor,
                reason=reason,
            )
        )


def change_facts(told: Sequence[Told]) -> tuple[ChangeFacts, ...]:
    """The alerting changes as routes see them."""
    return tuple(
        ChangeFacts(
            tool=t.change.tool,
            kind=t.change.kind,
            verdict=t.change.verdict,
            announcement=t.change.announcement,
            reason=t.change.announcement_reason,
            direction=t.change.part,
            via=t.change.via,
        )
        for t in told
        if t.outcome == "alert"
    )
