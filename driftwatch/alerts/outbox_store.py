"""SQL of the outbox: claim, record, finish. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from uuid import UUID, uuid4

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.channels.answer import Answer, Form, Sending, Thread
from driftwatch.alerts.message import Message, from_json, to_json
from driftwatch.alerts.notice import Action
from driftwatch.alerts.read import dedupe_key
from driftwatch.alerts.route_tables import AlertThread
from driftwatch.alerts.store import interval
from driftwatch.alerts.tables import Channel, DeliveryAttempt, Outbox
from driftwatch.db.engine import run_sql
from driftwatch.db.stored import row_id
from driftwatch.errors import ConflictError, NotFoundError

_BODY: Final = 2048

# The head of an ordering key is its oldest delivery that is not finished. A lease that ran out belongs to a worker
# that died or lost the database: the delivery goes out again under the same id. The channel is asked for again: since
# somebody saw that something waits for it, an answer may have put it out of service, or asked us to wait.
_CLAIM = text(
    """
    UPDATE outbox SET state = 'leased', attempts = attempts + 1, lease_token = :token,
                      leased_until = clock_timestamp() + make_interval(secs => :lease)
    WHERE id IN (
        SELECT o.id FROM outbox o
        WHERE o.channel_id = :channel AND o.state IN ('queued', 'leased')
          AND o.next_try_at <= clock_timestamp()
          AND (o.state = 'queued' OR o.leased_until <= clock_timestamp())
          AND EXISTS (SELECT FROM channel c
                      WHERE c.id = :channel AND c.state = 'enabled'
                        AND coalesce(c.paused_until, clock_timestamp()) <= clock_timestamp())
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
    alert_id: int | None
    kind: str
    message: Message
    form: Form
    attempts: int
    seconds_old: float
    event: str
    action: Action
    data: Mapping[str, Any] | None
    thread: Thread | None
    config: bytes = field(repr=False)

    @property
    def delivery_id(self) -> str:
        """The same for every attempt, so that a receiver can tell a repetition."""
        return f"dlv_{self.id}"

    @property
    def sending(self) -> Sending:
        """What the transport gets."""
        return Sending(
            message=self.message,
            delivery_id=self.delivery_id,
            event=self.event,
            form=self.form,
            action=self.action,
            data=self.data,
            thread=self.thread,
            attempt=self.attempts,
        )


async def amend(session: AsyncSession, message: Message, *, group: str) -> None:
    """Replace a message where it has not gone out yet."""
    channels = (await session.scalars(select(col(Channel.id)))).all()
    keys = [dedupe_key(group, row_id(channel)) for channel in channels]
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
    return [row_id(channel) for channel in (await session.scalars(query)).all()]


async def claim(session: AsyncSession, channel_id: int, *, limit: int, lease_seconds: float) -> list[Claimed]:
    """Take up to ``limit`` deliveries of a channel, heads of their ordering key only."""
    token = uuid4()
    parameters = {"token": token, "lease": lease_seconds, "channel": channel_id, "limit": limit}
    ids = list((await run_sql(session, _CLAIM, parameters)).scalars())
    age = func.extract("epoch", func.clock_timestamp() - col(Outbox.created_at))
    query = (
        select(Outbox, Channel, age, AlertThread)
        .join(Channel, col(Channel.id) == Outbox.channel_id)
        .outerjoin(
            AlertThread,
            (col(AlertThread.channel_id) == Outbox.channel_id) & (col(AlertThread.alert_id) == Outbox.alert_id),
        )
    )
    rows = (await session.execute(query.where(col(Outbox.id).in_(ids)).order_by(col(Outbox.id)))).all()
    return [
        Claimed(
            id=row_id(row.id),
            token=token,
            channel_id=row_id(channel.id),
            alert_id=row.alert_id,
            kind=channel.kind,
            message=from_json(row.payload),
            form="minimal" if row.form == "minimal" else "full",
            attempts=row.attempts,
            seconds_old=float(seconds),
            event=row.event,
            action=cast("Action", row.action),
            data=row.data,
            thread=None if thread is None else Thread(thread.conversation, thread.ts),
            config=channel.config,
        )
        for row, channel, seconds, thread in rows
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


async def keep_thread(session: AsyncSession, claimed: Claimed, thread: Thread) -> None:
    """Remember where an alert's first message stands in a channel; the first one stays."""
    if claimed.alert_id is not None:
        row = insert(AlertThread).values(
            channel_id=claimed.channel_id,
            alert_id=claimed.alert_id,
            conversation=thread.conversation,
            ts=thread.ts,
        )
        await session.execute(row.on_conflict_do_nothing())


async def redeliver(session: AsyncSession, outbox_id: int) -> Outbox:
    """Put a finished delivery in again under the same delivery id. Raises NotFoundError, ConflictError."""
    row = (await session.scalars(select(Outbox).where(col(Outbox.id) == outbox_id).with_for_update())).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no delivery {outbox_id}.", hint="Look at the channel's delivery log.")
    if row.state not in {"dead", "delivered"}:
        raise ConflictError("This delivery is still under way.", hint="Wait for its next try.")
    now = func.clock_timestamp()
    again = {"state": "queued", "form": "full", "next_try_at": now, "created_at": now, "delivered_at": None}
    await session.execute(update(Outbox).where(col(Outbox.id) == outbox_id).values(**again))
    await session.refresh(row)
    return row


async def id_of(session: AsyncSession, group: str, channel_id: int) -> int:
    """The id of the delivery of a group to a channel."""
    query = select(col(Outbox.id)).where(col(Outbox.dedupe_key) == dedupe_key(group, channel_id))
    return row_id((await session.execute(query)).scalar_one())
