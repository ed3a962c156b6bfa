"""SQL of evidence and judgements: what was noted around changes, and what announcement.judge says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, cast

from sqlalchemy import func, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.announcement.coverage import explaining
from driftwatch.announcement.evidence import DEFAULT_CONSTANTS, Constants, Evidence, Judgement, Stream
from driftwatch.announcement.judge import judge
from driftwatch.db.stored import row_id
from driftwatch.history import hearing
from driftwatch.history.evidence import JudgementRow, Notification, RestartEvidence, StreamInterval
from driftwatch.history.hearing import Heard
from driftwatch.history.tables import Change
from driftwatch.scheduler.tables import ProfileState
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era, Listing, Restart

#: a pending judgement is looked at again after this many seconds, or when its waiting time is over
_PENDING_AGAIN: Final = 5.0


async def note(session: AsyncSession, profile_id: int, listing: Listing, *, first: bool = False) -> None:
    """Store the notifications and restart evidence that a walk brought; ``first``: the profile's first complete one.

    A notification right after an initialize is start-up noise and explains nothing.
    """
    fresh = listing.era is Era.LEGACY and (first or listing.session_replaced)
    noisy_until = listing.sent_at + timedelta(seconds=DEFAULT_CONSTANTS.start_up_noise)
    for at in listing.list_changed_at:
        noise = fresh and at <= noisy_until
        source = "start-up" if noise else "reply"
        session.add(Notification(profile_id=profile_id, at=at, source=source, spent_at=at if noise else None))
    await note_restarts(session, profile_id, listing.restarts)
    if listing.list_changed_at:
        await judge_again(session, profile_id)


async def note_restarts(session: AsyncSession, profile_id: int, restarts: Sequence[Restart]) -> None:
    """Store restart evidence; changes that it may speak about are judged again."""
    for restart in restarts:
        row = RestartEvidence(profile_id=profile_id, at=restart.at, kind=restart.kind, detail=restart.detail)
        session.add(row)
    if restarts:
        await judge_again(session, profile_id)


async def judge_again(session: AsyncSession, profile_id: int) -> None:
    """Bring forward the next judging of the profile's changes that are not final."""
    query = update(Change).where(col(Change.profile_id) == profile_id, col(Change.judge_at) > func.clock_timestamp())
    await session.exec(query.values(judge_at=func.clock_timestamp()))


async def judge_due(session: AsyncSession, settings: Settings, limit: int = 100) -> list[int]:
    """Judge up to ``limit`` assessed changes that are due; the ids of those whose answer is new or another one.

    An answer stays open until window end + roll: new evidence judges it again, and an amendment is a new row. A
    profile that is being written at this moment is left for the next call.
    """
    constants = constants_of(settings)
    now: datetime = (await session.exec(select(func.clock_timestamp()))).one()
    told = []
    cases: dict[tuple[object, ...], _Case] = {}
    for change in await _lock_due(session, limit, constants):
        declared = (change.facts or {}).get("declared") is not False
        key = (change.profile_id, change.changeset_id, change.window_start, change.window_end, declared)
        # what one deploy did to a profile has one window and one body of evidence
        case = cases[key] = cases.get(key) or await _load_case(session, change, constants, now, declared=declared)
        found = judge(case.evidence, constants)
        if await _is_news(session, change, found):
            told.append(row_id(change.id))
            session.add(_row(change, found, case, now))
            change.announcement, change.announcement_reason = found.announcement, found.reason
        if found.announcement == "announced":
            await _spend(session, change, case, constants, now)
        if found.announcement != "pending":
            change.state = "judged"
        change.judge_at = _next(change, found, constants, now)
        session.add(change)
    await session.flush()
    return told


