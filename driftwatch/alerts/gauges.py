"""Metrics of alerts and deliveries, read from the database when somebody asks: every process shows the same."""

from __future__ import annotations

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import func, select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import Alert, Channel, DeliveryAttempt, Outbox


async def read(session: AsyncSession) -> list[Metric]:
    """Every gauge of this room, as the database says now."""
    return [*await _channels(session), await _attempts(session), await _alerts(session), await _held(session)]


async def _channels(session: AsyncSession) -> list[GaugeMetricFamily]:
    enabled = GaugeMetricFamily("driftwatch_channel_enabled", "1 while a channel is in service.", labels=["channel"])
    depth = GaugeMetricFamily("driftwatch_outbox_depth", "Deliveries not yet made.", labels=["channel"])
    oldest = GaugeMetricFamily(
        "driftwatch_outbox_oldest_seconds", "Age of the oldest delivery not yet made.", labels=["channel"]
    )
    dead = GaugeMetricFamily("driftwatch_dead_letters", "Deliveries that were given up.", labels=["channel"])
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
    for channel, state, waits, seconds, given_up in (await session.execute(query)).all():
        enabled.add_metric([channel], state == "enabled")
        depth.add_metric([channel], waits)
        oldest.add_metric([channel], float(seconds or 0))
        dead.add_metric([channel], given_up)
    return [enabled, depth, oldest, dead]


async def _attempts(session: AsyncSession) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(
        "driftwatch_deliveries", "Attempts made, by what the channel answered.", labels=["channel", "outcome"]
    )
    query = (
        select(col(Channel.name), col(DeliveryAttempt.outcome), func.count())
        .join(Outbox, col(Outbox.id) == DeliveryAttempt.outbox_id)
        .join(Channel, col(Channel.id) == Outbox.channel_id)
        .group_by(col(Channel.name), col(DeliveryAttempt.outcome))
    )
    for channel, outcome, number in (await session.execute(query)).all():
        gauge.add_metric([channel, outcome], number)
    return gauge


async def _alerts(session: AsyncSession) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily("driftwatch_alerts", "Alerts by kind and state.", labels=["kind", "state"])
    query = select(col(Alert.kind), col(Alert.state), func.count()).group_by(col(Alert.kind), col(Alert.state))
    for kind, state, number in (await session.execute(query)).all():
        gauge.add_metric([kind, state], number)
    return gauge


async def _held(session: AsyncSession) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily("driftwatch_alerts_held", "Alerts nobody was told of yet, by why.", labels=["why"])
    query = select(col(Alert.held), func.count()).where(col(Alert.held).is_not(None)).group_by(col(Alert.held))
    for why, number in (await session.execute(query)).all():
        gauge.add_metric([why], number)
    return gauge
