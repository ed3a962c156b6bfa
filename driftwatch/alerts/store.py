"""SQL of alerts, decisions and acceptances. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select, text, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.route_tables import BaselineVerdict
from driftwatch.alerts.tables import Acceptance, Alert, AlertEvent, Decision
from driftwatch.db.engine import run_sql
from driftwatch.db.stored import row_id
from driftwatch.errors import NotFoundError
from driftwatch.history import read as history
from driftwatch.history.tables import Change, Changeset, Tool, ToolVersion
from driftwatch.history.views import ChangeView
from driftwatch.servers.tables import Server

#: a changeset that never stops growing is posted after this many collection times
_LONGEST_COLLECTION = 6

#: what makes drift the same drift to people, whichever profile saw it: tool name, kind, definition now
DriftKey = tuple[str, str, bytes | None]

_DUE_CHANGESETS = text(
    """
    SELECT id FROM changeset
    WHERE id IN (
        SELECT changeset_id FROM change
        WHERE decided_at IS NULL
        GROUP BY changeset_id
        HAVING bool_and(state = 'judged' AND announcement IS NOT NULL AND announcement <> 'pending')
           AND (max(recorded_at) <= clock_timestamp() - make_interval(secs => :collect)
                OR min(recorded_at) <= clock_timestamp() - make_interval(secs => :longest)))
    ORDER BY id
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
    """
)


async def due_changesets(session: AsyncSession, *, collect_seconds: float, limit: int) -> list[int]:
    """Changesets with undecided changes, all of them judged, none recorded lately; locked for the caller."""
    parameters = {
        "collect": collect_seconds,
        "longest": collect_seconds * _LONGEST_COLLECTION,
        "limit": limit,
    }
    return list((await run_sql(session, _DUE_CHANGESETS, parameters)).scalars())


async def undecided(session: AsyncSession, changeset_id: int) -> list[Change]:
    """The changes of a changeset that the policy has not seen, in the order they were recorded."""
    query = select(Change).where(col(Change.changeset_id) == changeset_id, col(Change.decided_at).is_(None))
    return list((await session.scalars(query.order_by(col(Change.id)))).all())


async def server_of(session: AsyncSession, changeset_id: int) -> Server:
    """The server of a changeset."""
    query = select(Server).join(Changeset, col(Changeset.server_id) == Server.id)
    return (await session.scalars(query.where(col(Changeset.id) == changeset_id))).one()


async def views(session: AsyncSession, change_ids: Sequence[int]) -> list[ChangeView]:
    """Changes as the policy and messages read them."""
    found = await history.load_changes(session, ids=change_ids, limit=len(change_ids)) if change_ids else []
    return sorted(found, key=lambda change: change.id)


async def mark_decided(session: AsyncSession, changeset_id: int, change_ids: Sequence[int]) -> None:
    """Take changes out of the policy's queue."""
    now = func.clock_timestamp()
    await session.execute(update(Change).where(col(Change.id).in_(change_ids)).values(decided_at=now))
    await session.execute(update(Changeset).where(col(Changeset.id) == changeset_id).values(decided_at=now))


