"""Does this change break a client that holds the old contract? Pure: no I/O, no fetching, no clock but budgets."""

from __future__ import annotations

from driftwatch.classify.compare import classify
from driftwatch.classify.verdict import CLASSIFIER_VERSION, DEFAULT_POLICY, Finding, Policy, Verdict

__all__ = ["CLASSIFIER_VERSION", "DEFAULT_POLICY", "Finding", "Policy", "Verdict", "classify"]
