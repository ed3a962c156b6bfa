"""Alerts: read them, acknowledge, accept, mute."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from driftwatch.alerts import actions, read
from driftwatch.web.api.acting import by
from driftwatch.web.api.convert import alert_out
from driftwatch.web.api.models import AcceptIn, AlertOut, MuteAlertIn, ReasonIn
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["alerts"])

AlertId = Annotated[int, Path(ge=1)]


@router.get("/alerts", summary="Alerts that need someone, worst first")
async def list_alerts(who: Reader, session: Transaction) -> list[AlertOut]:
    """Open and acknowledged alerts."""
    return [alert_out(alert) for alert in await read.open_alerts(session)]


@router.get("/alerts/{alert_id}", summary="One alert with its events")
async def get_alert(alert_id: AlertId, who: Reader, session: Transaction) -> AlertOut:
    """An alert in any state."""
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id}/acknowledge", summary="Say that you are on it")
async def acknowledge(
    alert_id: AlertId, request: Request, who: Writer, session: Transaction, body: ReasonIn | None = None
) -> AlertOut:
    """Reminders stop, the alert stays open."""
    reason = body.reason if body else None
    await actions.acknowledge(session, services_of(request).settings, by(request, who), alert_id, reason=reason)
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id}/accept", summary="Accept the new contracts as the baseline")
async def accept(
    alert_id: AlertId, request: Request, who: Writer, session: Transaction, body: AcceptIn | None = None
) -> AlertOut:
    """The new versions become the baseline; the alert closes when all its tools are accepted.

    A pinned server demands a reason.
    """
    given = body or AcceptIn()
    settings = services_of(request).settings
    await actions.accept(session, settings, by(request, who), alert_id, reason=given.reason, tools=given.tools)
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id}/mute", summary="Hear no more of what you know, for a while")
async def mute(alert_id: AlertId, request: Request, who: Writer, session: Transaction, body: MuteAlertIn) -> AlertOut:
    """No reminder and no repetition until then. A new change ends the mute early."""
    settings = services_of(request).settings
    await actions.mute_alert(session, settings, by(request, who), alert_id, until=body.until, reason=body.reason)
    return alert_out(await read.load_alert(session, alert_id))
