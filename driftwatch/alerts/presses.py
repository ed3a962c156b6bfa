"""Buttons pressed in Slack, done in a job: Slack was answered already, so what goes wrong is said in the thread."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Protocol

import structlog
from sqlalchemy import select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, channel_store, parent, store
from driftwatch.alerts.actions import By
from driftwatch.alerts.announce import About
from driftwatch.alerts.dispatch import send_to
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.route_tables import AlertThread
from driftwatch.alerts.routes import Destination
from driftwatch.db.engine import Database
from driftwatch.errors import InputError
from driftwatch.safe_text import safe_text
from driftwatch.settings import Settings

log = structlog.get_logger(__name__)

MUTE_FOR: Final = timedelta(hours=24)

#: a press as a job carries it: action, alert, conversation, ts, user, name, id (of the press)
Press = Mapping[str, str | int]


class PressServices(Protocol):
    """The part of the process's services that presses need."""

    @property
    def db(self) -> Database:
        """The connection pool."""

    @property
    def settings(self) -> Settings:
        """Every setting."""


async def run(services: PressServices, press: Press) -> None:
    """Do what was pressed, or say in the thread why not. A press that belongs to none of our messages does nothing."""
    try:
        async with services.db.transaction() as session:
            thread = await _thread(session, press)
            if thread is None:
                log.warning("a button of no message of ours was pressed", alert=press.get("alert"))
                return
            await _do(session, services.settings, press)
    except InputError as error:
        async with services.db.transaction() as session:
            await _explain(session, services.settings, press, error)


def who(press: Press) -> str:
    """The actor of a press, as alerts and the audit log show it."""
    return f"{safe_text(str(press['name']), keep_newlines=False)[:80]} (Slack {str(press['user'])[:40]})"


async def _do(session: AsyncSession, settings: Settings, press: Press) -> None:
    by, alert_id = By(who(press), str(press["id"])), int(press["alert"])
    action = str(press["action"])
    if action == parent.ACKNOWLEDGE:
        await actions.acknowledge(session, settings, by, alert_id)
    elif action == parent.ACCEPT:
        await actions.accept(session, settings, by, alert_id)
    elif action == parent.MUTE:
        until = await store.now(session) + MUTE_FOR
        await actions.mute_alert(session, settings, by, alert_id, until=until)
    else:
        log.info("nothing to do for this button", action=action)


async def _thread(session: AsyncSession, press: Press) -> AlertThread | None:
    query = select(AlertThread).where(
        col(AlertThread.alert_id) == int(press["alert"]),
        col(AlertThread.conversation) == str(press["conversation"]),
        col(AlertThread.ts) == str(press["ts"]),
    )
    return (await session.scalars(query.limit(1))).first()


async def _explain(session: AsyncSession, settings: Settings, press: Press, error: InputError) -> None:
    """Say in the alert's thread why a press did nothing."""
    thread = await _thread(session, press)
    if thread is None:
        return
    alert = await store.lock_alert(session, int(press["alert"]))
    about = await About.load(session, settings, alert)
    hint = f" {error.hint}" if error.hint else ""
    message = parent.line(f"{who(press)}: {error.message}{hint}".rstrip("."), about.subject)
    notice = Notice(
        event="drift.refused",
        group=f"press-{press['id']}",
        ordering=str(alert.id),
        message=message,
        facts=about.facts("drift.refused"),
        alert_id=alert.id,
    )
    channel = await channel_store.lock_channel(session, thread.channel_id)
    told = Destination(thread.channel_id, channel.name, channel.kind, True, "", "an answer to a button")
    await send_to(session, notice, told, has_parent=True)
