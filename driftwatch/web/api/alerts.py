"""Alerts: read them, acknowledge, accept, mute."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from driftwatch.alerts import actions, delivery_read, read
from driftwatch.alerts.read import NEEDS_SOMEONE, AlertFilter
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.acting import by
from driftwatch.web.api.alerting_shapes import delivery_out
from driftwatch.web.api.convert import alert_out
from driftwatch.web.api.models import (
    AcceptIn,
    AlertKind,
    AlertOut,
    AlertState,
    DeliveryOut,
    MuteAlertIn,
    Page,
    ReasonIn,
    Severity,
)
from driftwatch.web.api.params import Cursor, Limit, RowId, ServerId
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["alerts"])

State = Annotated[AlertState, Query(description="`needs-someone`: open or acknowledged; `any`: history too.")]


@router.get("/alerts", summary="Alerts, newest first; those that need someone when nothing else is asked")
async def list_alerts(
    who: Reader,
    session: Transaction,
    state: State = "needs-someone",
    server: ServerId = None,
    kind: AlertKind | None = None,
    severity: Severity | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[AlertOut]:
    """All filters must hold. What happened to an alert is on the alert itself."""
    states = {"needs-someone": NEEDS_SOMEONE, "any": ()}.get(state, (state,))
    wanted = AlertFilter(server, states, kind, severity)
    found = await read.list_alerts(session, wanted, before=cursors.decode(cursor), limit=limit + 1)
    return Page(items=[alert_out(alert) for alert in found[:limit]], next=cursors.after(found, limit))


@router.get("/alerts/{alert_id:int}", summary="One alert with its events")
async def get_alert(alert_id: RowId, who: Reader, session: Transaction) -> AlertOut:
    """An alert in any state, with the changes it is about."""
    return alert_out(await read.load_alert(session, alert_id))


@router.get("/alerts/{alert_id:int}/deliveries", summary="Who was told about an alert")
async def list_alert_deliveries(alert_id: RowId, who: Reader, session: Transaction) -> list[DeliveryOut]:
    """Oldest first, with every attempt; also messages that tell of several alerts."""
    await read.load_alert(session, alert_id)
    return [delivery_out(found) for found in await delivery_read.deliveries_for_alert(session, alert_id)]


@router.post("/alerts/{alert_id:int}/acknowledge", summary="Say that you are on it")
async def acknowledge_alert(
    alert_id: RowId, request: Request, who: Writer, session: Transaction, body: ReasonIn | None = None
) -> AlertOut:
    """Reminders stop, the alert stays open."""
    reason = body.reason if body else None
    await actions.acknowledge(session, services_of(request).settings, by(request, who), alert_id, reason=reason)
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id:int}/accept", summary="Accept the new contracts as the baseline")
async def accept_alert(
    alert_id: RowId, request: Request, who: Writer, session: Transaction, body: AcceptIn | None = None
) -> AlertOut:
    """The new versions become the baseline; the alert closes when all its tools are accepted.

    A pinned server demands a reason.
    """
    given = body or AcceptIn()
    settings = services_of(request).settings
    await actions.accept(session, settings, by(request, who), alert_id, reason=given.reason, tools=given.tools)
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id:int}/mute", summary="Hear no more of what you know, for a while")
async def mute_alert(
    alert_id: RowId, request: Request, who: Writer, session: Transaction, body: MuteAlertIn
) -> AlertOut:
    """No reminder and no repetition until then. A new change ends the mute early."""
    settings = services_of(request).settings
    await actions.mute_alert(session, settings, by(request, who), alert_id, until=body.until, reason=body.reason)
    return alert_out(await read.load_alert(session, alert_id))
