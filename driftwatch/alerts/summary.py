"""Once a day: what changed and needed nobody at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import store
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.events import summary_of
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.notices import summary_message
from driftwatch.alerts.routes import Facts
from driftwatch.alerts.tables import DailySummary, Decision
from driftwatch.db.engine import run_sql
from driftwatch.history.said_read import spoke_anew
from driftwatch.settings import Settings

_COUNT_TOOLS: Final = text(
    "SELECT count(DISTINCT (c.server_id, t.name)) FROM change c JOIN tool t ON t.id = c.tool_id WHERE c.id = ANY(:ids)"
)
#: changes that are loaded for a summary; the others are only counted
_SHOWN: Final = 300


async def raise_summary(session: AsyncSession, settings: Settings) -> int:
    """Put the day's summary into the outbox when its hour has come; how many changes it tells of.

    A day without quiet changes, on which no server said anything new of itself, has no message. The first day only
    sets the mark: what was before it is history.
    """
    until = latest_hour(await store.now(session), settings.summary_hour_utc)
    since = (await session.execute(select(func.max(col(DailySummary.at))))).scalar()
    if since is not None and since >= until:
        return 0
    span = (since or until, until)
    quiet = await _decided(session, *span, col(Decision.outcome) == "summary")
    spoke = await spoke_anew(session, *span)
    mark = insert(DailySummary).values(day=until.date(), at=until, changes=len(quiet))
    marked = await session.execute(mark.on_conflict_do_nothing().returning(col(DailySummary.day)))
    if not marked.all() or not (quiet or spoke):
        return 0
    worded = await _decided(session, *span, col(Decision.line) == "wording-only")
    message = summary_message(
        until.date(),
        await store.views(session, quiet[-_SHOWN:]),
        total=await _tools(session, quiet),
        wording_only=await _tools(session, worded),
        spoke_anew=spoke,
        public_url=settings.public_url,
    )
    await dispatch(
        session,
        Notice(
            event="summary",
            group=f"summary-{until:%Y-%m-%d}",
            ordering="summary",
            message=message,
            facts=Facts("summary", "summary"),
            data=summary_of(message),
        ),
    )
    return len(quiet)


def latest_hour(now: datetime, hour: int) -> datetime:
    """The latest time, not after ``now``, at which a summary was due (UTC)."""
    now = now.astimezone(UTC)
    today = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    return today if today <= now else today - timedelta(days=1)


async def _decided(
    session: AsyncSession, since: datetime, until: datetime, condition: ColumnElement[bool]
) -> list[int]:
    """Changes of the time span whose newest decision is of some kind, oldest first."""
    later = aliased(Decision)
    newest = (
        ~select(later).where(col(later.change_id) == col(Decision.change_id), col(later.id) > col(Decision.id)).exists()
    )
    query = select(col(Decision.change_id)).where(
        col(Decision.at) > since, col(Decision.at) <= until, newest, condition
    )
    return list((await session.scalars(query.order_by(col(Decision.change_id)))).all())


async def _tools(session: AsyncSession, change_ids: list[int]) -> int:
    """How many tools changed: one that several kinds of clients see is one."""
    return int((await run_sql(session, _COUNT_TOOLS, {"ids": change_ids})).scalar_one())
