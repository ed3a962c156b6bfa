"""SQL of the outbox and its channels. The caller owns the transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.channels.answer import Answer, Form
from driftwatch.alerts.message import Message, from_json, to_json
from driftwatch.alerts.read import dedupe_key
from driftwatch.alerts.store import interval, known
from driftwatch.alerts.tables import Channel, DeliveryAttempt, Outbox
from driftwatch.db.engine import run_sql
from driftwatch.web.auth.tables import AuditEntry

_BODY: Final = 2048

# The head of an ordering key is its oldest delivery that is not finished. A lease that ran out belongs to a worker
# that died or lost the database: the delivery goes out again under the same id.
_CLAIM = text(
    """
    UPDATE outbox SET state = 'leased', attempts = attempts + 1, lease_token = :token,
                      leased_until = clock_timestamp() + make_interval(secs => :lease)
    WHERE id IN (
        SELECT o.id FROM outbox o
        WHERE o.channel_id = :channel AND o.state IN ('queued', 'leased')
          AND o.next_try_at <= clock_timestamp()
          AND (o.state = 'queued' OR o.leased_until <= clock_timestamp())
          AND NOT EXISTS (SELECT FROM outbox earlier
                          WHERE earlier.ordering_key = o.ordering_key AND earlier.id < o.id
                            AND earlier.state IN ('queued', 'leased'))
        ORDER BY o.next_try_at, o.id
        LIMIT :limit
        FOR UPDATE OF o SKIP LOCKED)
    RETURNING id
    """
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery this worker may make until its lease ends. ``seconds_old``: since it was written."""

    id: int
    token: UUID
    channel_id: int
    kind: str
    message: Message
    form: Form
    attempts: int
    seconds_old: float
    config: bytes = field(repr=False)

    @property
    def delivery_id(self) -> str:
        """The same for every attempt, so that a receiver can tell a repetition."""
        return f"dlv_{self.id}"


async def enqueue(
    session: AsyncSession, message: Message, *, group: str, event: str, alert_id: int | None, ordering: str
) -> int:
    """Put a message into the outbox, once for every enabled channel; how many there are.

    ``group`` names what is told (an alert event): a second call with it adds nothing. Messages with the same
    ``ordering`` reach a channel in the order in which they were put in.
    """
    enabled = (await session.scalars(select(col(Channel.id)).where(col(Channel.state) == "enabled"))).all()
    rows = [
        {
            "dedupe_key": dedupe_key(group, known(channel)),
            "ordering_key": f"{channel}:{ordering}",
            "channel_id": channel,
            "alert_id": alert_id,
            "event": event,
            "payload": to_json(message),
            "form": "full",
            "attempts": 0,
        }
        for channel in enabled
    ]
    if rows:
        await session.execute(insert(Outbox).values(rows).on_conflict_do_nothing(index_elements=["dedupe_key"]))
    return len(rows)


async def amend(session: AsyncSession, message: Message, *, group: str) -> None:
    """Replace a message where it has not gone out yet."""
    channels = (await session.scalars(select(col(Channel.id)))).all()
    keys = [dedupe_key(group, known(channel)) for channel in channels]
    query = update(Outbox).where(col(Outbox.dedupe_key).in_(keys), col(Outbox.state) == "queued")
    await session.execute(query.values(payload=to_json(message)))


async def waiting_channels(session: AsyncSession) -> list[int]:
    """Enabled channels, not asked to be left alone, with a delivery whose time has come."""
    query = (
        select(col(Channel.id))
        .join(Outbox, col(Outbox.channel_id) == Channel.id)
        .where(
            col(Channel.state) == "enabled",
            func.coalesce(col(Channel.paused_until), func.clock_timestamp()) <= func.clock_timestamp(),
            col(Outbox.state).in_(("queued", "leased")),
            col(Outbox.next_try_at) <= func.clock_timestamp(),
        )
        .distinct()
    )
    return [known(channel) for channel in (await session.scalars(query)).all()]


