"""SQL of history: what is held, and how a change is written. The caller owns the transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import Snapshot, meaning
from driftwatch.capture.said import Said
from driftwatch.db.stored import row_id
from driftwatch.errors import NotFoundError
from driftwatch.history.changesets import Group
from driftwatch.history.tables import (
    Change,
    Changeset,
    SnapshotRow,
    Tool,
    ToolInterval,
    ToolVersion,
)
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.wire.facts import Listing

#: changesets whose last window ended longer ago than this before a new window are not looked at
_EARLIER: Final = 30


@dataclass(frozen=True, slots=True)
class Known:
    """A tool of a profile with its current version and what that means; None in all three: absent."""

    tool_id: int
    version_id: int | None
    sha256: bytes | None
    meaning: bytes | None


@dataclass(frozen=True, slots=True)
class Interval:
    """When a version became current; ``version_id`` None: the tool was absent."""

    version_id: int | None
    valid_from: datetime


async def lock_state(session: AsyncSession, profile_id: int) -> ProfileState:
    """The profile's hot row, locked until the end of the transaction. Raises NotFoundError."""
    query = select(ProfileState).where(ProfileState.profile_id == profile_id).with_for_update()
    state = (await session.exec(query.execution_options(populate_existing=True))).one_or_none()
    if state is None:
        raise NotFoundError(f"There is no profile {profile_id}.", hint="The server may have been deleted.")
    return state


async def lock_server(session: AsyncSession, profile_id: int) -> int | None:
    """The server of a profile, locked so that its changesets form one after the other; None when one of them is gone.

    Always taken after the profile's own lock.
    """
    query = (
        select(Server.id)
        .join(Profile, col(Profile.server_id) == col(Server.id))
        .where(col(Profile.id) == profile_id, col(Profile.closed_at).is_(None), col(Server.state) != "deleted")
        .with_for_update(of=Server, key_share=True)
    )
    return (await session.exec(query)).one_or_none()


async def known_tools(session: AsyncSession, profile_id: int) -> dict[str, Known]:
    """Every tool ever believed of a profile, by name."""
    query = (
        select(Tool.name, Tool.id, ToolVersion)
        .outerjoin(ToolInterval, (col(ToolInterval.tool_id) == col(Tool.id)) & col(ToolInterval.valid_to).is_(None))
        .outerjoin(ToolVersion, col(ToolVersion.id) == col(ToolInterval.version_id))
        .where(col(Tool.profile_id) == profile_id)
    )
    return {name: _known(row_id(tool), version) for name, tool, version in (await session.exec(query)).all()}


async def has_snapshot(session: AsyncSession, profile_id: int) -> bool:
    """True once a first list of the profile was believed."""
    query = select(SnapshotRow.id).where(SnapshotRow.profile_id == profile_id).limit(1)
    return (await session.exec(query)).first() is not None


async def put_snapshot(
    session: AsyncSession, profile_id: int, snapshot: Snapshot, listing: Listing, said: Said
) -> None:
    """Add a snapshot row when it differs from the last one, in its tools or in what the server says of itself."""
    row = SnapshotRow(
        profile_id=profile_id,
        fingerprint=snapshot.fingerprint,
        first_seen_at=listing.arrived_at,
        protocol_version=listing.facts.protocol_version,
        server_info=_plain(listing.facts.server_info),
        instructions=listing.facts.instructions,
        capabilities=_plain(listing.facts.capabilities),
        tool_count=len(snapshot.tools),
        findings=[asdict(note) for note in (*said.findings, *snapshot.findings)] or None,
    )
    query = select(SnapshotRow).where(SnapshotRow.profile_id == profile_id).order_by(col(SnapshotRow.id).desc())
    last = (await session.exec(query.limit(1))).first()
    if last is None or _said(last) != _said(row):
        session.add(row)


async def put_tools(session: AsyncSession, profile_id: int, names: Collection[str]) -> dict[str, int]:
    """The ids of tools by name; made where they are new."""
    if not names:
        return {}
    rows = [{"profile_id": profile_id, "name": name} for name in sorted(names)]
    await session.exec(insert(Tool).on_conflict_do_nothing(), params=rows)
    query = select(Tool.name, Tool.id).where(Tool.profile_id == profile_id, col(Tool.name).in_(names))
    return {name: row_id(tool) for name, tool in (await session.exec(query)).all()}


