"""The read side of deliveries and channels: who was told, what is on its way, what a channel answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Select, func, select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.read import dedupe_key, delivery_group
from driftwatch.alerts.tables import Alert, AlertEvent, Channel, DeliveryAttempt, Outbox
from driftwatch.alerts.views import AttemptView, ChannelView, DeliveryView
from driftwatch.db.stored import row_id, when
from driftwatch.errors import NotFoundError

_WAITING = ("queued", "leased")


async def deliveries_for_alert(session: AsyncSession, alert_id: int) -> list[DeliveryView]:
    """Who was told about an alert, oldest first, with every attempt; also messages that tell of several alerts."""
    return (await deliveries_for_alerts(session, [alert_id])).get(alert_id, [])


async def deliveries_for_alerts(session: AsyncSession, alert_ids: Sequence[int]) -> dict[int, list[DeliveryView]]:
    """The same for several alerts; one that nobody was told of is left out."""
    events = select(AlertEvent).where(col(AlertEvent.alert_id).in_(alert_ids)).order_by(col(AlertEvent.id))
    channels = [row_id(channel) for channel in (await session.scalars(select(col(Channel.id)))).all()]
    alerts = defaultdict[str, set[int]](set)
    for event in (await session.scalars(events)).all():
        shared = event.detail.get("delivery") if isinstance(event.detail, dict) else None
        for channel in channels:
            alerts[dedupe_key(shared or delivery_group(row_id(event.id)), channel)].add(event.alert_id)
    query = _deliveries().where(col(Outbox.dedupe_key).in_(list(alerts))).order_by(col(Outbox.id))
    rows = (await session.execute(query)).all()
    told = defaultdict[int, list[DeliveryView]](list)
    for row, delivery in zip(rows, await _with_attempts(session, rows), strict=True):
        for alert in alerts[row[0].dedupe_key]:
            told[alert].append(delivery)
    return dict(told)


async def deliveries_for_server(
    session: AsyncSession, server_id: int, *, before: int | None = None, limit: int = 50
) -> list[DeliveryView]:
    """Deliveries about a server's alerts, newest first; ``before``: the last one already seen."""
    query = _deliveries().join(Alert, col(Alert.id) == Outbox.alert_id).where(col(Alert.server_id) == server_id)
    query = query.order_by(col(Outbox.id).desc()).limit(limit)
    if before is not None:
        query = query.where(col(Outbox.id) < before)
    return await _with_attempts(session, (await session.execute(query)).all())


async def channels(session: AsyncSession) -> list[ChannelView]:
    """Every channel with what waits for it. An empty list is why nobody is told."""
    waiting = col(Outbox.state).in_(_WAITING)
    query = (
        select(Channel, func.count(col(Outbox.id)), func.min(col(Outbox.created_at)))
        .where(col(Channel.state) != "deleted")
        .outerjoin(Outbox, (col(Outbox.channel_id) == Channel.id) & waiting)
        .group_by(col(Channel.id))
        .order_by(col(Channel.id))
    )
    return [
        ChannelView(row_id(c.id), c.name, c.kind, c.state, c.disabled_reason, count, oldest, c.accepts, c.paused_until)
        for c, count, oldest in (await session.execute(query)).all()
    ]


async def load_delivery(session: AsyncSession, delivery_id: int) -> DeliveryView:
    """One delivery with every attempt. Raises NotFoundError."""
    query = _deliveries().where(col(Outbox.id) == delivery_id)
    found = await _with_attempts(session, (await session.execute(query)).all())
    if not found:
        raise NotFoundError(f"There is no delivery {delivery_id}.", hint="Look at the channel's delivery log.")
    return found[0]


async def channel_log(
    session: AsyncSession, channel_id: int, *, state: str | None = None, before: int | None = None, limit: int = 50
) -> list[DeliveryView]:
    """What a channel was sent, newest first."""
    query = _deliveries().where(col(Outbox.channel_id) == channel_id).order_by(col(Outbox.id).desc()).limit(limit)
    if state is not None:
        query = query.where(col(Outbox.state) == state)
    if before is not None:
        query = query.where(col(Outbox.id) < before)
    return await _with_attempts(session, (await session.execute(query)).all())


def _deliveries() -> Select[Outbox, str, str]:
    return select(Outbox, col(Channel.name), col(Channel.kind)).join(Channel, col(Channel.id) == Outbox.channel_id)


async def _with_attempts(session: AsyncSession, rows: Sequence[tuple[Outbox, str, str]]) -> list[DeliveryView]:
    attempts = defaultdict[int, list[AttemptView]](list)
    ids = [row_id(row[0].id) for row in rows]
    query = select(DeliveryAttempt).where(col(DeliveryAttempt.outbox_id).in_(ids)).order_by(col(DeliveryAttempt.id))
    for a in (await session.scalars(query)).all():
        attempts[a.outbox_id].append(AttemptView(when(a.at), a.outcome, a.status, a.body, a.error, a.duration_ms))
    return [
        DeliveryView(
            id=row_id(o.id),
            alert_id=o.alert_id,
            channel_id=o.channel_id,
            channel=channel,
            channel_kind=kind,
            event=o.event,
            form=o.form,
            state=o.state,
            tries=o.attempts,
            created_at=when(o.created_at),
            next_try_at=o.next_try_at,
            delivered_at=o.delivered_at,
            action=o.action,
            route=o.route,
            attempts=tuple(attempts.get(row_id(o.id), ())),
        )
        for o, channel, kind in rows
    ]
