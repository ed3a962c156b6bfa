"""The fleet at a glance, and the search over everything: what the first page shows."""

from __future__ import annotations

from typing import Annotated, Final, cast

from fastapi import APIRouter, Query

from driftwatch.alerts import heads_store
from driftwatch.history import search_store
from driftwatch.history.search_views import ToolHit
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.fleet_shapes import found_tool, standing_out
from driftwatch.web.api.models import (
    EraName,
    FoundRule,
    FoundServer,
    OverviewOut,
    Page,
    SearchOut,
    StandingName,
    StandingOut,
)
from driftwatch.web.api.models.base import NO_NUL
from driftwatch.web.api.params import Limit, Owner, PlaceCursor, Tag, Words
from driftwatch.web.auth.dependencies import Reader, Transaction
from driftwatch.web.pages import fleet, fleet_store, searching, store
from driftwatch.web.pages.fleet_store import Wanted

router = APIRouter(tags=["overview"])

#: the same tool is there once for each kind of client
_TWICE: Final = 4


@router.get("/overview", summary="How many servers stand how")
async def get_overview(who: Reader, session: Transaction) -> OverviewOut:
    """What needs someone, what nobody sees, what is fine; and the tags and owners there are to filter by."""
    watched = await fleet_store.stands(session, Wanted())
    tally = fleet.tally([stand for _, stand in fleet.standing(watched, await heads_store.open_heads(session))])
    tags, owners = await fleet_store.labels(session)
    return OverviewOut(
        servers=tally.servers,
        needs=tally.needs,
        blind=tally.blind,
        fine=tally.fine,
        last_poll_at=fleet.last_poll(watched),
        tags=tags,
        owners=owners,
    )


@router.get("/standings", summary="Every server in one line, those that need someone first")
async def list_standings(
    who: Reader,
    session: Transaction,
    q: Words = None,
    tag: Tag = None,
    owner: Owner = None,
    era: EraName | None = None,
    standing: StandingName | None = None,
    cursor: PlaceCursor = None,
    limit: Limit = 50,
) -> Page[StandingOut]:
    """All filters must hold. `q` looks into names, URLs, owners and tags, and into tools and their fields."""
    now = await store.now(session)
    words = (q or "").strip()
    hits = {hit.server_id for hit in await _hits(session, words)}
    watched = await fleet_store.stands(session, Wanted(words, tag or "", owner or "", era or ""), hits=hits)
    alerts = await heads_store.open_heads(session)
    after = cursors.decode_place(cursor)
    below = [
        (fleet.place(server, stand), server.id)
        for server, stand in fleet.in_order(watched, alerts)
        if (standing is None or stand == standing) and (after is None or fleet.place(server, stand) > after)
    ]
    rows = await fleet_store.rows(session, [key for _, key in below[:limit]])
    drawn = {row.server.id: row for row in rows}
    lines = {line.id: line for line in fleet.lines(rows, alerts, now)}
    return Page(
        items=[standing_out(drawn[key], lines[key]) for _, key in below[:limit] if key in drawn],
        next=cursors.encode_place(*below[limit - 1][0]) if len(below) > limit else None,
    )


async def _hits(session: Transaction, words: str) -> list[ToolHit]:
    if not words:
        return []
    limit = _TWICE * searching.CAP
    found = await search_store.find_tools(session, words, limit=limit)
    return [*found, *await search_store.find_fields(session, words, limit=limit)]


@router.get("/search", summary="Find servers, tools, fields of schemas, and rules")
async def search(
    who: Reader,
    session: Transaction,
    q: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL, description="Text to look for.")],
    limit: Annotated[int, Query(ge=1, le=100, description="Most hits of each kind.")] = 20,
) -> SearchOut:
    """What people type, in lower case, anywhere in a name; nearest first. A tool is found once per profile."""
    words = q.strip()
    if not words:
        return SearchOut(servers=[], tools=[], fields=[], rules=[], more=[])
    servers = await fleet_store.stands(session, Wanted(words))
    tools = await search_store.find_tools(session, words, limit=limit + 1)
    fields = await search_store.find_fields(session, words, limit=limit + 1)
    rules = searching.find_rules(words)
    sizes = {"servers": len(servers), "tools": len(tools), "fields": len(fields), "rules": len(rules)}
    return SearchOut(
        servers=[FoundServer(server_id=one.id, server=one.name) for one in servers[:limit]],
        tools=[found_tool(hit) for hit in tools[:limit]],
        fields=[found_tool(hit) for hit in fields[:limit]],
        rules=[FoundRule(rule=rule.id, level=rule.state.word, words=rule.words) for rule in rules[:limit]],
        more=cast("list[searching.Kind]", [kind for kind, size in sizes.items() if size > limit]),
    )
