"""Alerts: read them, acknowledge, accept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from driftwatch.alerts import lifecycle, read
from driftwatch.web.api.convert import alert_out
from driftwatch.web.api.models import AcceptIn, AlertOut, ReasonIn
from driftwatch.web.auth import store as auth_store
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer

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
    await lifecycle.acknowledge(session, alert_id, actor=who.actor, reason=reason)
    await _audit(session, request, who.actor, "acknowledge", alert_id, reason)
    return alert_out(await read.load_alert(session, alert_id))


@router.post("/alerts/{alert_id}/accept", summary="Accept the new contracts as the baseline")
async def accept(
    alert_id: AlertId, request: Request, who: Writer, session: Transaction, body: AcceptIn | None = None
) -> AlertOut:
    """The new versions become the baseline; the alert closes when all its tools are accepted.

    A pinned server demands a reason.
    """
    given = body or AcceptIn()
    await lifecycle.accept(session, alert_id, actor=who.actor, reason=given.reason, tools=given.tools)
    await _audit(session, request, who.actor, "accept", alert_id, given.reason)
    return alert_out(await read.load_alert(session, alert_id))


async def _audit(
    session: Transaction, request: Request, actor: str, action: str, alert_id: int, reason: str | None
) -> None:
    await auth_store.write_audit(
        session,
        actor=actor,
        action=f"alert.{action}",
        subject=f"alert/{alert_id}",
        after={"reason": reason},
        request_id=request.state.request_id,
    )
