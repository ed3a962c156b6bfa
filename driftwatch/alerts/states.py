"""The life of an alert. Pure.

drift:         open <-> acknowledged -> accepted | settled | reverted; new drift opens it again
not-watching:  open -> acknowledged -> resolved
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from driftwatch.errors import ConflictError

State = Literal["open", "acknowledged", "accepted", "settled", "reverted", "resolved"]

OPEN: Final = frozenset({"open", "acknowledged"})

_DRIFT: Final[Mapping[str, frozenset[str]]] = {
    "open": frozenset({"acknowledged", "accepted", "settled", "reverted"}),
    "acknowledged": frozenset({"open", "accepted", "settled", "reverted"}),
    "accepted": frozenset({"open"}),
    "settled": frozenset({"open"}),
    "reverted": frozenset({"open"}),
}
_NOT_WATCHING: Final[Mapping[str, frozenset[str]]] = {
    "open": frozenset({"acknowledged", "resolved"}),
    "acknowledged": frozenset({"resolved"}),
}
_LIVES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {"drift": _DRIFT, "not-watching": _NOT_WATCHING}


def check(kind: str, current: str, wanted: State, *, handled_by: str | None = None) -> None:
    """Raises ConflictError, in words, unless an alert of this kind may go from ``current`` to ``wanted``."""
    if wanted in _LIVES.get(kind, {}).get(current, frozenset()):
        return
    by = f" by {handled_by}" if handled_by else ""
    if current == wanted:
        raise ConflictError(f"This alert is already {current}{by}.")
    if current in OPEN:
        raise ConflictError(f"An alert of kind {kind} cannot be {wanted}; it ends by itself.")
    raise ConflictError(f"This alert was {current}{by}; it cannot be {wanted} any more.", hint="Look at its history.")
