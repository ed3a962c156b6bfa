"""The policy with the lines people changed: for a server, a tag, or everything; the narrowest wins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from driftwatch.alerts.policy import DEFAULT_LINES, SEVERITIES, AlertOutcome, Line, Severity
from driftwatch.errors import InputError


@dataclass(frozen=True, slots=True)
class LineChange:
    """One line with another outcome or severity. Neither server nor tag: for everything."""

    line: str
    outcome: str
    severity: str | None
    by: str
    server_id: int | None = None
    tag: str | None = None

    @property
    def scope(self) -> str:
        """For whom it holds, in words."""
        if self.server_id is not None:
            return "for this server"
        return "for everything" if self.tag is None else f"for the tag {self.tag}"

    @property
    def _rank(self) -> int:
        return 2 if self.server_id is not None else 1 if self.tag is not None else 0


def lines_for(
    changes: Sequence[LineChange], *, server_id: int | None = None, tags: Sequence[str] = ()
) -> tuple[Line, ...]:
    """The lines that hold for a server, or, without one, for whatever nothing narrower is said of.

    Among several tags the one that comes first in the alphabet speaks.
    """
    meant = [c for c in changes if c.server_id in {None, server_id} and (c.tag is None or c.tag in tags)]
    narrowest: dict[str, LineChange] = {}
    for change in sorted(meant, key=lambda c: (c._rank, _reversed(c.tag))):
        narrowest[change.line] = change
    return tuple(_changed(line, narrowest.get(line.id)) for line in DEFAULT_LINES)


def check(line: str, outcome: str, severity: str | None) -> None:
    """Raises InputError for a line, outcome or severity there is not, or a severity that does not fit the outcome."""
    known = [each.id for each in DEFAULT_LINES]
    if line not in known:
        raise InputError(f"The policy has no line {line!r}.", hint=f"Its lines: {', '.join(known)}.")
    if outcome not in {"alert", "summary", "history"}:
        raise InputError(f"{outcome!r} is no outcome.", hint="Choose alert, summary or history.")
    if severity is not None and severity not in SEVERITIES:
        raise InputError(f"{severity!r} is no severity.", hint=f"Choose one of {', '.join(SEVERITIES)}.")
    if (outcome == "alert") != (severity is not None):
        raise InputError("An alert needs a severity, and nothing else has one.")


def _changed(line: Line, change: LineChange | None) -> Line:
    if change is None:
        return line
    words = f"{line.words} (changed {change.scope} by {change.by})"
    severity = cast("Severity | None", change.severity)
    return replace(line, words=words, outcome=cast("AlertOutcome", change.outcome), severity=severity)


def _reversed(tag: str | None) -> tuple[int, ...]:
    return tuple(-ord(char) for char in tag or "")
