"""From a notice to the outbox: routes choose the channels, each channel's kind says what it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects.postgresql import insert
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import route_store
from driftwatch.alerts.message import to_json
from driftwatch.alerts.notice import Notice, parcels
from driftwatch.alerts.read import dedupe_key
from driftwatch.alerts.routes import Destination, plan
from driftwatch.alerts.tables import Outbox


async def dispatch(session: AsyncSession, notice: Notice) -> int:
    """Put a notice into the outbox, in the caller's transaction; how many channels are told.

    A second call with the same group adds nothing.
    """
    before = await route_store.told_before(session, notice.alert_id)
    planned = plan(
        await route_store.rules(session), await route_store.ways(session), notice.facts, known_to=sorted(before)
    )
    rows = [row for told in planned.told for row in _rows(notice, told, has_parent=before.get(told.channel_id, False))]
    if rows:
        await session.execute(insert(Outbox).values(rows).on_conflict_do_nothing(index_elements=["dedupe_key"]))
    return len({row["channel_id"] for row in rows})


async def send_to(session: AsyncSession, notice: Notice, destination: Destination, *, has_parent: bool = False) -> None:
    """Put a notice into the outbox for one channel, whatever the routes say: a test, an answer to a button."""
    rows = _rows(notice, destination, has_parent=has_parent)
    await session.execute(insert(Outbox).values(rows).on_conflict_do_nothing(index_elements=["dedupe_key"]))


def _rows(notice: Notice, told: Destination, *, has_parent: bool) -> Sequence[dict[str, Any]]:
    return [
        {
            "dedupe_key": dedupe_key(notice.group, told.channel_id) + parcel.key,
            "ordering_key": f"{told.channel_id}:{notice.ordering}",
            "channel_id": told.channel_id,
            "alert_id": notice.alert_id,
            "server_id": notice.server_id,
            "event": notice.event,
            "payload": to_json(parcel.message),
            "data": None if notice.data is None else dict(notice.data),
            "action": parcel.action,
            "route": told.why,
            "form": "full",
            "attempts": 0,
        }
        for parcel in parcels(told.kind, notice, has_parent=has_parent)
    ]
