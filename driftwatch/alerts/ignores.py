"""What people asked to ignore, taken out of a change before the policy sees it. Pure.

An ignore takes findings away. Where nothing that breaks is left of a part, the part counts as compatible; a part with
nothing left is gone. Nothing is removed from history: only the policy looks at the reduced change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from driftwatch.history.views import ChangeView, FindingView, PartView

_ORDER: Final = ("compatible", "undecided", "breaking", "invalid")


@dataclass(frozen=True, slots=True)
class Ignore:
    """One ignore rule. A field that is None is open; ``pointer`` covers everything below it too."""

    id: int
    reason: str
    server_id: int | None = None
    tool: str | None = None
    rule: str | None = None
    pointer: str | None = None

    def meets(self, change: ChangeView) -> bool:
        """True when it may say something about this change."""
        return self.server_id in {None, change.server_id} and self.tool in {None, change.tool}

    def covers(self, finding: FindingView) -> bool:
        """True for a finding it takes away."""
        return self.rule in {None, finding.rule} and (self.pointer is None or _below(finding.pointer, self.pointer))

    def covers_whole(self, change: ChangeView) -> bool:
        """True when nothing of the change is left: it names no finding, or the coming or going of the tool itself."""
        if self.pointer is not None:
            return False
        return self.rule is None or (change.kind != "changed" and self.rule == f"tool-{change.kind}")


def reduce(change: ChangeView, ignores: Sequence[Ignore]) -> tuple[ChangeView | None, tuple[Ignore, ...]]:
    """The change as the policy shall see it, None when nothing is left of it, and the ignores that took something."""
    meeting = [ignore for ignore in ignores if ignore.meets(change)]
    whole = [ignore for ignore in meeting if ignore.covers_whole(change)]
    if whole:
        return None, tuple(whole[:1])
    used = tuple(i for i in meeting if any(i.covers(f) for p in change.parts for f in p.findings))
    if not used:
        return change, ()
    parts = tuple(left for left in (_without(part, used) for part in change.parts) if left is not None)
    if not parts:
        return None, used
    worst = max(parts, key=lambda part: _ORDER.index(part.verdict) if part.verdict in _ORDER else 0)
    return replace(change, parts=parts, verdict=worst.verdict, via=worst.via, part=worst.part), used


def _without(part: PartView, ignores: Sequence[Ignore]) -> PartView | None:
    left = tuple(f for f in part.findings if not any(ignore.covers(f) for ignore in ignores))
    if len(left) == len(part.findings):
        return part
    if not left:
        return None
    if any(f.level in {"breaking", "warning"} for f in left):
        return replace(part, findings=left)
    return replace(part, findings=left, verdict="compatible", via=None, witness=None)


def _below(pointer: str, top: str) -> bool:
    return pointer == top or pointer.startswith(top.rstrip("/") + "/")
