"""SQL of the evidence timeline of one server: streams, notifications, restarts and changes in a stretch of time."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.engine import run_sql
from driftwatch.db.types import unescape
from driftwatch.web.pages.evidence_views import Evidence, Happened, Marked, Stretch

#: of each kind at most this many, the newest
CAP: Final = 400
CAP_CHANGES: Final = 4 * CAP

_PROFILES = "SELECT id FROM profile WHERE server_id = :server AND closed_at IS NULL"
_STREAMS = text(f"""
SELECT p.era, s.acked, s.verified_until, s.ended_by FROM stream_interval s JOIN profile p ON p.id = s.profile_id
WHERE s.profile_id IN ({_PROFILES}) AND s.verified_until IS NOT NULL AND s.verified_until > :start
ORDER BY s.acked DESC LIMIT :cap
""")  # noqa: S608 - constants only
_NOTIFIED = text(f"""
SELECT p.era, n.at, n.source, n.spent_by FROM notification n JOIN profile p ON p.id = n.profile_id
WHERE n.profile_id IN ({_PROFILES}) AND n.at > :start AND n.source <> 'start-up' ORDER BY n.at DESC LIMIT :cap
""")  # noqa: S608 - constants only
_RESTARTS = text(f"""
SELECT p.era, r.at, r.kind FROM restart_evidence r JOIN profile p ON p.id = r.profile_id
WHERE r.profile_id IN ({_PROFILES}) AND r.at > :start ORDER BY r.at DESC LIMIT :cap
""")  # noqa: S608 - constants only
# recorded_at has the index; a change is recorded moments after its window ends
_CHANGES = text("""
SELECT c.id, c.changeset_id, t.name, c.kind, v.number, c.verdict, c.via, c.part, c.announcement,
       c.announcement_reason, c.window_end
FROM change c JOIN tool t ON t.id = c.tool_id LEFT JOIN tool_version v ON v.id = c.to_version_id
WHERE c.server_id = :server AND c.recorded_at > :start AND c.window_end > :start ORDER BY c.recorded_at DESC LIMIT :cap
""")


async def evidence(session: AsyncSession, server_id: int, start: datetime) -> Evidence:
    """What is known of the server since ``start``, each kind oldest first."""
    given = {"server": server_id, "start": start, "cap": CAP}
    streams = (await run_sql(session, _STREAMS, given)).all()
    notified = (await run_sql(session, _NOTIFIED, given)).all()
    restarts = (await run_sql(session, _RESTARTS, given)).all()
    changes = (await run_sql(session, _CHANGES, {**given, "cap": CAP_CHANGES})).all()
    return Evidence(
        streams=tuple(Stretch(r.era, r.acked, r.verified_until, r.ended_by) for r in reversed(streams)),
        notified=tuple(
            Marked(r.era, r.at, "answered a change" if r.spent_by else f"by {r.source}") for r in reversed(notified)
        ),
        restarts=tuple(Marked(r.era, r.at, r.kind.replace("-", " ")) for r in reversed(restarts)),
        changes=tuple(
            Happened(
                change_id=r.id,
                changeset_id=r.changeset_id,
                tool=unescape(r.name),
                kind=r.kind,
                number=r.number,
                verdict=r.verdict,
                via=r.via,
                part=r.part,
                announcement=r.announcement,
                reason=r.announcement_reason,
                at=r.window_end,
            )
            for r in reversed(changes)
        ),
    )
