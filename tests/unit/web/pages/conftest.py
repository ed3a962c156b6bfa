"""Changes as history hands them over, in a few words each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.alerts.views import AlertChange, AlertView, DecisionView, DeliveryView
from driftwatch.history.views import ChangeView, FindingView, JudgementView, PartView

NOW = datetime(2026, 11, 30, 14, 9, 21, tzinfo=UTC)
END = datetime(2026, 11, 30, 14, 7, 8, tzinfo=UTC)
START = END - timedelta(seconds=297)

NULL = FindingView("output-null-added", "/properties/status", "breaking", "widens", "`status` may now be null")
ADDED = FindingView("output-property-added", "/properties/url", "info", "none", "`url` is new in results")


def breaking_part(**more: Any) -> PartView:
    values: dict[str, Any] = {
        "part": "output",
        "verdict": "breaking",
        "via": "declared",
        "reason": None,
        "witness": {"value": {"id": "A-1041", "status": None}},
        "findings": (NULL, ADDED),
        "clients": {"refusal": 'null is not of type "string"', "refused_at": "/status"},
    }
    return PartView(**(values | more))


def evidence(**more: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "window": [START.timestamp(), END.timestamp()],
        "now": NOW.timestamp(),
        "declared": False,
        "listening": "off",
        "streams": [],
        "notifications": [],
        "restarts": [],
    }
    return values | more


def judged(
    answer: str, reason: str | None = None, fact: str | None = None, rule: int = 3, **more: Any
) -> JudgementView:
    return JudgementView(answer, reason, fact, rule, NOW, evidence(**more))


def make_change(**more: Any) -> ChangeView:
    values: dict[str, Any] = {
        "id": 7,
        "changeset_id": 3,
        "server_id": 1,
        "server": "orders",
        "profile_id": 1,
        "era": "modern",
        "tool_id": 5,
        "tool": "get_order",
        "kind": "changed",
        "from_version": 3,
        "to_version": 4,
        "verdict": "breaking",
        "via": "declared",
        "part": "output",
        "announcement": "silent",
        "announcement_reason": "not-declared",
        "window": (START, END),
        "recorded_at": END,
        "state": "judged",
        "facts": {},
        "parts": (breaking_part(),),
        "judgement": judged("silent", "not-declared"),
    }
    return ChangeView(**(values | more))


def make_alert(*changes: AlertChange, **more: Any) -> AlertView:
    values: dict[str, Any] = {
        "id": 9,
        "kind": "drift",
        "server_id": 1,
        "server": "orders",
        "changeset_id": 3,
        "state": "open",
        "severity": "critical",
        "title": "🔇✕ Silent breaking change · orders / get_order",
        "opened_at": END,
        "settles_at": None,
        "closed_at": None,
        "handled_by": None,
        "changes": changes,
    }
    return AlertView(**(values | more))


def alert_change(**more: Any) -> AlertChange:
    values: dict[str, Any] = {
        "change_id": 7,
        "changeset_id": 3,
        "tool_id": 5,
        "tool": "get_order",
        "era": "modern",
        "kind": "changed",
        "from_version": 3,
        "to_version": 4,
        "verdict": "breaking",
        "part": "output",
        "announcement": "silent",
        "outcome": "alert",
    }
    return AlertChange(**(values | more))


def make_decision(outcome: str = "alert", line: str = "silent-break") -> DecisionView:
    path = (
        {"line": "invalid", "matched": False, "words": "client SDKs refuse the new definition"},
        {"line": line, "matched": True, "words": "it breaks clients and nothing announced it"},
    )
    return DecisionView(7, NOW, outcome, line, "critical" if outcome == "alert" else None, path, 9)


def make_delivery(state: str = "delivered", **more: Any) -> DeliveryView:
    values: dict[str, Any] = {
        "id": 1,
        "alert_id": 9,
        "channel_id": 1,
        "channel": "#payments",
        "channel_kind": "slack-webhook",
        "event": "drift.opened",
        "form": "full",
        "state": state,
        "tries": 1,
        "created_at": END,
        "next_try_at": NOW + timedelta(seconds=30),
        "delivered_at": NOW if state == "delivered" else None,
    }
    return DeliveryView(**(values | more))


class Samples:
    """Everything above under one name: conftest modules cannot be imported."""

    now, start, end = NOW, START, END
    part = staticmethod(breaking_part)
    change = staticmethod(make_change)
    judged = staticmethod(judged)
    alert = staticmethod(make_alert)
    alert_change = staticmethod(alert_change)
    decision = staticmethod(make_decision)
    delivery = staticmethod(make_delivery)


@pytest.fixture
def sample() -> type[Samples]:
    """Builders of sample data."""
    return Samples


@pytest.fixture
def change() -> Callable[..., ChangeView]:
    """Build a change."""
    return make_change
