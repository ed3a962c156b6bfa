"""What is known of one server: its time axis, how we listen, findings, polls, the list as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query

from driftwatch.alerts import delivery_read
from driftwatch.history import as_of, tool_read
from driftwatch.history.doubt_store import load_doubts
from driftwatch.history.hearing import load_hearing
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.alerting_shapes import delivery_out
from driftwatch.web.api.evidence_shapes import (
    as_of_out,
    hearing_out,
    note_out,
    poll_event_out,
    polls_out,
    timeline_out,
)
from driftwatch.web.api.models import (
    AsOfOut,
    DeliveryOut,
    HearingOut,
    NoteOut,
    Page,
    PollEventOut,
    PollsOut,
    TimelineOut,
)
from driftwatch.web.api.models.base import Moment
from driftwatch.web.api.params import Cursor, Limit, RowId, Since
from driftwatch.web.auth.dependencies import Reader, Transaction
from driftwatch.web.pages import conformance, evidence_store, store

router = APIRouter(prefix="/servers/{server_id:int}", tags=["evidence"])

_LOOK_BACK: Final = timedelta(days=90)


@router.get("/timeline", summary="Streams, gaps, notifications, restarts and changes on one time axis")
async def get_timeline(server_id: RowId, who: Reader, session: Transaction, since: Since = None) -> TimelineOut:
    """The evidence for announced and silent. Without `since`: the last 90 days."""
    await store.server_line(session, server_id)
    now = await store.now(session)
    start = since or now - _LOOK_BACK
    return timeline_out(server_id, await evidence_store.evidence(session, server_id, start), start, now)


@router.get("/listening", summary="Could a change be announced, and would we hear it?")
async def list_listening(server_id: RowId, who: Reader, session: Transaction) -> list[HearingOut]:
    """One entry per kind of client, modern first."""
    await store.server_line(session, server_id)
    profiles = (await store.profile_lines(session, [server_id])).get(server_id, [])
    return [hearing_out(profile, await load_hearing(session, profile.id)) for profile in profiles]


@router.get("/findings", summary="Conformance findings of what is current")
async def list_findings(server_id: RowId, who: Reader, session: Transaction) -> list[NoteOut]:
    """Definitions that client SDKs refuse, hidden characters, lists that do not hold still; each once."""
    await store.server_line(session, server_id)
    profiles = (await store.profile_lines(session, [server_id])).get(server_id, [])
    doubts = [await load_doubts(session, profile.id) for profile in profiles]
    tools = await tool_read.server_tools(session, server_id)
    lists = await tool_read.newest_lists(session, server_id)
    heard = [replace(one, hearing=await load_hearing(session, one.id)) for one in profiles]
    server = conformance.of_server(heard, await store.now(session))
    found = (*conformance.unsettled(doubts), *server, *conformance.notes(lists, tools))
    return [note_out(tool, note) for tool, note in found]


@router.get("/polls", summary="How the polls went")
async def get_polls(server_id: RowId, who: Reader, session: Transaction) -> PollsOut:
    """Since the day before (UTC), over all kinds of clients."""
    await store.server_line(session, server_id)
    return polls_out(await store.polls(session, server_id))


@router.get("/poll-events", summary="When polls began to end differently, newest first")
async def list_poll_events(
    server_id: RowId, who: Reader, session: Transaction, cursor: Cursor = None, limit: Limit = 50
) -> Page[PollEventOut]:
    """Only what changed: polls that end like the one before leave no event."""
    await store.server_line(session, server_id)
    before = cursors.decode(cursor)
    found = await store.poll_events(session, server_id, before=before, limit=limit + 1)
    return Page(items=[poll_event_out(event) for event in found[:limit]], next=cursors.after(found, limit))


@router.get("/deliveries", summary="Messages about a server's alerts, newest first")
async def list_server_deliveries(
    server_id: RowId, who: Reader, session: Transaction, cursor: Cursor = None, limit: Limit = 50
) -> Page[DeliveryOut]:
    """Who was told what, with every attempt."""
    await store.server_line(session, server_id)
    before = cursors.decode(cursor)
    found = await delivery_read.deliveries_for_server(session, server_id, before=before, limit=limit + 1)
    return Page(items=[delivery_out(delivery) for delivery in found[:limit]], next=cursors.after(found, limit))


@router.get("/as-of", summary="The tool list as it was at a moment")
async def get_as_of(
    server_id: RowId,
    who: Reader,
    session: Transaction,
    at: Annotated[Moment, Query(description="The moment, with a time zone.")],
) -> AsOfOut:
    """Where the moment lies inside a window of change, `uncertain` says what the tool may already have been."""
    await store.server_line(session, server_id)
    tools = await as_of.tools_as_of(session, server_id, at)
    return as_of_out(server_id, at, await as_of.watched_since(session, server_id), tools)
