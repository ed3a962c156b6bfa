"""SQL of routes and of the channels they lead to. The caller owns the transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.route_tables import Route
from driftwatch.alerts.routes import Match, Rule, Way, match_of
from driftwatch.alerts.tables import Channel, Outbox
from driftwatch.db.stored import row_id
from driftwatch.errors import NotFoundError


async def rules(session: AsyncSession) -> list[Rule]:
    """Every route, in order."""
    rows = (await session.scalars(select(Route).order_by(col(Route.position), col(Route.id)))).all()
    return [Rule(row_id(r.id), r.name, match_of(r.match), tuple(r.channels), r.goes_on) for r in rows]


async def ways(session: AsyncSession) -> list[Way]:
    """Every channel that was not deleted."""
    query = select(Channel).where(col(Channel.state) != "deleted").order_by(col(Channel.id))
    return [
        Way(row_id(c.id), c.name, c.kind, c.state == "enabled", None if c.accepts is None else match_of(c.accepts))
        for c in (await session.scalars(query)).all()
    ]


async def told_before(session: AsyncSession, alert_id: int | None) -> dict[int, bool]:
    """The channels that were told of an alert; True where its first message was put in."""
    if alert_id is None:
        return {}
    query = (
        select(col(Outbox.channel_id), func.bool_or(col(Outbox.action) == "post"))
        .where(col(Outbox.alert_id) == alert_id)
        .group_by(col(Outbox.channel_id))
    )
    return {row[0]: bool(row[1]) for row in (await session.execute(query)).all()}


async def add_route(session: AsyncSession, name: str, match: Match, channels: list[int], *, goes_on: bool) -> Route:
    """A new route behind all others."""
    last = (await session.execute(select(func.max(col(Route.position))))).scalar()
    row = Route(position=(last or 0) + 1, name=name, match=stored(match), channels=channels, goes_on=goes_on)
    session.add(row)
    await session.flush()
    return row


async def lock_route(session: AsyncSession, route_id: int) -> Route:
    """A route, locked. Raises NotFoundError."""
    query = select(Route).where(col(Route.id) == route_id).with_for_update()
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no route {route_id}.", hint="Look at the list of routes.")
    return row


async def all_routes(session: AsyncSession) -> list[Route]:
    """The rows of every route, in order, locked."""
    query = select(Route).order_by(col(Route.position), col(Route.id)).with_for_update()
    return list((await session.scalars(query)).all())


async def route_named(session: AsyncSession, name: str) -> Route | None:
    """A route by its name."""
    return (await session.scalars(select(Route).where(col(Route.name) == name))).one_or_none()


def stored(match: Match) -> dict[str, Any]:
    """A match as JSON, without what asks nothing."""
    return {name: list(getattr(match, name)) for name in Match.__struct_fields__ if getattr(match, name)}
