"""SQL of what we could hear of a profile: streams, the state of listening, notifications and how they are spent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast

from sqlalchemy import text
from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.announcement.evidence import Constants, Listening
from driftwatch.db.engine import run_sql
from driftwatch.history import evidence as tables
from driftwatch.history.evidence import Notification, StreamInterval
from driftwatch.history.views import Hearing
from driftwatch.scheduler.tables import ProfileState

#: the last of the looks that follow a notification comes this long after it
FOLLOWED: Final = timedelta(seconds=30)
#: more unanswered notifications than this within ten minutes make a server noisy
NOISE: Final = 10
#: what the server page tells of the past
LOOK_BACK: Final = timedelta(days=90)

# Every look up to 30 s later saw the old list, and nothing that happened in reach still waits for an answer. What a
# change in reach did not need goes to its deploy as well: it is no notification without a change.
_SPEND: Final = text("""
UPDATE notification n SET spent_at = clock_timestamp(), spent_by = (
    SELECT max(c.changeset_id) FROM change c
    WHERE c.profile_id = n.profile_id AND c.announcement = 'announced'
      AND n.at BETWEEN c.window_start - make_interval(secs => :lead) AND c.window_end + make_interval(secs => :lag))
FROM profile_state s
WHERE n.profile_id = ANY(:profiles) AND n.spent_at IS NULL AND s.profile_id = n.profile_id
  AND s.last_complete_sent_at >= n.at + :followed
  AND NOT EXISTS (
    SELECT 1 FROM candidate d WHERE d.profile_id = n.profile_id AND d.prior_sent_at < n.at + :followed)
  AND NOT EXISTS (
    SELECT 1 FROM change c
    WHERE c.profile_id = n.profile_id AND c.window_start < n.at + :followed
      AND c.window_end + make_interval(secs => :lag) >= n.at
      AND (c.announcement IS NULL OR c.announcement = 'pending'))
RETURNING n.profile_id, n.spent_by
""")

_NOISY: Final = text("""
UPDATE profile_state s SET noisy_until = now() + interval '1 hour'
WHERE s.profile_id = ANY(:profiles) AND :noise < (
    SELECT count(*) FROM notification n
    WHERE n.profile_id = s.profile_id AND n.at > now() - interval '10 minutes'
      AND n.spent_at IS NOT NULL AND n.spent_by IS NULL AND n.source <> 'start-up')
""")

_WAITING: Final = text("""
SELECT DISTINCT n.profile_id FROM notification n
WHERE n.spent_at IS NULL AND n.at < now() - CAST(:followed AS interval) LIMIT 500
""")


@dataclass(frozen=True, slots=True)
class Heard:
    """Whether we could listen at a moment, and why not."""

    state: Listening
    reason: str | None = None


async def streams(session: AsyncSession, profile_id: int, start: datetime, end: datetime) -> Sequence[StreamInterval]:
    """The stretches that may prove something about the time from ``start`` to ``end``."""
    proves = (col(StreamInterval.verified_until) >= start) | (StreamInterval.ended_by == "open")
    query = select(StreamInterval).where(
        StreamInterval.profile_id == profile_id, proves, col(StreamInterval.acked) <= end
    )
    return (await session.exec(query.order_by(col(StreamInterval.acked)))).all()


async def heard_at(session: AsyncSession, profile_id: int, at: datetime) -> Heard:
    """What was known of listening at a moment, or first found out after it."""
    row = tables.Listening
    known = select(row).where(row.profile_id == profile_id)
    before = known.where(col(row.at) <= at).order_by(col(row.id).desc()).limit(1)
    after = known.order_by(col(row.id)).limit(1)
    found = (await session.exec(before)).first() or (await session.exec(after)).first()
    return Heard("off") if found is None else Heard(cast(Listening, found.state), found.reason)


async def notifications(
    session: AsyncSession, profile_id: int, changeset_id: int, start: datetime, end: datetime
) -> Sequence[Notification]:
    """Notifications in a stretch of time that are unspent, or spent by this changeset; start-up noise removed."""
    unspent = col(Notification.spent_at).is_(None) | (col(Notification.spent_by) == changeset_id)
    query = select(Notification).where(
        Notification.profile_id == profile_id,
        Notification.source != "start-up",
        col(Notification.at).between(start, end),
        unspent,
    )
    return (await session.exec(query.order_by(col(Notification.at)))).all()


async def spend_unanswered(session: AsyncSession, profile_ids: Collection[int], constants: Constants) -> None:
    """Spend notifications whose follow-ups are over; the profiles must be locked."""
    reach = {"profiles": list(profile_ids), "lead": constants.lead, "lag": constants.lag, "followed": FOLLOWED}
    if not profile_ids:
        return
    spent = (await run_sql(session, _SPEND, reach)).all()
    if unanswered := {row.profile_id for row in spent if row.spent_by is None}:
        await run_sql(session, _NOISY, {"profiles": sorted(unanswered), "noise": NOISE})


async def spend_due(session: AsyncSession, constants: Constants) -> None:
    """The same for every profile that waits for it and is not being written at this moment."""
    waiting = list((await run_sql(session, _WAITING, {"followed": FOLLOWED})).scalars())
    if waiting:
        query = (
            select(ProfileState.profile_id)
            .where(col(ProfileState.profile_id).in_(waiting))
            .order_by(col(ProfileState.profile_id))
            .with_for_update(skip_locked=True)
        )
        await spend_unanswered(session, (await session.exec(query)).all(), constants)


async def load_hearing(session: AsyncSession, profile_id: int) -> Hearing:
    """What a server's page says about listening to one of its profiles."""
    now: datetime = (await session.exec(select(func.clock_timestamp()))).one()
    heard = await heard_at(session, profile_id, now)
    held = select(StreamInterval).where(StreamInterval.profile_id == profile_id, StreamInterval.ended_by == "open")
    current = (await session.exec(held.order_by(col(StreamInterval.acked).desc()).limit(1))).first()
    ended = select(func.count()).where(
        StreamInterval.profile_id == profile_id,
        StreamInterval.ended_by != "open",
        col(StreamInterval.acked) > now - LOOK_BACK,
    )
    told = select(func.count()).where(
        Notification.profile_id == profile_id,
        Notification.source != "start-up",
        col(Notification.at) > now - LOOK_BACK,
    )
    unanswered = told.where(col(Notification.spent_at).is_not(None), col(Notification.spent_by).is_(None))
    noisy = select(ProfileState.noisy_until).where(ProfileState.profile_id == profile_id)
    noisy_until = (await session.exec(noisy)).first()
    return Hearing(
        state=heard.state,
        reason=heard.reason,
        since=None if current is None else current.acked,
        verified_until=None if current is None else current.verified_until,
        gaps=(await session.exec(ended)).one(),
        notifications=(await session.exec(told)).one(),
        unanswered=(await session.exec(unanswered)).one(),
        noisy=noisy_until is not None and noisy_until > now,
    )
