"""The read side of alerts: what pages and the API show. Nothing here writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import aliased
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import (
    Acceptance,
    Alert,
    AlertEvent,
    Decision,
)
from driftwatch.alerts.views import (
    AlertChange,
    AlertView,
    BaselineView,
    DecisionView,
    EventView,
)
from driftwatch.db.stored import row_id, when
from driftwatch.errors import NotFoundError
from driftwatch.history.tables import Change, Tool, ToolInterval, ToolVersion
from driftwatch.servers.tables import Profile, Server

#: while an alert is in one of these, it needs someone
NEEDS_SOMEONE = ("open", "acknowledged")


async def open_alerts(session: AsyncSession, *, server_id: int | None = None, limit: int = 200) -> list[AlertView]:
    """Alerts that need someone, worst first, then newest first."""
    order = case({"critical": 0, "warning": 1}, value=Alert.severity, else_=2)
    query = select(Alert, col(Server.name)).join(Server, col(Server.id) == Alert.server_id)
    query = query.where(col(Alert.state).in_(NEEDS_SOMEONE)).order_by(order, col(Alert.id).desc()).limit(limit)
    if server_id is not None:
        query = query.where(col(Alert.server_id) == server_id)
    return await _alerts(session, (await session.execute(query)).all())


async def server_alerts(session: AsyncSession, server_id: int, *, limit: int = 50) -> list[AlertView]:
    """A server's alerts in every state, newest first."""
    query = select(Alert, col(Server.name)).join(Server, col(Server.id) == Alert.server_id)
    query = query.where(col(Alert.server_id) == server_id).order_by(col(Alert.id).desc()).limit(limit)
    return await _alerts(session, (await session.execute(query)).all())


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts: all given conditions must hold. ``states``: in one of these."""

    server_id: int | None = None
    states: tuple[str, ...] = ()
    kind: str | None = None
    severity: str | None = None


async def list_alerts(
    session: AsyncSession, wanted: AlertFilter, *, before: int | None = None, limit: int = 50
) -> list[AlertView]:
    """Alerts that fit, newest first; ``before`` is the last one already seen."""
    query = select(Alert, col(Server.name)).join(Server, col(Server.id) == Alert.server_id)
    exact = {Alert.server_id: wanted.server_id, Alert.kind: wanted.kind, Alert.severity: wanted.severity}
    for column, value in exact.items():
        if value is not None:
            query = query.where(col(column) == value)
    if wanted.states:
        query = query.where(col(Alert.state).in_(wanted.states))
    if before is not None:
        query = query.where(col(Alert.id) < before)
    query = query.order_by(col(Alert.id).desc()).limit(limit)
    return await _alerts(session, (await session.execute(query)).all())


async def alert_ids(session: AsyncSession, changeset_ids: Sequence[int]) -> dict[int, int]:
    """The alert that tells about each changeset, where there is one: its own, or an earlier one that it joined."""
    own = select(col(Alert.changeset_id), col(Alert.id)).where(col(Alert.changeset_id).in_(changeset_ids))
    joined = (
        select(col(Change.changeset_id), func.max(col(Decision.alert_id)))
        .join(Decision, col(Decision.change_id) == Change.id)
        .where(col(Change.changeset_id).in_(changeset_ids), col(Decision.alert_id).is_not(None))
        .group_by(col(Change.changeset_id))
    )
    found = [*(await session.execute(joined)).all(), *(await session.execute(own)).all()]
    return {changeset: alert for changeset, alert in found if changeset is not None}


async def load_alert(session: AsyncSession, alert_id: int) -> AlertView:
    """One alert with its changes and events. Raises NotFoundError."""
    query = (
        select(Alert, col(Server.name)).join(Server, col(Server.id) == Alert.server_id).where(col(Alert.id) == alert_id)
    )
    found = await _alerts(session, (await session.execute(query)).all(), with_events=True)
    if not found:
        raise NotFoundError(f"There is no alert {alert_id}.", hint="Look at the list of alerts.")
    return found[0]


async def alert_for_changeset(session: AsyncSession, changeset_id: int) -> AlertView | None:
    """The alert that tells about a changeset: its own, or an earlier one that it joined."""
    alert_id = (await alert_ids(session, [changeset_id])).get(changeset_id)
    return None if alert_id is None else await load_alert(session, alert_id)


async def decisions_for_change(session: AsyncSession, change_id: int) -> list[DecisionView]:
    """Why a change did or did not alert, newest decision first; empty while it is not decided."""
    query = select(Decision).where(col(Decision.change_id) == change_id).order_by(col(Decision.id).desc())
    return [
        DecisionView(d.change_id, when(d.at), d.outcome, d.line, d.severity, tuple(d.path), d.alert_id)
        for d in (await session.scalars(query)).all()
    ]


async def baselines(session: AsyncSession, tool_ids: Sequence[int]) -> dict[int, BaselineView]:
    """What people (or the follow policy) last accepted, for each tool.

    A tool nobody decided about yet has what the first poll saw as its baseline: the version before its first change,
    absence when it was added later.
    """
    newest = (
        select(Acceptance, col(ToolVersion.number))
        .outerjoin(ToolVersion, col(ToolVersion.id) == Acceptance.version_id)
        .where(col(Acceptance.tool_id).in_(tool_ids))
        .ext(distinct_on(col(Acceptance.tool_id)))
        .order_by(col(Acceptance.tool_id), col(Acceptance.id).desc())
    )
    found = {
        a.tool_id: BaselineView(a.tool_id, a.version_id, number, a.mode, a.by, a.at, a.reason)
        for a, number in (await session.execute(newest)).all()
    }
    missing = [t for t in tool_ids if t not in found]
    return found | await _first_baselines(session, missing) if missing else found


async def _first_baselines(session: AsyncSession, tool_ids: Sequence[int]) -> dict[int, BaselineView]:
    current = (
        select(col(ToolInterval.tool_id), col(ToolInterval.version_id), col(ToolVersion.number))
        .outerjoin(ToolVersion, col(ToolVersion.id) == ToolInterval.version_id)
        .where(col(ToolInterval.tool_id).in_(tool_ids), col(ToolInterval.valid_to).is_(None))
    )
    before_first_change = (
        select(col(Change.tool_id), col(Change.from_version_id), col(ToolVersion.number))
        .outerjoin(ToolVersion, col(ToolVersion.id) == Change.from_version_id)
        .where(col(Change.tool_id).in_(tool_ids))
        .ext(distinct_on(col(Change.tool_id)))
        .order_by(col(Change.tool_id), col(Change.id))
    )
    rows = [*(await session.execute(current)).all(), *(await session.execute(before_first_change)).all()]
    return {tool: BaselineView(tool, version, number, "first") for tool, version, number in rows}


def delivery_group(event_id: int) -> str:
    """What all deliveries of one alert event have in common in their dedupe key."""
    return f"event-{event_id}"


def dedupe_key(group: str, channel_id: int) -> str:
    """One message per (group, channel), ever: the outbox refuses a second row."""
    return f"{group}:{channel_id}"


async def _alerts(
    session: AsyncSession, rows: Iterable[tuple[Alert, str]], *, with_events: bool = False
) -> list[AlertView]:
    rows = list(rows)
    ids = [row_id(alert.id) for alert, _ in rows]
    changes = await _changes(session, ids)
    events = await _events(session, ids) if with_events else {}
    return [
        AlertView(
            id=row_id(alert.id),
            kind=alert.kind,
            server_id=alert.server_id,
            server=server,
            changeset_id=alert.changeset_id,
            state=alert.state,
            severity=alert.severity,
            title=alert.title,
            opened_at=when(alert.opened_at),
            settles_at=alert.settles_at,
            closed_at=alert.closed_at,
            handled_by=alert.handled_by,
            held=alert.held,
            changes=tuple(changes.get(row_id(alert.id), ())),
            events=tuple(events.get(row_id(alert.id), ())),
        )
        for alert, server in rows
    ]


async def _changes(session: AsyncSession, alert_ids: Sequence[int]) -> dict[int, list[AlertChange]]:
    old, new = aliased(ToolVersion), aliased(ToolVersion)
    newest = (
        select(col(Decision.change_id), col(Decision.alert_id), col(Decision.outcome))
        .where(col(Decision.alert_id).in_(alert_ids))
        .ext(distinct_on(col(Decision.change_id)))
        .order_by(col(Decision.change_id), col(Decision.id).desc())
        .subquery()
    )
    query = (
        # columns, not entities: one deploy of a large server is hundreds of rows
        select(newest.c.alert_id, newest.c.outcome, col(Change.id), col(Change.changeset_id), col(Change.tool_id))
        .add_columns(col(Tool.name).label("tool"), col(Profile.era), col(Change.kind))
        .add_columns(col(old.number).label("before"), col(new.number).label("after"))
        .add_columns(col(Change.verdict), col(Change.part), col(Change.announcement))
        .join(newest, newest.c.change_id == Change.id)
        .join(Tool, col(Tool.id) == Change.tool_id)
        .join(Profile, col(Profile.id) == Change.profile_id)
        .outerjoin(old, col(old.id) == Change.from_version_id)
        .outerjoin(new, col(new.id) == Change.to_version_id)
        .order_by(col(Change.id))
    )
    found = defaultdict[int, list[AlertChange]](list)
    for row in (await session.execute(query)).all():
        found[row.alert_id].append(
            AlertChange(
                change_id=row.id,
                changeset_id=row.changeset_id,
                tool_id=row.tool_id,
                tool=row.tool,
                era=row.era,
                kind=row.kind,
                from_version=row.before,
                to_version=row.after,
                verdict=row.verdict,
                part=row.part,
                announcement=row.announcement,
                outcome=row.outcome,
            )
        )
    return found


async def _events(session: AsyncSession, alert_ids: Sequence[int]) -> dict[int, list[EventView]]:
    found = defaultdict[int, list[EventView]](list)
    query = select(AlertEvent).where(col(AlertEvent.alert_id).in_(alert_ids)).order_by(col(AlertEvent.id))
    for e in (await session.scalars(query)).all():
        found[e.alert_id].append(EventView(row_id(e.id), when(e.at), e.kind, e.actor, e.reason, e.detail))
    return found
