"""Notices made by hand."""

from __future__ import annotations

from driftwatch.alerts.message import Message
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.routes import Facts


def notice(message: Message, *, group: str, ordering: str, alert_id: int | None = None) -> Notice:
    return Notice("test", group, ordering, message, Facts("test", "test"), alert_id=alert_id)