async def open_intervals(
    session: AsyncSession, starts: Iterable[tuple[int, int | None, datetime | None, datetime]]
) -> None:
    """End the current interval of tools and open the next: (tool id, version id, window start, valid from)."""
    rows = [
        {"tool_id": tool, "version_id": version, "window_start": since, "valid_from": start}
        for tool, version, since, start in starts
    ]
    for row in rows:
        current = update(ToolInterval).where(
            col(ToolInterval.tool_id) == row["tool_id"], col(ToolInterval.valid_to).is_(None)
        )
        await session.exec(current.values(valid_to=row["valid_from"]))
    if rows:
        await session.exec(insert(ToolInterval), params=rows)


async def last_intervals(session: AsyncSession, tool_id: int, *, limit: int) -> list[Interval]:
    """A tool's last intervals, newest first; the current one is the first."""
    query = (
        select(ToolInterval.version_id, ToolInterval.valid_from)
        .where(ToolInterval.tool_id == tool_id)
        .order_by(col(ToolInterval.id).desc())
        .limit(limit)
    )
    return [Interval(version, start) for version, start in (await session.exec(query)).all()]


async def groups_since(session: AsyncSession, server_id: int, start: datetime) -> list[Group]:
    """The changesets of a server that a window from ``start`` on may overlap, oldest first."""
    query = (
        select(Changeset)
        .where(Changeset.server_id == server_id, Changeset.last_window_end > start)
        .order_by(col(Changeset.id).desc())
        .limit(_EARLIER)
    )
    rows = reversed((await session.exec(query)).all())
    return [Group(row_id(row.id), (row.first_window_start, row.last_window_end)) for row in rows]


async def put_groups(session: AsyncSession, server_id: int, groups: Sequence[Group]) -> list[int]:
    """Store changesets, new or grown; their ids in order."""
    ids = []
    for group in groups:
        if group.id is None:
            row = Changeset(server_id=server_id, first_window_start=group.span[0], last_window_end=group.span[1])
            session.add(row)
            await session.flush()
            ids.append(row_id(row.id))
        else:
            grown = update(Changeset).where(col(Changeset.id) == group.id)
            await session.exec(grown.values(first_window_start=group.span[0], last_window_end=group.span[1]))
            ids.append(group.id)
    return ids


async def put_changes(session: AsyncSession, changes: Sequence[Change]) -> list[int]:
    """Store changes as ``recorded``, to be judged as soon as they are assessed; their ids in order."""
    for change in changes:
        change.judge_at = change.window_end
        session.add(change)
    await session.flush()
    return [row_id(change.id) for change in changes]


def see(state: ProfileState, listing: Listing, snapshot: Snapshot, *, settled: bool) -> None:
    """Write what a poll saw into the hot row. Unsettled: no digest, so that the next poll is looked at in full."""
    facts = listing.facts
    state.last_complete_sent_at = listing.sent_at
    state.body_sha256 = listing.body_sha256 if settled else None
    state.fingerprint = snapshot.fingerprint if settled else None
    state.protocol_version = facts.protocol_version
    state.server_info = _plain(facts.server_info)
    state.capabilities = _plain(facts.capabilities)
    state.instructions = facts.instructions
    state.list_changed_declared = facts.list_changed_declared
    state.ttl_ms = listing.ttl_ms
    state.cache_scope = listing.cache_scope
    state.tool_count = len(snapshot.tools)


async def clock(session: AsyncSession) -> datetime:
    """The database's time, now and not when the transaction began."""
    at: datetime = (await session.exec(select(func.clock_timestamp()))).one()
    return at


def _plain(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else dict(value)


def _said(row: SnapshotRow) -> tuple[Any, ...]:
    facts = (row.protocol_version, row.server_info, row.instructions, row.capabilities)
    return (row.fingerprint, *facts, row.findings)


def _known(tool_id: int, version: ToolVersion | None) -> Known:
    if version is None:
        return Known(tool_id, None, None, None)
    sha = version.definition_sha
    means = meaning(sha, version.part_shas, version.semantic_shas, invalid=version.invalid is not None)
    return Known(tool_id, version.id, sha, means)
