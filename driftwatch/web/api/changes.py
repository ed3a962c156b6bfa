"""Changes and changesets: what happened, with proof and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import read as alerts_read
from driftwatch.history import read
from driftwatch.history.views import ChangeView
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.convert import change_detail, change_out
from driftwatch.web.api.models import (
    Announcement,
    ChangeDetail,
    ChangeOut,
    ChangesetOut,
    EraName,
    Page,
    Verdict,
    WindowOut,
)
from driftwatch.web.auth.dependencies import Reader, Transaction

router = APIRouter(tags=["changes"])

RowId = Annotated[int, Path(ge=1)]
Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=200, description="`next` of the page before.")]


@router.get("/changes", summary="Changes, newest first")
async def list_changes(
    who: Reader,
    session: Transaction,
    server: Annotated[int | None, Query(ge=1, description="A server's id.")] = None,
    tool: Annotated[str | None, Query(max_length=256, description="A tool's exact name.")] = None,
    tool_id: Annotated[int | None, Query(ge=1)] = None,
    verdict: Verdict | None = None,
    announcement: Announcement | None = None,
    direction: Literal["input", "output"] | None = None,
    era: EraName | None = None,
    since: Annotated[datetime | None, Query(description="Recorded at or after; with a time zone.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ChangeOut]:
    """All filters must hold. `next` continues the list; changes that come in meanwhile do not shift it."""
    found = await read.load_changes(
        session,
        server_id=server,
        tool=tool,
        tool_id=tool_id,
        verdict=verdict,
        announcement=announcement,
        direction=direction,
        era=era,
        since=since,
        cursor=cursors.decode(cursor),
        limit=limit + 1,
    )
    more = found[limit - 1].id if len(found) > limit else None
    return Page(items=[change_out(change) for change in found[:limit]], next=cursors.encode(more))


@router.get("/changes/{change_id}", summary="One change with proof and evidence")
async def get_change(change_id: RowId, who: Reader, session: Transaction) -> ChangeDetail:
    """Parts with findings and witness, the evidence about its announcement, and why it did or did not alert."""
    change = await read.load_change(session, change_id)
    decisions = await alerts_read.decisions_for_change(session, change_id)
    alerting = next((decision.alert_id for decision in decisions if decision.alert_id is not None), None)
    return change_detail(change, alert_id=alerting, decisions=decisions)


@router.get("/changesets", summary="Changesets, newest first")
async def list_changesets(
    who: Reader,
    session: Transaction,
    server: Annotated[int | None, Query(ge=1, description="A server's id.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
) -> Page[ChangesetOut]:
    """Each is what one deploy did, with all its changes."""
    found = await read.load_changesets(session, server_id=server, cursor=cursors.decode(cursor), limit=limit + 1)
    more = found[limit - 1][0].changeset_id if len(found) > limit else None
    return Page(items=[await _changeset(session, changes) for changes in found[:limit]], next=cursors.encode(more))


@router.get("/changesets/{changeset_id}", summary="One changeset")
async def get_changeset(changeset_id: RowId, who: Reader, session: Transaction) -> ChangesetOut:
    """All changes of one server whose windows overlap."""
    return await _changeset(session, await read.load_changeset(session, changeset_id))


async def _changeset(session: AsyncSession, changes: Sequence[ChangeView]) -> ChangesetOut:
    first = changes[0]
    alert = await alerts_read.alert_for_changeset(session, first.changeset_id)
    return ChangesetOut(
        id=first.changeset_id,
        server_id=first.server_id,
        server=first.server,
        window=WindowOut(
            start=min(change.window[0] for change in changes), end=max(change.window[1] for change in changes)
        ),
        changes=[change_out(change) for change in changes],
        alert_id=alert.id if alert else None,
    )
