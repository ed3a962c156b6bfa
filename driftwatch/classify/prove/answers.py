"""What a search can end with: a value, nothing (proved), or a reason why we do not know."""

from __future__ import annotations

from typing import Any


class Found:
    """A value in P and outside N."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Unknown:
    """No answer. ``candidate`` is a value that may be a witness; ``pointer`` leads to the place, from here."""

    __slots__ = ("candidate", "pointer", "reason")

    def __init__(self, reason: str, pointer: str = "", candidate: Found | None = None) -> None:
        self.reason = reason
        self.pointer = pointer
        self.candidate = candidate

    def below(self, *steps: str) -> Unknown:
        """The same, seen from the schema around it."""
        path = "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)
        return Unknown(self.reason, path + self.pointer, self.candidate)


#: None means: proved that there is no such value
Result = Found | Unknown | None


def better(held: Unknown | None, new: Unknown) -> Unknown:
    """The more useful of two unknowns: the one with a candidate, else the first."""
    if held is None or (held.candidate is None and new.candidate is not None):
        return new
    return held
