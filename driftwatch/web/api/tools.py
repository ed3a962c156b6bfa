"""Tools: what a server has, every version, and what the difference between two means."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final, cast

from fastapi import APIRouter, Query, Request

from driftwatch.alerts import actions, transitive_store
from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.views import BaselineView
from driftwatch.capture.model import ToolDefinition
from driftwatch.errors import CaptureError, NotFoundError
from driftwatch.history import read
from driftwatch.history.views import ToolView, VersionView
from driftwatch.servers import store as servers_store
from driftwatch.web.api import cursor as cursors
from driftwatch.web.api.acting import by
from driftwatch.web.api.convert import assessed_out
from driftwatch.web.api.models import (
    BaselineOut,
    DiffOut,
    EraName,
    IntervalOut,
    Page,
    ToolChoices,
    ToolOut,
    ToolPageOut,
    ToolPatch,
    TwinOut,
    Verdict,
    VersionDetail,
    VersionOut,
)
from driftwatch.web.api.params import Cursor, Limit, Number, RowId
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of
from driftwatch.web.pages import store
from driftwatch.wire.facts import Era

router = APIRouter(tags=["tools"])

#: a version by its number, or by what it is to us
NAMED: Final = r"^(?:[1-9][0-9]{0,8}|baseline|first)$"


@router.get("/servers/{server_id:int}/tools", summary="The tools of a server")
async def list_tools(server_id: RowId, who: Reader, session: Transaction) -> list[ToolOut]:
    """Every tool of every profile, those absent now included."""
    await servers_store.get_server(session, server_id)
    tools = await read.server_tools(session, server_id)
    baselines = await alerts_read.baselines(session, [tool.id for tool in tools])
    choices = await transitive_store.choices(session, server_id)
    return [_tool(tool, baselines.get(tool.id), choices.get(tool.name)) for tool in tools]


@router.patch("/tools/{tool_id:int}", summary="Change what is set for a tool")
async def change_tool(
    tool_id: RowId, request: Request, who: Writer, session: Transaction, body: ToolPatch
) -> ToolChoices:
    """Transitive mode for one tool, whatever its server does; from the next change on."""
    await actions.choose_transitive(session, by(request, who), tool_id, body.transitive)
    return ToolChoices(tool_id=tool_id, transitive=body.transitive)


@router.get("/tools/{tool_id:int}", summary="One tool")
async def get_tool(tool_id: RowId, who: Reader, session: Transaction) -> ToolPageOut:
    """Whose it is, which version is current and which is the baseline, and the same tool for other clients."""
    head = await store.tool_head(session, tool_id)
    twins = await store.same_tool(session, head)
    current = await read.current_version(session, tool_id)
    baseline = (await alerts_read.baselines(session, [tool_id])).get(tool_id)
    return ToolPageOut(
        id=head.id,
        name=head.name,
        server_id=head.server_id,
        server=head.server,
        owner=head.owner,
        mode=head.mode,
        profile_id=head.profile_id,
        era=cast("EraName", head.era),
        current_version=current,
        baseline=None if baseline is None else _baseline(baseline),
        twins=[TwinOut(tool_id=twin.id, era=cast("EraName", twin.era)) for twin in twins if twin.id != tool_id],
    )


@router.get("/tools/{tool_id:int}/versions", summary="Versions of a tool")
async def list_versions(
    tool_id: RowId, who: Reader, session: Transaction, cursor: Cursor = None, limit: Limit = 50
) -> Page[VersionOut]:
    """The newest number first, with the times each was current."""
    found = await read.tool_versions(session, tool_id, below=cursors.decode(cursor), limit=limit + 1)
    return Page(
        items=[VersionOut(**_version(tool_id, version)) for version in found[:limit]],
        next=cursors.encode(found[limit - 1].number) if len(found) > limit else None,
    )


@router.get("/tools/{tool_id:int}/versions/{number:int}", summary="One version with its definition")
async def get_version(tool_id: RowId, number: Number, who: Reader, session: Transaction) -> VersionDetail:
    """The definition as JSON, and the bytes as the server sent them."""
    _, definition = await read.version_number(session, tool_id, number)
    (version,) = await read.tool_versions(session, tool_id, below=number + 1, limit=1)
    return VersionDetail(
        **_version(tool_id, version),
        definition=_json(definition),
        verbatim=definition.verbatim.decode("utf-8", errors="replace"),
    )


@router.get("/tools/{tool_id:int}/diff", summary="What the difference between two versions means")
async def diff_versions(
    tool_id: RowId,
    request: Request,
    who: Reader,
    before: Annotated[str, Query(alias="from", pattern=NAMED, description="A number, `baseline` or `first`.")],
    after: Annotated[int, Query(alias="to", ge=1, le=999_999_999, description="A number.")],
) -> DiffOut:
    """A verdict for a client that holds `from` while the server serves `to`, part by part, with changed paths."""
    services = services_of(request)
    async with services.db.transaction() as session:
        era = await read.tool_era(session, tool_id)
        held = await _number(session, tool_id, before)
        _, old = await read.version_number(session, tool_id, held)
        _, new = await read.version_number(session, tool_id, after)
    # outside the transaction: proving may take seconds
    assessment = await services.sandbox.assess(old, new, era=Era(era))
    return DiffOut(
        tool_id=tool_id,
        from_version=held,
        to_version=after,
        verdict=assessment.verdict,
        via=assessment.via,
        part=assessment.part,
        parts=[assessed_out(part) for part in assessment.parts],
    )


async def _number(session: Transaction, tool_id: int, named: str) -> int:
    if named == "first":
        return 1
    if named != "baseline":
        return int(named)
    baseline = (await alerts_read.baselines(session, [tool_id])).get(tool_id)
    if baseline is None or baseline.number is None:
        raise NotFoundError(f"the baseline of tool {tool_id} is its absence", hint="compare with a version's number")
    return baseline.number


def _baseline(baseline: BaselineView) -> BaselineOut:
    return BaselineOut(
        version=baseline.number, mode=baseline.mode, by=baseline.by, at=baseline.at, reason=baseline.reason
    )


def _json(definition: ToolDefinition) -> Any:
    """Parsed for people; None where it cannot be: ``invalid`` says why, and ``verbatim`` has the bytes."""
    try:
        return _as_doubles(definition.parsed())
    except CaptureError:
        return None


def _as_doubles(value: Any) -> Any:
    """Numbers stay numbers in JSON; where a double lies about one, ``verbatim`` has its digits."""
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


def _tool(tool: ToolView, baseline: BaselineView | None, transitive: bool | None) -> ToolOut:
    return ToolOut(
        id=tool.id,
        profile_id=tool.profile_id,
        era=cast("EraName", tool.era),
        name=tool.name,
        current_version=tool.version,
        baseline_version=baseline.number if baseline else None,
        declares_output=tool.declares_output,
        last_change_id=tool.last_change_id,
        last_changed_at=tool.last_change_at,
        verdict=cast("Verdict | None", tool.last_verdict),
        invalid=dict(tool.invalid) if tool.invalid else None,
        transitive=transitive,
    )


def _version(tool_id: int, version: VersionView) -> dict[str, Any]:
    return {
        "tool_id": tool_id,
        "number": version.number,
        "created_at": version.created_at,
        "part_sha256": dict(version.part_shas),
        "intervals": [
            IntervalOut(window_start=span.not_before, valid_from=span.start, valid_to=span.end)
            for span in version.intervals
        ],
        "invalid": dict(version.invalid) if version.invalid else None,
        "findings": [dict(finding) for finding in version.findings],
    }
