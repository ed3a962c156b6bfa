"""What the ledger believes, written into the tables: a baseline, or changes with versions, intervals and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import Acceptance
from driftwatch.capture.model import Snapshot, ToolDefinition
from driftwatch.capture.said import Said
from driftwatch.history import facts, search_store, store
from driftwatch.history.changesets import join
from driftwatch.history.definitions import load_definitions, store_blobs, store_versions
from driftwatch.history.inherited import inherited
from driftwatch.history.ledger import Transition
from driftwatch.history.store import Known
from driftwatch.history.tables import Change
from driftwatch.wire.facts import Listing

#: intervals looked at to find places that change by themselves
_LOOK_BACK: Final = 6


@dataclass(frozen=True, slots=True)
class Scene:
    """A poll of a locked profile."""

    profile_id: int
    server_id: int
    snapshot: Snapshot
    listing: Listing
    said: Said


@dataclass(frozen=True, slots=True)
class Written:
    """Ids of what was written, a changeset for each change."""

    changes: tuple[int, ...] = ()
    changesets: tuple[int, ...] = ()


async def write_baseline(session: AsyncSession, scene: Scene) -> None:
    """Store a first list: versions and intervals, and no change.

    It is accepted as it is, but for a tool whose profile succeeds another one: there, what was accepted still is.
    """
    tool_ids = await store.put_tools(session, scene.profile_id, scene.snapshot.tools)
    carried = await inherited(session, scene.profile_id)
    earlier = [(tool_ids[name], one.definition) for name, one in carried.items() if name in tool_ids]
    accepted = await store_versions(session, earlier)
    versions = await _versions(session, scene, tool_ids)
    arrived = scene.listing.arrived_at
    await store.open_intervals(session, [(tool, versions[tool], None, arrived) for tool in tool_ids.values()])
    for name, tool in tool_ids.items():
        if tool in accepted:
            session.add(carried[name].accepted(tool, accepted[tool]))
        else:
            session.add(Acceptance(tool_id=tool, version_id=versions[tool], by="driftwatch", mode="first"))


async def write_changes(
    session: AsyncSession, scene: Scene, transitions: Sequence[Transition], known: Mapping[str, Known]
) -> Written:
    """Store believed transitions. ``known``: every tool ever believed of the profile, before this poll."""
    if not transitions:
        return Written()
    tool_ids = {name: one.tool_id for name, one in known.items()}
    tool_ids |= await store.put_tools(session, scene.profile_id, {t.tool for t in transitions} - tool_ids.keys())
    now = await _versions(session, scene, {t.tool: tool_ids[t.tool] for t in transitions if t.new is not None})
    past = {t.tool: await store.last_intervals(session, tool_ids[t.tool], limit=_LOOK_BACK) for t in transitions}
    told = await _facts(session, scene, transitions, past, {t.tool: now.get(tool_ids[t.tool]) for t in transitions})
    await store.open_intervals(
        session, [(tool_ids[t.tool], now.get(tool_ids[t.tool]), t.window[0], t.window[1]) for t in transitions]
    )
    changesets = await _changesets(session, scene.server_id, [t.window for t in transitions])
    changes = [
        Change(
            changeset_id=changeset,
            server_id=scene.server_id,
            profile_id=scene.profile_id,
            tool_id=tool_ids[t.tool],
            kind=t.kind,
            from_version_id=known[t.tool].version_id if t.tool in known else None,
            to_version_id=now.get(tool_ids[t.tool]),
            window_start=t.window[0],
            window_end=t.window[1],
            facts=told[t.tool],
        )
        for t, changeset in zip(transitions, changesets, strict=True)
    ]
    return Written(tuple(await store.put_changes(session, changes)), tuple(changesets))


async def _versions(session: AsyncSession, scene: Scene, tool_ids: Mapping[str, int]) -> dict[int, int]:
    definitions = [(tool, scene.snapshot.tools[name]) for name, tool in tool_ids.items()]
    await store_blobs(session, (one for _, one in definitions))
    await search_store.index(session, definitions)
    return await store_versions(session, definitions)


async def _changesets(session: AsyncSession, server_id: int, windows: Sequence[tuple[datetime, datetime]]) -> list[int]:
    near = await store.groups_since(session, server_id, min(start for start, _ in windows))
    groups, chosen = join(near, windows)
    used = sorted(set(chosen))
    ids = await store.put_groups(session, server_id, [groups[place] for place in used])
    stored = dict(zip(used, ids, strict=True))
    return [stored[place] for place in chosen]


async def _facts(
    session: AsyncSession,
    scene: Scene,
    transitions: Sequence[Transition],
    past: Mapping[str, Sequence[store.Interval]],
    now: Mapping[str, int | None],
) -> dict[str, dict[str, Any]]:
    """The facts of each change by tool; ``past`` are the intervals before it, newest first."""
    definitions = await load_definitions(
        session, {i.version_id for rows in past.values() for i in rows if i.version_id}
    )
    info = scene.listing.facts.server_info
    told: dict[str, dict[str, Any]] = {}
    gone: dict[str, ToolDefinition] = {}
    come: dict[str, ToolDefinition] = {}
    for t in transitions:
        rows = past[t.tool]
        earlier = [definitions[row.version_id] for row in reversed(rows) if row.version_id]
        told[t.tool] = facts.of_transition(t) | facts.of_server(t.before, info)
        told[t.tool] |= facts.of_return(t, now[t.tool], [(row.version_id, row.valid_from) for row in rows])
        if t.kind == "changed" and earlier:
            told[t.tool] |= facts.of_definitions(earlier[-1], scene.snapshot.tools[t.tool], earlier[:-1])
        elif t.kind == "removed" and earlier:
            gone[t.tool] = earlier[-1]
        elif t.kind == "added":
            come[t.tool] = scene.snapshot.tools[t.tool]
    for tool, hint in facts.of_renames(gone, come).items():
        told[tool] |= hint
    return told
