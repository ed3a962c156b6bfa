"""SQL of lists of alerts: each with the one change that speaks for it, however many tools its deploys changed."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import case, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import Alert, Decision
from driftwatch.alerts.views import AlertChange, AlertView
from driftwatch.db.stored import row_id, when
from driftwatch.history.tables import Change, Tool
from driftwatch.servers.tables import Profile, Server

_OPEN: Final = ("open", "acknowledged")
_SEVERITY: Final = {"critical": 0, "warning": 1}
_VERDICT: Final = {"invalid": 4, "breaking": 3, "undecided": 2, "compatible": 1}


async def open_heads(session: AsyncSession, *, limit: int = 200) -> list[AlertView]:
    """Alerts that need someone, worst first, then newest first."""
    query = _alerts().where(col(Alert.state).in_(_OPEN))
    worst = case(_SEVERITY, value=Alert.severity, else_=2)
    return await _heads(session, query.order_by(worst, col(Alert.opened_at).desc(), _newest()), limit)


async def server_heads(session: AsyncSession, server_id: int, *, limit: int = 50) -> list[AlertView]:
    """A server's alerts in every state, newest first."""
    return await _heads(session, _alerts().where(col(Alert.server_id) == server_id).order_by(_newest()), limit)


def _alerts() -> Any:
    return select(Alert, col(Server.name)).join(Server, col(Server.id) == Alert.server_id)


def _newest() -> Any:
    return col(Alert.id).desc()


async def _heads(session: AsyncSession, query: Any, limit: int) -> list[AlertView]:
    rows = (await session.execute(query.limit(limit))).all()
    ids = [row_id(alert.id) for alert, _ in rows]
    leads, tools = await _leads(session, ids), await _tools(session, ids)
    return [
        AlertView(
            id=key,
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
            changes=(leads[key],) if key in leads else (),
            alerting=tools.get(key, 0),
        )
        for key, (alert, server) in zip(ids, rows, strict=True)
    ]


def _decided(ids: list[int]) -> Any:
    """The newest decision about each change of these alerts."""
    return (
        select(col(Decision.change_id), col(Decision.alert_id), col(Decision.outcome))
        .where(col(Decision.alert_id).in_(ids))
        .ext(distinct_on(col(Decision.change_id)))
        .order_by(col(Decision.change_id), col(Decision.id).desc())
        .subquery()
    )


async def _leads(session: AsyncSession, ids: list[int]) -> dict[int, AlertChange]:
    """An alerting change before a quiet one, the worst verdict first, then the one recorded first."""
    decided = _decided(ids)
    rank = case(_VERDICT, value=Change.verdict, else_=0)
    first = (
        select(decided.c.alert_id, decided.c.outcome, col(Change.id).label("change_id"))
        .join(Change, col(Change.id) == decided.c.change_id)
        .ext(distinct_on(decided.c.alert_id))
        .order_by(decided.c.alert_id, (decided.c.outcome == "alert").desc(), rank.desc(), col(Change.id))
        .subquery()
    )
    query = (
        select(first.c.alert_id, first.c.outcome, Change, col(Tool.name), col(Profile.era))
        .join(Change, col(Change.id) == first.c.change_id)
        .join(Tool, col(Tool.id) == Change.tool_id)
        .join(Profile, col(Profile.id) == Change.profile_id)
    )
    return {
        alert_id: AlertChange(
            change_id=row_id(change.id),
            changeset_id=change.changeset_id,
            tool_id=change.tool_id,
            tool=tool,
            era=era,
            kind=change.kind,
            from_version=None,
            to_version=None,
            verdict=change.verdict,
            part=change.part,
            announcement=change.announcement,
            outcome=outcome,
        )
        for alert_id, outcome, change, tool, era in (await session.execute(query)).all()
    }


async def _tools(session: AsyncSession, ids: list[int]) -> dict[int, int]:
    """How many tools of each alert alert; the same name for two kinds of clients is one."""
    decided = _decided(ids)
    query = (
        select(decided.c.alert_id, func.count(func.distinct(col(Tool.name))))
        .join(Change, col(Change.id) == decided.c.change_id)
        .join(Tool, col(Tool.id) == Change.tool_id)
        .where(decided.c.outcome == "alert")
        .group_by(decided.c.alert_id)
    )
    return {key: int(count) for key, count in (await session.execute(query)).all()}