async def lock_alert(session: AsyncSession, alert_id: int) -> Alert:
    """An alert, locked: what happens to it happens one after the other. Raises NotFoundError."""
    query = select(Alert).where(col(Alert.id) == alert_id).with_for_update()
    alert = (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()
    if alert is None:
        raise NotFoundError(f"There is no alert {alert_id}.", hint="Look at the list of alerts.")
    return alert


async def alert_of_changeset(session: AsyncSession, changeset_id: int) -> Alert | None:
    """The alert that was opened for a changeset, locked."""
    query = select(Alert).where(col(Alert.changeset_id) == changeset_id).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def open_alerts_about(session: AsyncSession, tool_ids: Collection[int]) -> list[Alert]:
    """Drift alerts that nobody closed and that tell of any of these tools, newest first, locked."""
    telling = (
        select(col(Decision.alert_id))
        .join(Change, col(Change.id) == Decision.change_id)
        .where(col(Change.tool_id).in_(tool_ids), col(Decision.outcome) == "alert")
    )
    query = select(Alert).where(
        col(Alert.kind) == "drift", col(Alert.state).in_(("open", "acknowledged")), col(Alert.id).in_(telling)
    )
    return list((await session.scalars(query.order_by(col(Alert.id).desc()).with_for_update())).all())


async def lately_reverted(session: AsyncSession, server_id: int, *, within: timedelta) -> list[Alert]:
    """Drift alerts of a server whose drift went back a short while ago, newest first, locked."""
    query = select(Alert).where(
        col(Alert.server_id) == server_id,
        col(Alert.kind) == "drift",
        col(Alert.state) == "reverted",
        col(Alert.closed_at) > func.clock_timestamp() - within,
    )
    return list((await session.scalars(query.order_by(col(Alert.id).desc()).with_for_update())).all())


async def to_settle(session: AsyncSession, *, limit: int) -> list[Alert]:
    """Alerts of followed servers that nobody closed in time, locked."""
    query = (
        select(Alert)
        .where(col(Alert.state).in_(("open", "acknowledged")), col(Alert.settles_at) <= func.clock_timestamp())
        .order_by(col(Alert.id))
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return list((await session.scalars(query)).all())


async def drift_keys(session: AsyncSession, change_ids: Collection[int]) -> dict[int, DriftKey]:
    """What makes each change the same drift as another one."""
    query = (
        select(col(Change.id), col(Tool.name), col(Change.kind), col(ToolVersion.definition_sha))
        .join(Tool, col(Tool.id) == Change.tool_id)
        .outerjoin(ToolVersion, col(ToolVersion.id) == Change.to_version_id)
        .where(col(Change.id).in_(change_ids))
    )
    rows = (await session.execute(query)).all()
    return {row_id(change_id): (tool, kind, sha) for change_id, tool, kind, sha in rows}


async def decided(session: AsyncSession, alert_id: int) -> dict[int, Decision]:
    """The newest decision of every change that belongs to an alert, by change id."""
    query = (
        select(Decision)
        .where(col(Decision.alert_id) == alert_id)
        .ext(distinct_on(col(Decision.change_id)))
        .order_by(col(Decision.change_id), col(Decision.id).desc())
    )
    return {d.change_id: d for d in (await session.scalars(query)).all()}


async def newest_decisions(session: AsyncSession, change_ids: Collection[int]) -> dict[int, Decision]:
    """The newest decision of each change, by change id."""
    query = (
        select(Decision)
        .where(col(Decision.change_id).in_(change_ids))
        .ext(distinct_on(col(Decision.change_id)))
        .order_by(col(Decision.change_id), col(Decision.id).desc())
    )
    return {d.change_id: d for d in (await session.scalars(query)).all()}


async def newest_changes(session: AsyncSession, alert_id: int) -> list[Change]:
    """The newest change of each tool that belongs to an alert."""
    query = (
        select(Change)
        .where(col(Change.id).in_(select(col(Decision.change_id)).where(col(Decision.alert_id) == alert_id)))
        .ext(distinct_on(col(Change.tool_id)))
        .order_by(col(Change.tool_id), col(Change.id).desc())
    )
    return list((await session.scalars(query)).all())


async def alerting_tools(session: AsyncSession, alert_id: int) -> list[int]:
    """The tools that an alert tells of, without the quiet ones beside them."""
    told = [change for change, decision in (await decided(session, alert_id)).items() if decision.outcome == "alert"]
    query = select(col(Change.tool_id)).where(col(Change.id).in_(told)).distinct()
    return list((await session.scalars(query)).all())


async def alerting_tool_names(session: AsyncSession, alert_id: int) -> set[str]:
    """The names of the tools that an alert tells of."""
    query = select(col(Tool.name)).where(col(Tool.id).in_(await alerting_tools(session, alert_id)))
    return set((await session.scalars(query)).all())


async def heard_lately(
    session: AsyncSession, server_id: int, *, within: timedelta, but: Collection[int]
) -> set[DriftKey]:
    """The drift that people heard of through any alert of a server, by other changes than ``but``."""
    lately = select(col(Alert.id)).where(
        col(Alert.server_id) == server_id, col(Alert.opened_at) > func.clock_timestamp() - within
    )
    query = select(col(Decision.change_id)).where(
        col(Decision.alert_id).in_(lately), col(Decision.outcome) == "alert", col(Decision.change_id).not_in(but)
    )
    return set((await drift_keys(session, (await session.scalars(query)).all())).values())


async def told_of_now(session: AsyncSession, tool_ids: Collection[int]) -> set[int]:
    """Those of the tools that an open alert tells of, as more than a notice."""
    query = (
        select(col(Change.tool_id))
        .join(Decision, col(Decision.change_id) == Change.id)
        .join(Alert, col(Alert.id) == Decision.alert_id)
        .where(
            col(Change.tool_id).in_(tool_ids),
            col(Decision.outcome) == "alert",
            col(Decision.severity) != "notice",
            col(Alert.state).in_(("open", "acknowledged")),
        )
    )
    return set((await session.scalars(query.distinct())).all())


async def baseline_verdicts(session: AsyncSession, change_ids: Collection[int]) -> dict[int, str]:
    """The verdict against the baseline of the changes that have one."""
    query = select(BaselineVerdict).where(col(BaselineVerdict.change_id).in_(change_ids))
    return {row.change_id: row.verdict for row in (await session.scalars(query)).all()}


async def heard_of(session: AsyncSession, alert_id: int) -> set[DriftKey]:
    """The drift that people heard of through an alert."""
    told = [change for change, decision in (await decided(session, alert_id)).items() if decision.outcome == "alert"]
    return set((await drift_keys(session, told)).values())


async def first_event(session: AsyncSession, alert_id: int) -> AlertEvent | None:
    """The event with which an alert opened."""
    query = select(AlertEvent).where(col(AlertEvent.alert_id) == alert_id).order_by(col(AlertEvent.id)).limit(1)
    return (await session.scalars(query)).one_or_none()


async def current_versions(session: AsyncSession, tool_ids: Collection[int]) -> dict[int, int | None]:
    """The version each tool has now, as its newest decided change left it; None: gone."""
    query = (
        select(col(Change.tool_id), col(Change.to_version_id))
        .where(col(Change.tool_id).in_(tool_ids), col(Change.decided_at).is_not(None))
        .ext(distinct_on(col(Change.tool_id)))
        .order_by(col(Change.tool_id), col(Change.id).desc())
    )
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def add_event(
    session: AsyncSession,
    alert_id: int,
    kind: str,
    *,
    actor: str = "driftwatch",
    reason: str | None = None,
    detail: object = None,
) -> int:
    """Write down what happened to an alert; the id of the event."""
    event = AlertEvent(alert_id=alert_id, kind=kind, actor=actor, reason=reason, detail=detail)
    session.add(event)
    await session.flush()
    return row_id(event.id)


async def add_alert(session: AsyncSession, alert: Alert) -> int:
    """Open an alert; its id."""
    session.add(alert)
    await session.flush()
    return row_id(alert.id)


def add_acceptance(
    session: AsyncSession, tool_id: int, version_id: int | None, *, by: str, mode: str, reason: str | None = None
) -> None:
    """Move a tool's baseline."""
    session.add(Acceptance(tool_id=tool_id, version_id=version_id, by=by, mode=mode, reason=reason))


def interval(seconds: float | ColumnElement[Any]) -> ColumnElement[Any]:
    """Seconds as a Postgres interval."""
    return func.make_interval(0, 0, 0, 0, 0, 0, seconds)


async def now(session: AsyncSession) -> datetime:
    """The database's time."""
    at: datetime = (await session.execute(select(func.clock_timestamp()))).scalar_one()
    return at
