"""Alerts: what needs someone."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import (
    AcceptIn,
    AlertKind,
    AlertOut,
    AlertState,
    DeliveryOut,
    MuteAlertIn,
    ReasonIn,
    Severity,
)


class Alerts(Noun):
    """One per changeset, or per time in which we cannot see a server."""

    def every(
        self,
        *,
        state: AlertState = "needs-someone",
        server: int | None = None,
        kind: AlertKind | None = None,
        severity: Severity | None = None,
    ) -> Iterator[AlertOut]:
        """Alerts, newest first; those that need someone when nothing else is asked."""
        query = {"state": state, "server": server, "kind": kind, "severity": severity}
        return self._api.pages("/alerts", AlertOut, query)

    def get(self, alert_id: int) -> AlertOut:
        """One alert with its events."""
        return self._api.get("/alerts/{alert_id}", AlertOut, alert_id=alert_id)

    def deliveries(self, alert_id: int) -> list[DeliveryOut]:
        """Who was told, oldest first."""
        return self._api.get("/alerts/{alert_id}/deliveries", list[DeliveryOut], alert_id=alert_id)

    def acknowledge(self, alert_id: int, reason: str | None = None) -> AlertOut:
        """Say that you are on it; reminders stop."""
        body = ReasonIn(reason=reason)
        return self._api.post("/alerts/{alert_id}/acknowledge", AlertOut, body=body, alert_id=alert_id)

    def accept(self, alert_id: int, *, reason: str | None = None, tools: list[int] | None = None) -> AlertOut:
        """Make the new contracts the baseline; ``tools``: only these."""
        body = AcceptIn(reason=reason, tools=tools)
        return self._api.post("/alerts/{alert_id}/accept", AlertOut, body=body, alert_id=alert_id)

    def mute(self, alert_id: int, mute: MuteAlertIn) -> AlertOut:
        """No reminder and no repetition until then."""
        return self._api.post("/alerts/{alert_id}/mute", AlertOut, body=mute, alert_id=alert_id)
