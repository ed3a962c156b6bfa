"""A failed poll that asks for the profile's stream to be closed, told to whichever process holds it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql

#: NOTIFY channel; the payload is "PROFILE BY", BY being ``server`` or ``us``
LET_GO: Final = "driftwatch_let_go"
_DRAINING: Final = frozenset({502, 503})
_TELL: Final = text("SELECT pg_notify(:channel, :payload)")


def let_go_reason(code: str, status: int | None) -> str | None:
    """Why a poll that failed like this asks us to close the stream; None: it does not.

    ``draining``: the server itself takes no more clients, and would wait for us before it stops.
    """
    if code == "refused" or status in _DRAINING:
        return "draining"
    return "unreachable" if code == "unreachable" else None


async def tell_to_let_go(session: AsyncSession, profile_id: int, *, by_server: bool) -> None:
    """Say it once this transaction is committed. ``by_server``: the end of the stream is the server's doing."""
    payload = f"{profile_id} {'server' if by_server else 'us'}"
    await run_sql(session, _TELL, {"channel": LET_GO, "payload": payload})
