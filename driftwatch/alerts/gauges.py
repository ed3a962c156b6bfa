"""Metrics of alerts and deliveries, read from the database when somebody asks: every process shows the same."""

from __future__ import annotations

from typing import Final

from prometheus_client import Gauge
from sqlalchemy import func, select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import Alert, Channel, DeliveryAttempt, Outbox
from driftwatch.telemetry import REGISTRY

DEPTH: Final = Gauge("driftwatch_outbox_depth", "Deliveries not yet made.", ["channel"], registry=REGISTRY)
OLDEST: Final = Gauge(
    "driftwatch_outbox_oldest_seconds", "Age of the oldest delivery not yet made.", ["channel"], registry=REGISTRY
)
ATTEMPTS: Final = Gauge(
    "driftwatch_deliveries", "Attempts made, by what the channel answered.", ["channel", "outcome"], registry=REGISTRY
)
DEAD: Final = Gauge("driftwatch_dead_letters", "Deliveries that were given up.", ["channel"], registry=REGISTRY)
ALERTS: Final = Gauge("driftwatch_alerts", "Alerts by kind and state.", ["kind", "state"], registry=REGISTRY)
HELD: Final = Gauge("driftwatch_alerts_held", "Alerts nobody was told of yet, by why.", ["why"], registry=REGISTRY)
CHANNEL_UP: Final = Gauge(
    "driftwatch_channel_enabled", "1 while a channel is in service.", ["channel"], registry=REGISTRY
)


async def refresh(session: AsyncSession) -> None:
    """Set every gauge to what the database says now."""
    for gauge in (DEPTH, OLDEST, ATTEMPTS, DEAD, ALERTS, HELD, CHANNEL_UP):
        gauge.clear()
    await _outbox(session)
    attempts = (
        select(col(Channel.name), col(DeliveryAttempt.outcome), func.count())
        .join(Outbox, col(Outbox.id) == DeliveryAttempt.outbox_id)
        .join(Channel, col(Channel.id) == Outbox.channel_id)
        .group_by(col(Channel.name), col(DeliveryAttempt.outcome))
    )
    for channel, outcome, number in (await session.execute(attempts)).all():
        ATTEMPTS.labels(channel, outcome).set(number)
    by_state = select(col(Alert.kind), col(Alert.state), func.count()).group_by(col(Alert.kind), col(Alert.state))
    for kind, state, number in (await session.execute(by_state)).all():
        ALERTS.labels(kind, state).set(number)
    held = select(col(Alert.held), func.count()).where(col(Alert.held).is_not(None)).group_by(col(Alert.held))
    for why, number in (await session.execute(held)).all():
        HELD.labels(why).set(number)


async def _outbox(session: AsyncSession) -> None:
    waiting = col(Outbox.state).in_(("queued", "leased"))
    age = func.extract("epoch", func.clock_timestamp() - func.min(col(Outbox.created_at)).filter(waiting))
    query = (
        select(
            col(Channel.name),
            col(Channel.state),
            func.count(col(Outbox.id)).filter(waiting),
            age,
            func.count(col(Outbox.id)).filter(col(Outbox.state) == "dead"),
        )
        .outerjoin(Outbox, col(Outbox.channel_id) == Channel.id)
        .where(col(Channel.state) != "deleted")
        .group_by(col(Channel.id))
    )
    for channel, state, depth, oldest, dead in (await session.execute(query)).all():
        CHANNEL_UP.labels(channel).set(state == "enabled")
        DEPTH.labels(channel).set(depth)
        OLDEST.labels(channel).set(float(oldest or 0))
        DEAD.labels(channel).set(dead)
