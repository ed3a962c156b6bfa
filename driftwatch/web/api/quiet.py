"""What people asked not to hear: mutes, ignore rules, maintenance windows; the policy's lines; and the dry run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

from fastapi import APIRouter, Query, Request, Response, status
from pydantic import BaseModel
from sqlmodel import SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import actions, quiet_store
from driftwatch.alerts.actions import By
from driftwatch.alerts.dry_run import dry_run
from driftwatch.alerts.overrides import lines_for
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute, PolicyChange
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.acting import by
from driftwatch.web.api.alerting_shapes import dry_run_out, line_change_out, line_out
from driftwatch.web.api.models import (
    DryRunOut,
    IgnoreIn,
    IgnoreOut,
    LineChangeOut,
    LineIn,
    MaintenanceIn,
    MaintenanceOut,
    MuteIn,
    MuteOut,
    Page,
    PolicyOut,
)
from driftwatch.web.api.params import Cursor, Limit, RowId, ServerId
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["quiet"])

All = Annotated[bool, Query(alias="all", description="Also those that are over.")]
CREATED = status.HTTP_201_CREATED
NO_CONTENT = status.HTTP_204_NO_CONTENT
Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Kind(Generic[Out]):
    """One kind of rule that has an end: how it is listed, shown and ended. ``table`` holds its rows."""

    noun: str
    table: type[SQLModel]
    out: type[Out]
    end: Callable[[AsyncSession, By, int], Awaitable[None]]

    async def answer(self, session: AsyncSession, row_id: int) -> Out:
        """One of them. Raises NotFoundError."""
        return self.out.model_validate((await quiet_store.one(session, self.table, row_id, self.noun)).model_dump())

    def serve(self, path: str, *, listed: str, ended: str, after: str) -> None:
        """Add the routes that list and end it; ``after``: what follows when one ends."""

        async def list_all(
            who: Reader, session: Transaction, everything: All = False, cursor: Cursor = None, limit: Limit = 50
        ) -> Page[Out]:
            before = cursors.decode(cursor)
            found = await quiet_store.listed(
                session, self.table, all_of_them=everything, before=before, limit=limit + 1
            )
            items = [self.out.model_validate(row.model_dump()) for row in found[:limit]]
            return Page(items=items, next=cursors.after(found, limit))

        async def end_one(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
            await self.end(session, by(request, who), row_id)
            return Response(status_code=NO_CONTENT)

        name = path.removesuffix("s")
        about: dict[str, Any] = {"response_model": Page[self.out], "description": "Newest first."}  # type: ignore[name-defined]  # the model is known at run time only
        router.add_api_route(f"/{path}", list_all, name=f"list_{path}", summary=listed, **about)
        router.add_api_route(
            f"/{path}/{{row_id:int}}",
            end_one,
            methods=["DELETE"],
            status_code=NO_CONTENT,
            name=f"end_{name}",
            summary=ended,
            description=after,
        )


MUTES: Final = Kind("mute", Mute, MuteOut, actions.end_mute)
IGNORES: Final = Kind("ignore rule", IgnoreRule, IgnoreOut, actions.end_ignore)
WINDOWS: Final = Kind("maintenance window", MaintenanceWindow, MaintenanceOut, actions.end_maintenance)
MUTES.serve("mutes", listed="Mutes in force", ended="End a mute", after="What was held back and is still open is told.")
IGNORES.serve(
    "ignores", listed="Ignore rules in force", ended="End an ignore rule", after="Changes from now on alert again."
)
WINDOWS.serve(
    "maintenance",
    listed="Maintenance windows, now and to come",
    ended="End or call off a maintenance window",
    after="What waited is told.",
)


@router.post("/mutes", status_code=CREATED, summary="Mute a server or one of its tools")
async def add_mute(request: Request, who: Writer, session: Transaction, body: MuteIn) -> MuteOut:
    """No reminder and no repetition of known drift until then; a new change ends it early."""
    mute_id = await actions.mute_server(
        session, by(request, who), body.server_id, until=body.until, tool=body.tool, reason=body.reason
    )
    return await MUTES.answer(session, mute_id)


@router.post("/ignores", status_code=CREATED, summary="Do not alert for this, from now on")
async def add_ignore(request: Request, who: Writer, session: Transaction, body: IgnoreIn) -> IgnoreOut:
    """History keeps everything; only alerts leave it out."""
    ignore_id = await actions.ignore(
        session,
        by(request, who),
        server_id=body.server_id,
        tool=body.tool,
        rule=body.rule,
        pointer=body.pointer,
        reason=body.reason,
        expires_at=body.expires_at,
    )
    return await IGNORES.answer(session, ignore_id)


@router.post("/maintenance", status_code=CREATED, summary="Plan a maintenance window")
async def add_maintenance(request: Request, who: Writer, session: Transaction, body: MaintenanceIn) -> MaintenanceOut:
    """Alerts open and are shown; messages wait until it is over."""
    window_id = await actions.maintain(
        session,
        by(request, who),
        starts_at=body.starts_at,
        ends_at=body.ends_at,
        server_id=body.server_id,
        tag=body.tag,
        reason=body.reason,
    )
    return await WINDOWS.answer(session, window_id)


@router.get("/policy", summary="The policy, line by line")
async def get_policy(who: Reader, session: Transaction, server: ServerId = None) -> PolicyOut:
    """As it holds for a server, or for whatever nothing narrower is said of; and every change people made."""
    lines = lines_for(await quiet_store.line_changes(session))
    if server is not None:
        lines, _ = await quiet_store.policy_of(session, await actions.known_server(session, server))
    changes = await quiet_store.listed(session, PolicyChange, all_of_them=True)
    return PolicyOut(lines=[line_out(line) for line in lines], changes=[line_change_out(row) for row in changes])


@router.post("/policy/changes", status_code=CREATED, summary="Change a line of the policy")
async def change_policy(request: Request, who: Writer, session: Transaction, body: LineIn) -> LineChangeOut:
    """For a server, a tag, or everything. The narrowest change of a line holds."""
    change_id = await actions.change_line(
        session,
        by(request, who),
        line=body.line,
        outcome=body.outcome,
        severity=body.severity,
        server_id=body.server_id,
        tag=body.tag,
    )
    return line_change_out(await quiet_store.one(session, PolicyChange, change_id, "policy change"))


@router.delete("/policy/changes/{row_id:int}", status_code=NO_CONTENT, summary="Take a change of the policy back")
async def restore_policy(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """The wider change, or the default, holds again."""
    await actions.restore_line(session, by(request, who), row_id)
    return Response(status_code=NO_CONTENT)


@router.get("/changes/{row_id:int}/dry-run", summary="What would this change send now, where, and why?")
async def dry_run_change(row_id: RowId, request: Request, who: Reader, session: Transaction) -> DryRunOut:
    """Today's policy, ignores, mutes, windows, routes and filters; nothing is written or sent."""
    return dry_run_out(await dry_run(session, services_of(request).settings, row_id))
