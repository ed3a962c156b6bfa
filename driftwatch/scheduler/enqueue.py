"""The kinds of jobs and how they are enqueued: on the caller's connection, in the caller's transaction.

Jobs are hints, claims and states carry the truth: a poll job whose token is gone does nothing, an assess job whose
changes are assessed does nothing, and whatever a lost job left undone is due again (polls) or swept (assessments).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import procrastinate
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import raw_connection

POLL: Final = "poll"
ASSESS: Final = "assess"
PRESS: Final = "press"
#: what was found is told before more is looked for
_PRIORITY: Final = {POLL: 0, ASSESS: 10, PRESS: 20}

#: only ever enqueues, so its own connector is never opened
_app: Final = procrastinate.App(connector=procrastinate.PsycopgConnector())


async def defer_polls(session: AsyncSession, batches: Mapping[UUID, Sequence[int]]) -> None:
    """One poll job per claimed batch (claim token → profile ids)."""
    await _defer(session, POLL, [{"token": str(token), "profile_ids": list(ids)} for token, ids in batches.items()])


async def defer_assessments(session: AsyncSession, change_ids: Iterable[int]) -> None:
    """One assess job for these changes; none for none."""
    ids = list(change_ids)
    await _defer(session, ASSESS, [{"change_ids": ids}] if ids else [])


async def defer_press(session: AsyncSession, press: Mapping[str, str | int]) -> None:
    """One job for a button that was pressed in Slack: see alerts.presses."""
    await _defer(session, PRESS, [{"press": dict(press)}])


async def _defer(session: AsyncSession, task: str, arguments: list[dict[str, Any]]) -> None:
    if not arguments:
        return
    await session.flush()
    connection = await raw_connection(session)
    deferrer = _app.configure_task(task, queue=task, priority=_PRIORITY[task], connection=connection)
    await deferrer.batch_defer_async(*arguments)
