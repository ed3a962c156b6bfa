"""Changes and changesets: what happened, with proof and evidence."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.views import alerting_line
from driftwatch.history import read
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api import markdown
from driftwatch.web.api.convert import change_detail, change_out, changeset_out
from driftwatch.web.api.models import ChangeDetail, ChangeOut, ChangesetOut, Page
from driftwatch.web.api.params import Cursor, Limit, RowId
from driftwatch.web.api.wanted import Wanted
from driftwatch.web.auth.dependencies import Reader, Transaction, services_of
from driftwatch.web.pages import exports, store, story

router = APIRouter(tags=["changes"])


@router.get("/changes", summary="Changes, newest first")
async def list_changes(
    who: Reader, session: Transaction, wanted: Wanted, cursor: Cursor = None, limit: Limit = 50
) -> Page[ChangeOut]:
    """All filters must hold. `next` continues the list; changes that come in meanwhile do not shift it."""
    found = await read.load_changes(session, wanted, cursor=cursors.decode(cursor), limit=limit + 1)
    return Page(items=[change_out(change) for change in found[:limit]], next=cursors.after(found, limit))


@router.get("/changes/{change_id:int}", summary="One change with proof and evidence")
async def get_change(change_id: RowId, request: Request, who: Reader, session: Transaction) -> ChangeDetail:
    """Parts with findings and witness, the evidence about its announcement, and why it did or did not alert."""
    change = await read.load_change(session, change_id)
    siblings = await read.load_changeset(session, change.changeset_id)
    owner = (await store.server_line(session, change.server_id)).owner
    decisions = await alerts_read.decisions_for_change(session, change_id)
    return change_detail(change, siblings, decisions, owner=owner, base=services_of(request).settings.public_url)


@router.get("/changes/{change_id:int}/markdown", summary="One change for a ticket", **markdown.DESCRIBED)
async def get_change_markdown(change_id: RowId, request: Request, who: Reader, session: Transaction) -> Response:
    """What changed, the proof, whether it was announced, and what to do."""
    change = await read.load_change(session, change_id)
    owner = (await store.server_line(session, change.server_id)).owner
    line = alerting_line(await alerts_read.decisions_for_change(session, change_id))
    url = f"{services_of(request).settings.public_url}/changes/{change.id}"
    told = story.headline(change), story.proof(change), story.todo(change, line, owner)
    return markdown.answer(exports.change(change, *told, url))


@router.get("/changesets", summary="Changesets, newest first")
async def list_changesets(
    who: Reader,
    session: Transaction,
    wanted: Wanted,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=50, description="Most changesets of the page.")] = 20,
) -> Page[ChangesetOut]:
    """Those with a change that fits all filters. Each is what one deploy did, with all its changes."""
    found = await read.load_changesets(session, wanted, cursor=cursors.decode(cursor), limit=limit + 1)
    ids = [changes[0].changeset_id for changes in found[:limit]]
    alerts = await alerts_read.alert_ids(session, ids)
    return Page(
        items=[changeset_out(changes, alerts.get(key)) for key, changes in zip(ids, found, strict=False)],
        next=cursors.encode(ids[-1]) if len(found) > limit else None,
    )


@router.get("/changesets/{changeset_id:int}", summary="One changeset")
async def get_changeset(changeset_id: RowId, who: Reader, session: Transaction) -> ChangesetOut:
    """All changes of one server whose windows overlap."""
    changes = await read.load_changeset(session, changeset_id)
    return changeset_out(changes, (await alerts_read.alert_ids(session, [changeset_id])).get(changeset_id))
