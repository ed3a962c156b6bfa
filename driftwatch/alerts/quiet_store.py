"""SQL of mutes, ignores, maintenance windows and changed policy lines. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlmodel import SQLModel, col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.ignores import Ignore
from driftwatch.alerts.overrides import LineChange, lines_for
from driftwatch.alerts.policy import Line
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute, PolicyChange
from driftwatch.alerts.tables import Alert, Outbox
from driftwatch.db.stored import row_id
from driftwatch.errors import NotFoundError
from driftwatch.servers.tables import Server

#: what people were told of; the hourly limit counts these
LOUD_EVENTS = (
    "drift.opened",
    "drift.updated",
    "drift.reopened",
    "drift.reverted",
    "drift.reminded",
    "drift.told",
    "drift.digest",
)


async def policy_of(session: AsyncSession, server: Server) -> tuple[tuple[Line, ...], tuple[Ignore, ...]]:
    """The policy's lines and the ignore rules that hold for a server now."""
    server_id = row_id(server.id)
    changes = await line_changes(session)
    return lines_for(changes, server_id=server_id, tags=server.tags), await ignores_of(session, server_id)


async def line_changes(session: AsyncSession) -> list[LineChange]:
    """Every line of the policy that somebody changed."""
    rows = (await session.scalars(select(PolicyChange).order_by(col(PolicyChange.id)))).all()
    return [LineChange(r.line, r.outcome, r.severity, r.created_by, r.server_id, r.tag) for r in rows]


async def ignores_of(session: AsyncSession, server_id: int) -> tuple[Ignore, ...]:
    """The ignore rules in force that may concern a server."""
    query = select(IgnoreRule).where(
        active(IgnoreRule), or_(col(IgnoreRule.server_id).is_(None), col(IgnoreRule.server_id) == server_id)
    )
    rows = (await session.scalars(query.order_by(col(IgnoreRule.id)))).all()
    return tuple(Ignore(row_id(r.id), r.reason, r.server_id, r.tool, r.rule, r.pointer) for r in rows)


def active(table: type[SQLModel]) -> ColumnElement[bool]:
    """Whether a mute, ignore rule or maintenance window holds now."""
    now = func.clock_timestamp()
    if table is Mute:
        return and_(col(Mute.ended_at).is_(None), col(Mute.until) > now)
    if table is IgnoreRule:
        endless = or_(col(IgnoreRule.expires_at).is_(None), col(IgnoreRule.expires_at) > now)
        return and_(col(IgnoreRule.ended_at).is_(None), endless)
    return and_(col(MaintenanceWindow.starts_at) <= now, col(MaintenanceWindow.ends_at) > now)


def in_maintenance() -> ColumnElement[bool]:
    """Whether the server of the query is in a maintenance window now."""
    for_it = or_(
        and_(col(MaintenanceWindow.server_id).is_(None), col(MaintenanceWindow.tag).is_(None)),
        col(MaintenanceWindow.server_id) == col(Server.id),
        col(MaintenanceWindow.tag) == func.any(col(Server.tags)),
    )
    return select(col(MaintenanceWindow.id)).where(active(MaintenanceWindow), for_it).correlate(Server).exists()


async def maintained(session: AsyncSession, server_id: int) -> bool:
    """Whether a server is in a maintenance window now."""
    query = select(col(Server.id)).where(col(Server.id) == server_id, in_maintenance())
    return (await session.execute(query)).first() is not None


async def messages_within(session: AsyncSession, server_id: int, span: timedelta) -> int:
    """How many messages people got about a server lately, one that went to several channels counted once."""
    group = func.split_part(col(Outbox.dedupe_key), ":", 1)
    query = select(func.count(group.distinct())).where(
        col(Outbox.server_id) == server_id,
        col(Outbox.created_at) > func.clock_timestamp() - span,
        col(Outbox.event).in_(LOUD_EVENTS),
    )
    return int((await session.execute(query)).scalar_one())


