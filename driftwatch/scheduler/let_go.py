"""A failed poll that asks for the profile's stream to be closed, told to whichever process holds it."""

from __future__ import annotations

from typing import Final, Literal

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql

#: ``draining``: nothing accepts connections any more; ``unavailable``: somebody answers 502 or 503 for the server
Reason = Literal["draining", "unavailable", "unreachable"]

#: NOTIFY channel; the payload is "PROFILE REASON"
LET_GO: Final = "driftwatch_let_go"
_UNAVAILABLE: Final = frozenset({502, 503})
_TELL: Final = text("SELECT pg_notify(:channel, :payload)")


def let_go_reason(code: str, status: int | None) -> Reason | None:
    """Why a poll that failed like this asks us to close the stream; None: it does not.

    A server that drains waits for us before it stops, and a proxy's 502 or 503 may be all that is seen of that.
    """
    if code == "refused":
        return "draining"
    if status in _UNAVAILABLE:
        return "unavailable"
    return "unreachable" if code == "unreachable" else None


def whose_doing(reason: str) -> str:
    """``server`` or ``us``: who ended a stream that was let go for a reason (docs/adr/0009).

    Only a server that accepts no connection at all has surely ended what it had to say. Behind a 503 it may be alive,
    and a list_changed that came after we let go would be one that we did not hear.
    """
    return "server" if reason == "draining" else "us"


async def tell_to_let_go(session: AsyncSession, profile_id: int, reason: Reason) -> None:
    """Say it once this transaction is committed."""
    await run_sql(session, _TELL, {"channel": LET_GO, "payload": f"{profile_id} {reason}"})