async def claim(session: AsyncSession, channel_id: int, *, limit: int, lease_seconds: float) -> list[Claimed]:
    """Take up to ``limit`` deliveries of a channel, heads of their ordering key only."""
    token = uuid4()
    parameters = {"token": token, "lease": lease_seconds, "channel": channel_id, "limit": limit}
    ids = list((await run_sql(session, _CLAIM, parameters)).scalars())
    age = func.extract("epoch", func.clock_timestamp() - col(Outbox.created_at))
    query = select(Outbox, Channel, age).join(Channel, col(Channel.id) == Outbox.channel_id)
    rows = (await session.execute(query.where(col(Outbox.id).in_(ids)).order_by(col(Outbox.id)))).all()
    return [
        Claimed(
            id=known(row.id),
            token=token,
            channel_id=known(channel.id),
            kind=channel.kind,
            message=from_json(row.payload),
            form="minimal" if row.form == "minimal" else "full",
            attempts=row.attempts,
            seconds_old=float(seconds),
            config=channel.config,
        )
        for row, channel, seconds in rows
    ]


async def record(session: AsyncSession, claimed: Claimed, answer: Answer, *, duration_ms: float) -> None:
    """Write down what a channel answered, whoever holds the lease by now."""
    session.add(
        DeliveryAttempt(
            outbox_id=claimed.id,
            outcome=answer.outcome,
            status=answer.status,
            body=None if answer.body is None else answer.body[:_BODY],
            error=answer.error,
            duration_ms=round(duration_ms, 1),
        )
    )


async def finish(session: AsyncSession, claimed: Claimed, state: str) -> None:
    """End a delivery: ``delivered`` or ``dead``. Delivered is true even when the lease was lost meanwhile."""
    query = update(Outbox).where(col(Outbox.id) == claimed.id)
    if state == "delivered":
        query = query.where(col(Outbox.state) != "delivered").values(delivered_at=func.clock_timestamp())
    else:
        query = query.where(col(Outbox.lease_token) == claimed.token)
    await session.execute(query.values(state=state, lease_token=None, leased_until=None))


async def retry(session: AsyncSession, claimed: Claimed, *, seconds: float, form: Form) -> None:
    """Put a delivery back, to be tried again later."""
    query = update(Outbox).where(col(Outbox.id) == claimed.id, col(Outbox.lease_token) == claimed.token)
    later = func.clock_timestamp() + interval(seconds)
    await session.execute(
        query.values(state="queued", lease_token=None, leased_until=None, next_try_at=later, form=form)
    )


async def pause(session: AsyncSession, channel_id: int, *, seconds: float) -> None:
    """A channel asked to wait: nothing goes to it before that."""
    query = update(Channel).where(col(Channel.id) == channel_id)
    await session.execute(query.values(paused_until=func.clock_timestamp() + interval(seconds)))


async def disable(session: AsyncSession, channel_id: int, reason: str) -> None:
    """Take a channel out of service until a person repairs it; what waits for it stays."""
    query = update(Channel).where(col(Channel.id) == channel_id, col(Channel.state) == "enabled")
    changed = await session.execute(query.values(state="disabled", disabled_reason=reason).returning(col(Channel.name)))
    for name in changed.scalars():
        audit(session, "channel.disabled", name, after={"reason": reason})


def audit(session: AsyncSession, action: str, channel: str, *, after: object) -> None:
    """An audit row for what driftwatch itself did to a channel; it never holds the channel's secret."""
    session.add(AuditEntry(actor="driftwatch", action=action, object=f"channel {channel}", after=after))


async def channel_named(session: AsyncSession, name: str) -> Channel | None:
    """A channel by its name, locked."""
    query = select(Channel).where(col(Channel.name) == name).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def add_channel(session: AsyncSession, name: str, kind: str, config: bytes) -> Channel:
    """A new channel; when another process was quicker, the one it made."""
    query = insert(Channel).values(name=name, kind=kind, config=config, state="enabled")
    await session.execute(query.on_conflict_do_nothing(index_elements=["name"]))
    return (await session.scalars(select(Channel).where(col(Channel.name) == name))).one()