def constants_of(settings: Settings) -> Constants:
    """The rules' times as set."""
    return Constants(
        lead=settings.announcement_lead_seconds,
        lag=settings.announcement_lag_seconds,
        roll=settings.announcement_roll_seconds,
        pending_grace=settings.announcement_grace_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """The evidence of one change and the rows it came from.

    ``why_not``: why we could not listen. ``noisy``: the server notifies more than it changes.
    """

    evidence: Evidence
    why_not: str | None
    noisy: bool
    notifications: Sequence[Notification]
    restarts: Sequence[RestartEvidence]


async def _lock_due(session: AsyncSession, limit: int, constants: Constants) -> list[Change]:
    """Due changes, the earliest window first, under the lock of their profiles."""
    due = col(Change.state).in_(("assessed", "judged")) & (col(Change.judge_at) <= func.clock_timestamp())
    wanted = select(Change.profile_id).where(due).order_by(col(Change.judge_at)).limit(limit)
    profiles = (
        select(ProfileState.profile_id)
        .where(col(ProfileState.profile_id).in_(set((await session.exec(wanted)).all())))
        .order_by(col(ProfileState.profile_id))
        .with_for_update(skip_locked=True)
    )
    locked = (await session.exec(profiles)).all()
    await hearing.spend_unanswered(session, locked, constants)
    query = select(Change).where(due, col(Change.profile_id).in_(locked))
    query = query.order_by(col(Change.window_end), col(Change.id)).limit(limit).with_for_update()
    return list((await session.exec(query.execution_options(populate_existing=True))).all())


async def _load_case(
    session: AsyncSession, change: Change, constants: Constants, now: datetime, *, declared: bool
) -> _Case:
    """``declared``: what the server said of itself before the change; unknown is True, for silence needs proof."""
    heard_from = change.window_start - timedelta(seconds=constants.lead)
    heard_to = change.window_end + timedelta(seconds=constants.lag)
    notifications = await hearing.notifications(session, change.profile_id, change.changeset_id, heard_from, heard_to)
    restarts = await _restarts(session, change, change.window_end + timedelta(seconds=constants.roll))
    streams = await hearing.streams(session, change.profile_id, heard_from, heard_to)
    heard = Heard("ok") if streams else await hearing.heard_at(session, change.profile_id, change.window_start)
    evidence = Evidence(
        window=(change.window_start.timestamp(), change.window_end.timestamp()),
        now=now.timestamp(),
        declared=declared,
        listening=heard.state,
        streams=tuple(_stream(row) for row in streams),
        notifications=tuple(row.at.timestamp() for row in notifications),
        restarts=tuple(row.at.timestamp() for row in restarts),
    )
    return _Case(evidence, heard.reason, await _noisy(session, change), notifications, restarts)


async def _noisy(session: AsyncSession, change: Change) -> bool:
    query = select(ProfileState.noisy_until).where(ProfileState.profile_id == change.profile_id)
    noisy_until = (await session.exec(query)).first()
    return noisy_until is not None and noisy_until > change.window_start


async def _restarts(session: AsyncSession, change: Change, end: datetime) -> Sequence[RestartEvidence]:
    query = select(RestartEvidence).where(
        RestartEvidence.profile_id == change.profile_id, col(RestartEvidence.at).between(change.window_start, end)
    )
    return (await session.exec(query.order_by(col(RestartEvidence.at)))).all()


def _stream(row: StreamInterval) -> Stream:
    until = None if row.verified_until is None else row.verified_until.timestamp()
    return Stream(row.acked.timestamp(), until, cast(Literal["open", "us", "server"], row.ended_by))


async def _is_news(session: AsyncSession, change: Change, found: Judgement) -> bool:
    if change.announcement is None:
        return True
    query = select(JudgementRow.announcement, JudgementRow.reason, JudgementRow.fact)
    query = query.where(JudgementRow.change_id == change.id).order_by(col(JudgementRow.id).desc()).limit(1)
    last = (await session.exec(query)).first()
    return last is None or tuple(last) != (found.announcement, found.reason, found.fact)


def _row(change: Change, found: Judgement, case: _Case, now: datetime) -> JudgementRow:
    shown = asdict(case.evidence)
    shown["restart_kinds"] = [row.kind for row in case.restarts]
    if case.why_not is not None:
        shown["listening_reason"] = case.why_not
    if case.noisy:
        shown["noisy"] = True
    return JudgementRow(
        change_id=row_id(change.id),
        at=now,
        announcement=found.announcement,
        reason=found.reason,
        fact=found.fact,
        rule=found.rule,
        evidence=shown,
    )


async def _spend(session: AsyncSession, change: Change, case: _Case, constants: Constants, now: datetime) -> None:
    """The first change that a notification explains spends it, for every change of its changeset."""
    if any(row.spent_by == change.changeset_id for row in case.notifications):
        return
    needed = set(explaining(case.evidence.window, case.evidence.notifications, constants))
    for row in case.notifications:
        if row.at.timestamp() in needed:
            row.spent_by, row.spent_at = change.changeset_id, now
            session.add(row)


def _next(change: Change, found: Judgement, constants: Constants, now: datetime) -> datetime | None:
    """When to judge next: soon while pending, once more when the roll is over, then never."""
    final = change.window_end + timedelta(seconds=constants.roll)
    if found.announcement == "pending":
        waited = change.window_end + timedelta(seconds=constants.lag + constants.pending_grace)
        return min(now + timedelta(seconds=_PENDING_AGAIN), max(waited, now))
    return final if now < final else None
