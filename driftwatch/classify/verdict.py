"""The answer of the classifier and its vocabulary. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

#: stored beside every assessment; another version may answer otherwise, so old answers can be made again
CLASSIFIER_VERSION: Final = "2"

Outcome = Literal["compatible", "breaking", "undecided", "invalid"]
Direction = Literal["input", "output"]
Root = Literal["any", "object"]
Via = Literal["declared", "undeclared-key", "unsafe-number"]
Level = Literal["breaking", "warning", "info", "annotation"]
Effect = Literal["widens", "narrows", "both", "none"]

#: invalid > breaking > undecided > compatible: a change takes the worst verdict of its parts
SEVERITY: Final[dict[str, int]] = {"compatible": 0, "undecided": 1, "breaking": 2, "invalid": 3}


@dataclass(frozen=True, slots=True)
class Policy:
    """How schemas are read. ``formats``: assert ``format`` (no specification-true client does)."""

    formats: bool = False
    max_steps: int = 20_000
    max_seconds: float = 2.0


DEFAULT_POLICY: Final = Policy()


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule id at a JSON pointer into the schema, with words for people; ``witness`` is local to the pointer."""

    rule: str
    pointer: str
    level: Level
    effect: Effect
    message: str
    witness: Any = None
    has_witness: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the classifier says about one pair of schemas.

    ``witness`` is the raw value and may be JSON null, so ask ``has_witness``; ``witness_absent`` is the value
    "no structuredContent". ``via``: which kind of value proves a break. ``reason``: why undecided, invalid, or
    (``repaired``, ``schema-added``) why compatible. ``side``: which schema is invalid ("old" | "new").
    ``dialects``: the dialect each side was read in.
    """

    outcome: Outcome
    direction: Direction
    witness: Any = None
    has_witness: bool = False
    witness_absent: bool = False
    via: Via | None = None
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    pointer: str | None = None
    side: str | None = None
    dialects: tuple[str | None, str | None] = (None, None)
    refusal: str | None = None
    """The refusing side's validator message for the witness, e.g. ``/status: null is not of type "string"``."""
    refused_at: str | None = None
    """JSON pointer into the witness where it is refused."""
    needs_format_assertion: bool = False
    """Compatible, but it breaks clients that assert ``format`` (TypeScript ones do; the specification does not)."""
    details: dict[str, Any] = field(default_factory=dict)
