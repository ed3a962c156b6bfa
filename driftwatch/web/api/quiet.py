"""What people asked not to hear: mutes, ignore rules, maintenance windows; the policy's lines; and the dry run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response, status

from driftwatch.alerts import actions, quiet_store
from driftwatch.alerts.dry_run import dry_run
from driftwatch.alerts.policy import DEFAULT_LINES
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute, PolicyChange
from driftwatch.web.api.acting import by
from driftwatch.web.api.alerting_shapes import (
    dry_run_out,
    ignore_out,
    line_change_out,
    line_out,
    maintenance_out,
    mute_out,
)
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
    PolicyOut,
)
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of

router = APIRouter(tags=["quiet"])

RowId = Annotated[int, Path(ge=1)]
All = Annotated[bool, Query(alias="all", description="Also those that are over.")]
CREATED = status.HTTP_201_CREATED
NO_CONTENT = status.HTTP_204_NO_CONTENT


@router.get("/mutes", summary="Mutes in force")
async def list_mutes(who: Reader, session: Transaction, everything: All = False) -> list[MuteOut]:
    """Newest first."""
    return [mute_out(row) for row in await quiet_store.listed(session, Mute, all_of_them=everything)]


@router.post("/mutes", status_code=CREATED, summary="Mute a server or one of its tools")
async def add_mute(request: Request, who: Writer, session: Transaction, body: MuteIn) -> MuteOut:
    """No reminder and no repetition of known drift until then; a new change ends it early."""
    mute_id = await actions.mute_server(
        session, by(request, who), body.server_id, until=body.until, tool=body.tool, reason=body.reason
    )
    return mute_out(await quiet_store.one(session, Mute, mute_id, "mute"))


@router.delete("/mutes/{row_id}", status_code=NO_CONTENT, summary="End a mute")
async def end_mute(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """What was held back and is still open is told."""
    await actions.end_mute(session, by(request, who), row_id)
    return Response(status_code=NO_CONTENT)


@router.get("/ignores", summary="Ignore rules in force")
async def list_ignores(who: Reader, session: Transaction, everything: All = False) -> list[IgnoreOut]:
    """Newest first."""
    return [ignore_out(row) for row in await quiet_store.listed(session, IgnoreRule, all_of_them=everything)]


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
    return ignore_out(await quiet_store.one(session, IgnoreRule, ignore_id, "ignore rule"))


@router.delete("/ignores/{row_id}", status_code=NO_CONTENT, summary="End an ignore rule")
async def end_ignore(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """Changes from now on alert again."""
    await actions.end_ignore(session, by(request, who), row_id)
    return Response(status_code=NO_CONTENT)


@router.get("/maintenance", summary="Maintenance windows, now and to come")
async def list_maintenance(who: Reader, session: Transaction, everything: All = False) -> list[MaintenanceOut]:
    """Newest first."""
    rows = await quiet_store.listed(session, MaintenanceWindow, all_of_them=everything)
    return [maintenance_out(row) for row in rows]


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
    return maintenance_out(await quiet_store.one(session, MaintenanceWindow, window_id, "maintenance window"))


@router.delete("/maintenance/{row_id}", status_code=NO_CONTENT, summary="End or call off a maintenance window")
async def end_maintenance(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """What waited is told."""
    await actions.end_maintenance(session, by(request, who), row_id)
    return Response(status_code=NO_CONTENT)


@router.get("/policy", summary="The policy, line by line")
async def get_policy(
    who: Reader, session: Transaction, server_id: Annotated[int | None, Query(ge=1)] = None
) -> PolicyOut:
    """As it holds for a server, or the default; and every change people made."""
    lines = DEFAULT_LINES
    if server_id is not None:
        lines, _ = await quiet_store.policy_of(session, await actions.known_server(session, server_id))
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


@router.delete("/policy/changes/{row_id}", status_code=NO_CONTENT, summary="Take a change of the policy back")
async def restore_policy(row_id: RowId, request: Request, who: Writer, session: Transaction) -> Response:
    """The wider change, or the default, holds again."""
    await actions.restore_line(session, by(request, who), row_id)
    return Response(status_code=NO_CONTENT)


@router.get("/changes/{row_id}/dry-run", summary="What would this change send now, where, and why?")
async def get_dry_run(row_id: RowId, request: Request, who: Reader, session: Transaction) -> DryRunOut:
    """Today's policy, ignores, mutes, windows, routes and filters; nothing is written or sent."""
    return dry_run_out(await dry_run(session, services_of(request).settings, row_id))
