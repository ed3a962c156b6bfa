"""SQL of the listener: what should be held, and what was heard. Writes go through the fenced connection only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.scheduler.streams.shares import Connection
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Credential, Profile, Server

#: while one notification is followed up, the next ones are answered by one poll; a change they announce is not late
STORM_GAP_SECONDS: Final = 0.5
NOISY_GAP_SECONDS: Final = 30.0
#: so many notifications within a minute are a storm, whatever they announce
STORM: Final = 20
NOISY_HOURS: Final = 1

Row = tuple[ProfileState, Profile, Server, Credential | None]
Covered = tuple[int, datetime | None, str, str | None]
"""(id, verified until, ended by, why)"""

_OPEN: Final = """
INSERT INTO stream_interval (profile_id, acked, verified_until, ended_by)
SELECT p.id, %(acked)s, NULL, 'open' FROM profile p WHERE p.id = %(profile_id)s
RETURNING id
"""

_COVER: Final = """
UPDATE stream_interval i
SET verified_until = greatest(i.verified_until, g.until), ended_by = g.ended_by, ended_why = g.why
FROM unnest(%(ids)s::bigint[], %(untils)s::timestamptz[], %(ended)s::text[], %(whys)s::text[])
    AS g(id, until, ended_by, why)
WHERE i.id = g.id
"""

_LISTENING: Final = """
INSERT INTO listening (profile_id, at, state, reason)
SELECT p.id, g.at, g.state, g.reason
FROM unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(states)s::text[], %(reasons)s::text[])
    WITH ORDINALITY AS g(id, at, state, reason, n)
JOIN profile p ON p.id = g.id
WHERE NOT EXISTS (
    SELECT 1 FROM (
        SELECT l.state, l.reason FROM listening l WHERE l.profile_id = g.id ORDER BY l.id DESC LIMIT 1
    ) AS last WHERE last.state = g.state AND last.reason IS NOT DISTINCT FROM g.reason)
ORDER BY g.n
"""

# Rows that a listener which is gone left open: it heard nothing after what it last wrote.
_ORPHANS: Final = """
UPDATE stream_interval SET ended_by = 'us', ended_why = 'listener-lost'
WHERE ended_by = 'open' AND mod(profile_id, %(modulus)s) = ANY(%(shards)s)
"""

_LOCK: Final = """
SELECT profile_id FROM profile_state WHERE profile_id = ANY(%(ids)s) ORDER BY profile_id FOR UPDATE
"""

_NOTE: Final = """
INSERT INTO notification (profile_id, at, source, spent_at)
SELECT g.id, g.at, g.source, CASE WHEN g.source = 'start-up' THEN g.at END
FROM unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(sources)s::text[]) AS g(id, at, source)
JOIN profile_state s ON s.profile_id = g.id
"""

# The looks 2, 10 and 30 s later are made due by how the polls end (finish.py); this is the one at 0 s.
_FOLLOW: Final = """
UPDATE profile_state s SET
    noisy_until = CASE WHEN storm.size >= %(storm)s THEN now() + make_interval(hours => %(hours)s)
                       ELSE s.noisy_until END,
    due_reason = CASE WHEN soonest.due < s.next_due_at THEN 'notification' ELSE s.due_reason END,
    next_due_at = least(s.next_due_at, soonest.due),
    follow_from = greatest(s.follow_from, g.at)
FROM unnest(%(ids)s::bigint[], %(ats)s::timestamptz[]) AS g(id, at)
JOIN profile_state t ON t.profile_id = g.id
CROSS JOIN LATERAL (
    SELECT count(*) AS size FROM notification n WHERE n.profile_id = g.id AND n.at > now() - interval '1 minute'
) AS storm
CROSS JOIN LATERAL (SELECT greatest(clock_timestamp(), t.last_poll_at + make_interval(secs => CASE
    WHEN t.noisy_until > now() THEN %(noisy_gap)s
    WHEN t.follow_from > now() - interval '30 seconds' THEN %(storm_gap)s ELSE 0 END)) AS due) AS soonest
