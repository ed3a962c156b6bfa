"""The tool list of a server as it was at a moment, and where the moment lies in a window: then it may be either."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.db.types import unescape

# An interval counts from the first arrival of its definition; its true start lies in (window_start, valid_from].
_LIST = text("""
SELECT t.id, t.name, p.era, i.version_id, v.number,
       n.window_start, n.valid_from, n.version_id AS next_id, w.number AS next_number
FROM tool t
JOIN profile p ON p.id = t.profile_id
LEFT JOIN tool_interval i
  ON i.tool_id = t.id AND i.valid_from <= :at AND (i.valid_to IS NULL OR i.valid_to > :at)
LEFT JOIN tool_version v ON v.id = i.version_id
LEFT JOIN LATERAL (
  SELECT * FROM tool_interval x
  WHERE x.tool_id = t.id AND x.window_start < :at AND x.valid_from > :at ORDER BY x.valid_from LIMIT 1
) n ON true
LEFT JOIN tool_version w ON w.id = n.version_id
WHERE p.server_id = :server AND p.closed_at IS NULL AND (i.version_id IS NOT NULL OR n.version_id IS NOT NULL)
ORDER BY t.name, p.era DESC
""")
_FIRST = text("""
SELECT min(s.first_seen_at) FROM snapshot s JOIN profile p ON p.id = s.profile_id
WHERE p.server_id = :server AND p.closed_at IS NULL
""")


@dataclass(frozen=True, slots=True)
class ToolAsOf:
    """A tool at a moment. ``number`` None: it was not listed.

    ``maybe``: inside a window of change it may already have been ``next_number`` (None: already gone).
    """

    tool_id: int
    name: str
    era: str
    version_id: int | None
    number: int | None
    maybe: tuple[datetime, datetime] | None = None
    next_number: int | None = None


async def tools_as_of(session: AsyncSession, server_id: int, at: datetime) -> list[ToolAsOf]:
    """The tools of the open profiles at ``at``, by name."""
    rows = (await run_sql(session, _LIST, {"server": server_id, "at": at})).all()
    return [
        ToolAsOf(
            tool_id=row.id,
            name=unescape(row.name),
            era=row.era,
            version_id=row.version_id,
            number=row.number,
            maybe=None if row.valid_from is None else (row.window_start, row.valid_from),
            next_number=row.next_number,
        )
        for row in rows
    ]


async def watched_since(session: AsyncSession, server_id: int) -> datetime | None:
    """When the first list of the server arrived; None before that."""
    found: datetime | None = (await run_sql(session, _FIRST, {"server": server_id})).scalar()
    return found
