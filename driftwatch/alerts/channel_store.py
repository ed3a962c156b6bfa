"""SQL of channels. The caller owns the transaction."""

from __future__ import annotations

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.store import interval
from driftwatch.alerts.tables import Channel, Outbox
from driftwatch.errors import NotFoundError
from driftwatch.web.auth.tables import AuditEntry


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


async def lock_channel(session: AsyncSession, channel_id: int) -> Channel:
    """A channel, locked. Raises NotFoundError, also for a deleted one."""
    query = select(Channel).where(col(Channel.id) == channel_id, col(Channel.state) != "deleted").with_for_update()
    channel = (await session.scalars(query)).one_or_none()
    if channel is None:
        raise NotFoundError(f"There is no channel {channel_id}.", hint="Look at the list of channels.")
    return channel


async def refused(session: AsyncSession, channel_id: int, *, most: int) -> None:
    """Count a message that a channel refused for good; after ``most`` in a row it is taken out of service."""
    query = update(Channel).where(col(Channel.id) == channel_id).values(refusals=col(Channel.refusals) + 1)
    count = (await session.execute(query.returning(col(Channel.refusals)))).scalar_one()
    if count >= most:
        await disable(session, channel_id, f"{count} messages in a row were refused")


async def taken(session: AsyncSession, channel_id: int) -> None:
    """A channel took a message: the count of refusals begins anew."""
    query = update(Channel).where(col(Channel.id) == channel_id, col(Channel.refusals) > 0)
    await session.execute(query.values(refusals=0))


async def bury(session: AsyncSession, channel_id: int) -> None:
    """End everything that waits for a channel that is no more."""
    waiting = col(Outbox.state).in_(("queued", "leased"))
    query = update(Outbox).where(col(Outbox.channel_id) == channel_id, waiting)
    await session.execute(query.values(state="dead", lease_token=None, leased_until=None))