async def mutes_on(
    session: AsyncSession, server_id: int, *, alert_id: int | None, tools: Collection[str]
) -> list[Mute] | None:
    """The mutes in force that together cover an alert or all of some tools, locked; None where they do not."""
    query = select(Mute).where(col(Mute.server_id) == server_id, active(Mute)).with_for_update()
    mutes = list((await session.scalars(query.order_by(col(Mute.id)))).all())
    whole = [m for m in mutes if m.tool is None and (m.alert_id is None or m.alert_id == alert_id)]
    by_tool = [m for m in mutes if m.tool is not None and m.tool in tools]
    covered = bool(whole) or (bool(tools) and {m.tool for m in by_tool} >= set(tools))
    return [*whole, *by_tool] if covered else None


async def end_mutes(session: AsyncSession, mutes: Collection[Mute], by: str) -> None:
    """End mutes before their time."""
    ids = [mute.id for mute in mutes]
    query = update(Mute).where(col(Mute.id).in_(ids), col(Mute.ended_at).is_(None))
    await session.execute(query.values(ended_at=func.clock_timestamp(), ended_by=by))


async def held_alerts(session: AsyncSession, *, limit: int) -> list[Alert]:
    """Alerts nobody was told of yet, oldest first, locked."""
    query = select(Alert).where(col(Alert.held).is_not(None)).order_by(col(Alert.server_id), col(Alert.id))
    return list((await session.scalars(query.limit(limit).with_for_update(skip_locked=True))).all())


async def add(session: AsyncSession, row: SQLModel) -> int:
    """Store a mute, ignore rule, maintenance window or policy change; its id."""
    session.add(row)
    await session.flush()
    found: Any = row
    return row_id(found.id)


async def one(session: AsyncSession, table: type[Any], row_id: int, what: str) -> Any:
    """A row, locked. Raises NotFoundError."""
    row = (await session.scalars(select(table).where(col(table.id) == row_id).with_for_update())).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no {what} {row_id}.", hint="Look at their list.")
    return row


async def listed(
    session: AsyncSession, table: type[Any], *, all_of_them: bool, before: int | None = None, limit: int = 500
) -> list[Any]:
    """Rows, newest first; without ``all_of_them`` those that hold now, or will. ``before``: the last one seen."""
    query = select(table).order_by(col(table.id).desc()).limit(limit)
    if before is not None:
        query = query.where(col(table.id) < before)
    if not all_of_them and table is not PolicyChange:
        coming = col(table.ends_at) > func.clock_timestamp() if table is MaintenanceWindow else active(table)
        query = query.where(coming)
    return list((await session.scalars(query)).all())


async def line_change(session: AsyncSession, line: str, server_id: int | None, tag: str | None) -> PolicyChange | None:
    """The stored change of a line for exactly this scope, locked."""
    query = select(PolicyChange).where(
        col(PolicyChange.line) == line,
        col(PolicyChange.server_id).is_not_distinct_from(server_id),
        col(PolicyChange.tag).is_not_distinct_from(tag),
    )
    return (await session.scalars(query.with_for_update())).one_or_none()


async def to_remind(session: AsyncSession, *, after: datetime, limit: int) -> list[Alert]:
    """Open drift alerts nobody acknowledged, of which people last heard before then, locked."""
    last = (
        select(func.max(col(Outbox.created_at)))
        .where(col(Outbox.alert_id) == col(Alert.id), col(Outbox.event).in_(LOUD_EVENTS))
        .correlate(Alert)
        .scalar_subquery()
    )
    query = (
        select(Alert)
        .where(
            col(Alert.kind) == "drift",
            col(Alert.state) == "open",
            col(Alert.held).is_(None),
            func.coalesce(last, col(Alert.opened_at)) <= after,
        )
        .order_by(col(Alert.id))
        .limit(limit)
    )
    return list((await session.scalars(query.with_for_update(skip_locked=True))).all())
