"""Who is calling and what they may do. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from driftwatch.errors import ForbiddenError

Scope = Literal["read", "write", "check", "push", "admin"]

#: what each scope includes besides itself
IMPLIES: Final[dict[str, frozenset[str]]] = {
    "admin": frozenset({"read", "write", "check", "push", "admin"}),
    "write": frozenset({"read", "write", "check", "push"}),
    "push": frozenset({"push"}),
    "check": frozenset({"check"}),
    "read": frozenset({"read"}),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or a script behind a valid token. ``actor`` is what the audit log and alerts show."""

    actor: str
    token_id: int
    scopes: frozenset[str]

    def may(self, scope: Scope) -> bool:
        """True when one of the token's scopes includes ``scope``."""
        return any(scope in IMPLIES.get(own, frozenset()) for own in self.scopes)

    def demand(self, scope: Scope) -> None:
        """Raise ForbiddenError unless the caller may."""
        if not self.may(scope):
            raise ForbiddenError(
                f"this needs a token with the scope {scope!r}; yours has {', '.join(sorted(self.scopes)) or 'none'}",
                hint="ask an admin for a token with that scope",
            )
