from __future__ import annotations

from driftwatch.cli.imports import outcome_line
from driftwatch.web.api.models import BatchOutcome

REGISTERED = {"status": "registered", "name": "orders", "url": "https://mcp.example.com/mcp", "problem": None}


def test_a_dry_run_claims_no_registration() -> None:
    assert outcome_line(BatchOutcome(**REGISTERED)) == "✓  registered  orders  https://mcp.example.com/mcp"
    assert (
        outcome_line(BatchOutcome(**REGISTERED), dry_run=True) == "✓  readable    orders  https://mcp.example.com/mcp"
    )


def test_a_refusal_says_why_and_steers_no_terminal() -> None:
    refused = {
        **REGISTERED,
        "status": "refused",
        "name": "a\x1b[31m",
        "problem": {"code": "timeout", "message": "late"},
    }
    line = outcome_line(BatchOutcome(**refused), dry_run=True)
    assert line.startswith("✕  refused     a\\u{1B}[31m")
    assert line.endswith("(timeout: late)")
