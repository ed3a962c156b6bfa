"""Changes as the history room hands them on, made by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from driftwatch.history.views import ChangeView, FindingView, JudgementView, PartView

WINDOW = (datetime(2026, 11, 30, 14, 2, tzinfo=UTC), datetime(2026, 11, 30, 14, 7, tzinfo=UTC))
_ORDER = ("compatible", "undecided", "breaking", "invalid")


def finding(rule: str, level: str, message: str = "`status` may now be null") -> FindingView:
    return FindingView(rule, "/properties/status", level, "widens", message)


def part(
    name: str = "output",
    verdict: str = "compatible",
    *findings: FindingView,
    via: str | None = None,
    witness: Any = None,
    reason: str | None = None,
) -> PartView:
    return PartView(name, verdict, via, reason, witness, findings)


BROKEN_OUTPUT = part(
    "output",
    "breaking",
    finding("output-null-added", "breaking"),
    via="declared",
    witness={"value": {"id": "A-1041", "status": None}},
)
BROKEN_INPUT = part(
    "input",
    "breaking",
    finding("input-property-required-added", "breaking", "callers must now send `region`"),
    via="declared",
    witness={"value": {"query": ""}},
)
UNDECLARED_INPUT = part(
    "input",
    "breaking",
    finding("input-optional-property-added", "info", "callers may now send `cursor`"),
    via="undeclared-key",
    witness={"value": {"cursor": 0}},
)


def change(*parts: PartView, fact: str | None = None, evidence: Any = None, **fields: Any) -> ChangeView:
    """A judged change of orders / get_order, v3 → v4, silent because nothing is declared, unless told otherwise."""
    worst = max(parts, key=lambda p: _ORDER.index(p.verdict), default=None)
    announcement = fields.setdefault("announcement", "silent")
    reason = fields.setdefault("announcement_reason", "not-declared" if announcement == "silent" else None)
    defaults: dict[str, Any] = {
        "id": 7,
        "changeset_id": 3,
        "server_id": 1,
        "server": "orders",
        "profile_id": 1,
        "era": "modern",
        "tool_id": 11,
        "tool": "get_order",
        "kind": "changed",
        "from_version": 3,
        "to_version": 4,
        "verdict": worst.verdict if worst else "compatible",
        "via": worst.via if worst else None,
        "part": worst.part if worst else None,
        "window": WINDOW,
        "recorded_at": WINDOW[1],
        "state": "judged",
        "facts": {},
        "parts": parts,
        "judgement": JudgementView(str(announcement), reason, fact, 3, WINDOW[1], evidence or {}),
    }
    return ChangeView(**{**defaults, **fields})
