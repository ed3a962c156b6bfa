"""Servers: register, look first, import many, edit, pause, check now, delete."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Query, Request, Response, status

from driftwatch.servers import changes, read, register
from driftwatch.servers.imports import parse_import
from driftwatch.servers.read import ServerFilter
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.ascii_json import AsciiJSONResponse
from driftwatch.web.api.models import (
    AskedOut,
    BatchOutcome,
    EraName,
    Failure,
    ImportIn,
    Page,
    PreviewOut,
    RegisteredOut,
    ServerIn,
    ServerOut,
    ServerPatch,
)
from driftwatch.web.api.models.base import NO_NUL
from driftwatch.web.api.params import Cursor, Owner, RowId, Tag
from driftwatch.web.api.server_shapes import outcome_out, patch_of, preview_out, server_out, spec_of
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["servers"])

MOST_IN_BATCH = 500

DryRun = Annotated[bool, Query(description="Answer the same and store nothing.")]
Force = Annotated[bool, Query(description="Watch it even if it cannot be read yet.")]


@router.post(
    "/servers",
    status_code=status.HTTP_201_CREATED,
    response_model=RegisteredOut,
    responses={200: {"model": PreviewOut, "description": "What a dry run found; nothing was stored."}},
    summary="Watch a server",
)
async def add_server(
    request: Request, who: Writer, body: ServerIn, dry_run: DryRun = False, force: Force = False
) -> RegisteredOut | AsciiJSONResponse:
    """Find the eras, poll each once, and watch the server from now on.

    The first poll is the baseline. Unreachable or refused: 422 with the reason, unless `force=true`.
    """
    services = services_of(request)
    registered = await register.register(services, spec_of(body), actor=who.actor, dry_run=dry_run, force=force)
    preview = preview_out(registered.preview)
    if registered.server_id is None:
        return AsciiJSONResponse(preview.model_dump(mode="json"), status_code=status.HTTP_200_OK)
    async with services.db.transaction() as session:
        server = await read.load_server(session, registered.server_id)
    return RegisteredOut(server=server_out(server), found=preview.eras, problems=preview.problems)


@router.post("/servers/batch", summary="Watch many servers")
async def add_servers(
    request: Request,
    who: Writer,
    body: Annotated[list[ServerIn], Body(min_length=1, max_length=MOST_IN_BATCH)],
    dry_run: DryRun = False,
    force: Force = False,
) -> list[BatchOutcome]:
    """Each one by itself: one refusal stops no other. The answer has one outcome per entry, in order."""
    outcomes = await register.register_many(
        services_of(request), [spec_of(entry) for entry in body], actor=who.actor, dry_run=dry_run, force=force
    )
    return [outcome_out(outcome) for outcome in outcomes]


@router.post("/servers/import", summary="Watch what a file names")
async def import_servers(request: Request, who: Writer, body: ImportIn, dry_run: DryRun = False) -> list[BatchOutcome]:
    """A client configuration (`mcp.json`), a registry `server.json`, or a list of URLs; one outcome per entry."""
    entries = parse_import(body.content.encode())
    specs = [spec_of(body, entry.spec) for entry in entries if entry.spec is not None]
    outcomes = iter(
        await register.register_many(services_of(request), specs, actor=who.actor, dry_run=dry_run, force=body.force)
    )
    return [
        outcome_out(next(outcomes), label=entry.label)
        if entry.spec is not None
        else BatchOutcome(
            url=None,
            name=entry.label,
            status="skipped",
            problem=Failure(code="not-watchable", message=f"{entry.label}: {entry.problem}"),
        )
        for entry in entries
    ]


@router.get("/servers", summary="What is watched")
async def list_servers(
    who: Reader,
    session: Transaction,
    tag: Tag = None,
    owner: Owner = None,
    state: Literal["active", "paused"] | None = None,
    era: EraName | None = None,
    q: Annotated[str | None, Query(max_length=200, pattern=NO_NUL, description="Text in name, URL or owner.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=500, description="Most items of the page.")] = 100,
) -> Page[ServerOut]:
    """Servers with their profiles, oldest first."""
    wanted = ServerFilter(tag=tag, owner=owner, state=state, era=era, text=q)
    page = await read.list_servers(session, wanted, after=cursors.decode(cursor), limit=limit)
    return Page(items=[server_out(server) for server in page.items], next=cursors.encode(page.next))


@router.get("/servers/{server_id:int}", summary="One server")
async def get_server(server_id: RowId, who: Reader, session: Transaction) -> ServerOut:
    """A server with its profiles: what each kind of client sees, and how the last poll went."""
    return server_out(await read.load_server(session, server_id))


@router.patch("/servers/{server_id:int}", summary="Change a server")
async def change_server(server_id: RowId, request: Request, who: Writer, body: ServerPatch) -> ServerOut:
    """Fields that are not sent stay. Another origin needs the headers again."""
    services = services_of(request)
    await changes.patch(services, server_id, patch_of(body), actor=who.actor)
    async with services.db.transaction() as session:
        return server_out(await read.load_server(session, server_id))


@router.delete("/servers/{server_id:int}", status_code=status.HTTP_204_NO_CONTENT, summary="Stop watching and forget")
async def remove_server(server_id: RowId, request: Request, who: Writer) -> Response:
    """Secrets are wiped at once, the history is purged afterwards."""
    await changes.delete(services_of(request), server_id, actor=who.actor)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.post("/servers/{server_id:int}/poll", status_code=status.HTTP_202_ACCEPTED, summary="Check now")
async def check_server(server_id: RowId, request: Request, who: Writer) -> AskedOut:
    """Make every profile due at once; polls begin within a second. A poll in flight is never doubled."""
    asked = await changes.check_now(services_of(request), server_id, actor=who.actor)
    return AskedOut(asked_at=asked)


@router.post("/servers/{server_id:int}/pause", summary="Stop polling for a while")
async def pause_server(server_id: RowId, request: Request, who: Writer) -> ServerOut:
    """Nothing is polled until resumed; a paused server raises no not-watching alert."""
    services = services_of(request)
    await changes.pause(services, server_id, actor=who.actor)
    async with services.db.transaction() as session:
        return server_out(await read.load_server(session, server_id))


@router.post("/servers/{server_id:int}/resume", summary="Poll again")
async def resume_server(server_id: RowId, request: Request, who: Writer) -> ServerOut:
    """Every profile is due at once."""
    services = services_of(request)
    await changes.resume(services, server_id, actor=who.actor)
    async with services.db.transaction() as session:
        return server_out(await read.load_server(session, server_id))
