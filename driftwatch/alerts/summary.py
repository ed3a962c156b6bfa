"""Once a day: what changed and needed nobody at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import func, select
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
from driftwatch.history.said_read import spoke_anew
from driftwatch.settings import Settings

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
    quiet, worded = await _decided(session, since or until, until)
    spoke = await spoke_anew(session, since or until, until)
    mark = insert(DailySummary).values(day=until.date(), at=until, changes=len(quiet))
    marked = await session.execute(mark.on_conflict_do_nothing().returning(col(DailySummary.day)))
    if not marked.all() or not (quiet or spoke):
        return 0
    message = summary_message(
        until.date(),
        await store.views(session, quiet[-_SHOWN:]),
        total=len(quiet),
        wording_only=worded,
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


async def _decided(session: AsyncSession, since: datetime, until: datetime) -> tuple[list[int], int]:
    """Changes of the time span whose newest decision is the summary, oldest first; how many changed words only."""
    later = aliased(Decision)
    newest = (
        ~select(later).where(col(later.change_id) == col(Decision.change_id), col(later.id) > col(Decision.id)).exists()
    )
    span = (col(Decision.at) > since, col(Decision.at) <= until, newest)
    quiet = select(col(Decision.change_id)).where(*span, col(Decision.outcome) == "summary")
    worded = select(func.count()).select_from(Decision).where(*span, col(Decision.line) == "wording-only")
    ids = (await session.scalars(quiet.order_by(col(Decision.change_id)))).all()
    return list(ids), (await session.execute(worded)).scalar_one()