WHERE s.profile_id = g.id AND s.next_due_at IS NOT NULL
"""

_JUDGE_AGAIN: Final = """
UPDATE change SET judge_at = clock_timestamp() WHERE profile_id = ANY(%(ids)s) AND judge_at > clock_timestamp()
"""

# A stream that the server ended may be the only trace of a quick restart; a look right now may find another one.
_LOOK_NOW: Final = """
UPDATE profile_state SET next_due_at = clock_timestamp(), due_reason = 'stream-ended'
WHERE profile_id = ANY(%(ids)s) AND next_due_at > clock_timestamp() AND claim_token IS NULL AND failures = 0
"""


async def load_wanted(session: AsyncSession, shards: Collection[int], modulus: int) -> list[Row]:
    """Every watched profile of these shards, with its server and credential."""
    query = (
        select(ProfileState, Profile, Server, Credential)
        .join(Profile, col(Profile.id) == col(ProfileState.profile_id))
        .join(Server, col(Server.id) == col(Profile.server_id))
        .outerjoin(Credential, col(Credential.id) == col(Profile.credential_id))
        .where(
            col(Profile.closed_at).is_(None),
            Server.state == "active",
            col(Server.pushed).is_(False),
            func.mod(col(Profile.id), modulus).in_(list(shards)),
        )
    )
    return [(state, profile, server, credential) for state, profile, server, credential in await session.exec(query)]


async def end_orphans(connection: Connection, shards: Collection[int], modulus: int) -> None:
    """End the intervals that a lost listener left open in shards that are ours now."""
    await connection.execute(_ORPHANS, {"shards": list(shards), "modulus": modulus})


async def lock_profiles(connection: Connection, profile_ids: Collection[int]) -> None:
    """Lock the hot rows that will be written, in the order in which everybody locks them."""
    if profile_ids:
        await connection.execute(_LOCK, {"ids": sorted(profile_ids)})


async def open_interval(connection: Connection, profile_id: int, acked: Any) -> int | None:
    """A new interval that proves nothing yet; None when the profile is gone."""
    row = await (await connection.execute(_OPEN, {"profile_id": profile_id, "acked": acked})).fetchone()
    return None if row is None else int(row[0])


async def cover(connection: Connection, rows: Sequence[Covered]) -> None:
    """Write how far intervals are verified and how they ended: (id, until, ended by, why)."""
    if rows:
        ids, untils, ended, whys = (list(column) for column in zip(*rows, strict=True))
        await connection.execute(_COVER, {"ids": ids, "untils": untils, "ended": ended, "whys": whys})


async def note_listening(connection: Connection, rows: Sequence[tuple[int, Any, str, str | None]]) -> None:
    """Write that listening to a profile changed: (profile, at, state, reason)."""
    if rows:
        ids, ats, states, reasons = (list(column) for column in zip(*rows, strict=True))
        await connection.execute(_LISTENING, {"ids": ids, "ats": ats, "states": states, "reasons": reasons})


async def note_notifications(connection: Connection, rows: Sequence[tuple[int, Any, str]]) -> None:
    """Store notifications (profile, at, source), let the profiles be polled, and judge their changes again.

    The profiles must be locked.
    """
    if not rows:
        return
    ids, ats, sources = (list(column) for column in zip(*rows, strict=True))
    await connection.execute(_NOTE, {"ids": ids, "ats": ats, "sources": sources})
    latest: Mapping[int, Any] = {
        profile: max(at for other, at, source in rows if other == profile and source == "stream")
        for profile in {profile for profile, _, source in rows if source == "stream"}
    }
    if not latest:
        return
    follow = {"storm": STORM, "hours": NOISY_HOURS, "noisy_gap": NOISY_GAP_SECONDS, "storm_gap": STORM_GAP_SECONDS}
    await connection.execute(_FOLLOW, {"ids": list(latest), "ats": list(latest.values()), **follow})
    await judge_again(connection, latest)


async def judge_again(connection: Connection, profile_ids: Collection[int]) -> None:
    """Bring forward the next judging of changes that are not final. The profiles must be locked."""
    if profile_ids:
        await connection.execute(_JUDGE_AGAIN, {"ids": sorted(profile_ids)})


async def look_now(connection: Connection, profile_ids: Collection[int]) -> None:
    """Let profiles whose stream was ended by the server be polled at once, unless they are polled anyway.

    The profiles must be locked.
    """
    if profile_ids:
        await connection.execute(_LOOK_NOW, {"ids": sorted(profile_ids)})
