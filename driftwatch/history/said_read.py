"""What servers said of themselves, and when they began to say something else. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.noise import changed_paths
from driftwatch.db.engine import run_sql
from driftwatch.history.tables import SnapshotRow
from driftwatch.history.views import Statement
from driftwatch.servers.tables import Profile

#: lists of a profile that are looked at, the newest ones
_LOOK_BACK: Final = 100

_SPOKE: Final = text("""
SELECT DISTINCT v.name FROM snapshot s
JOIN profile p ON p.id = s.profile_id JOIN server v ON v.id = p.server_id
CROSS JOIN LATERAL (
    SELECT * FROM snapshot b WHERE b.profile_id = s.profile_id AND b.id < s.id ORDER BY b.id DESC LIMIT 1
) AS before
WHERE s.first_seen_at > :since AND s.first_seen_at <= :until AND v.state <> 'deleted' AND p.closed_at IS NULL
  AND (s.protocol_version, s.server_info, s.instructions, s.capabilities)
      IS DISTINCT FROM (before.protocol_version, before.server_info, before.instructions, before.capabilities)
ORDER BY v.name
""")


async def statements(session: AsyncSession, server_id: int, *, limit: int = 20) -> list[Statement]:
    """What a server says of itself that it did not say before, to each kind of client, newest first."""
    profiles = (
        await session.exec(
            select(Profile.id, Profile.era).where(Profile.server_id == server_id, col(Profile.closed_at).is_(None))
        )
    ).all()
    found: list[Statement] = []
    for profile_id, era in profiles:
        query = select(SnapshotRow).where(SnapshotRow.profile_id == profile_id).order_by(col(SnapshotRow.id).desc())
        found += _changes(era, (await session.exec(query.limit(_LOOK_BACK))).all())
    return sorted(found, key=lambda one: one.at, reverse=True)[:limit]


async def spoke_anew(session: AsyncSession, since: datetime, until: datetime) -> list[str]:
    """Names of servers that began to say something else of themselves in a stretch of time."""
    return list((await run_sql(session, _SPOKE, {"since": since, "until": until})).scalars())


def _changes(era: str, newest_first: Sequence[SnapshotRow]) -> Iterator[Statement]:
    for new, old in pairwise(newest_first):
        before, after = _fields(old), _fields(new)
        for pointer in sorted(changed_paths(before, after)):
            yield Statement(era, new.first_seen_at, pointer, _at(before, pointer), _at(after, pointer))


def _fields(row: SnapshotRow) -> dict[str, Any]:
    said = {
        "protocolVersion": row.protocol_version,
        "serverInfo": row.server_info,
        "instructions": row.instructions,
        "capabilities": row.capabilities,
    }
    return {name: value for name, value in said.items() if value is not None}


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list):
            value = value[int(key)]
    return value
