"""Buttons pressed in Slack, done in a job: Slack was answered already, so what goes wrong is said in the thread.

Accept… only opens a dialog; what is filled in there comes back as a press of its own and is then done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol

import structlog
from sqlalchemy import select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, channel_store, parent, states, store
from driftwatch.alerts.actions import By
from driftwatch.alerts.announce import About
from driftwatch.alerts.channels.slack.app import SlackApps
from driftwatch.alerts.channels.slack.dialog import ACCEPT_DIALOG, Origin, accept_dialog
from driftwatch.alerts.channels.slack.session import SlackSession
from driftwatch.alerts.default_channel import Box
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

#: a press as a job carries it: action, alert, conversation, ts, user, name, id (of the press); of a button also
#: trigger, which opens a dialog; of a dialog also reason
Press = Mapping[str, str | int]


class PressServices(Protocol):
    """The part of the process's services that presses need."""

    @property
    def db(self) -> Database:
        """The connection pool."""

    @property
    def settings(self) -> Settings:
        """Every setting."""

    @property
    def secrets(self) -> Box:
        """The box that sealed the channels' configuration."""


class DialogError(InputError):
    """Slack did not open the dialog."""

    code = "no-dialog"


async def run(services: PressServices, press: Press) -> None:
    """Do what was pressed, or say in the thread why not. A press that belongs to none of our messages does nothing."""
    try:
        async with services.db.transaction() as session:
            thread = await _thread(session, press)
            if thread is None:
                log.warning("a button of no message of ours was pressed", alert=press.get("alert"))
                return
            dialog = await _do(session, services.settings, press, thread)
        if dialog is not None:
            await _open(services, press, dialog)
    except InputError as error:
        async with services.db.transaction() as session:
            await _explain(session, services.settings, press, error)


def who(press: Press) -> str:
    """The actor of a press, as alerts and the audit log show it."""
    return f"{safe_text(str(press['name']), keep_newlines=False)[:80]} (Slack {str(press['user'])[:40]})"


@dataclass(frozen=True, slots=True)
class _Dialog:
    """What is to be opened, and the app that may open it."""

    view: Mapping[str, Any]
    sealed: bytes


async def _do(session: AsyncSession, settings: Settings, press: Press, thread: AlertThread) -> _Dialog | None:
    by, alert_id = By(who(press), str(press["id"])), int(press["alert"])
    action = str(press["action"])
    if action == parent.ACCEPT:
        return await _dialog(session, settings, alert_id, thread)
    if action == ACCEPT_DIALOG:
        await actions.accept(session, settings, by, alert_id, reason=str(press.get("reason", "")))
    elif action == parent.ACKNOWLEDGE:
        await actions.acknowledge(session, settings, by, alert_id)
    elif action == parent.MUTE:
        until = await store.now(session) + MUTE_FOR
        await actions.mute_alert(session, settings, by, alert_id, until=until)
    else:
        log.info("nothing to do for this button", action=action)
    return None


async def _dialog(session: AsyncSession, settings: Settings, alert_id: int, thread: AlertThread) -> _Dialog:
    """The dialog that asks why. Raises ConflictError for an alert that cannot be accepted any more."""
    alert = await store.lock_alert(session, alert_id)
    states.check(alert.kind, alert.state, "accepted", handled_by=alert.handled_by)
    about = await About.load(session, settings, alert)
    origin = Origin(alert_id, thread.conversation, thread.ts)
    view = accept_dialog(parent.acceptance(about.newest), origin, pinned=about.server.mode == "pinned")
    return _Dialog(view, (await channel_store.lock_channel(session, thread.channel_id)).config)


async def _open(services: PressServices, press: Press, dialog: _Dialog) -> None:
    slack = SlackApps(SlackSession(services.settings), services.settings.slack_api_url)
    try:
        config = services.secrets.open(dialog.sealed)
        answer = await slack.open_dialog(config, str(press.get("trigger", "")), dialog.view)
    finally:
        await slack.close()
    if answer.outcome != "delivered":
        raise DialogError(
            f"Slack did not open the dialog ({answer.error}).", hint="Press again, or accept on the page."
        )


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
