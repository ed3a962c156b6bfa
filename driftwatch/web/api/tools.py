"""Tools: what a server has, every version, and what the difference between two means."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from driftwatch.alerts import actions, transitive_store
from driftwatch.alerts import read as alerts_read
from driftwatch.alerts.views import BaselineView
from driftwatch.capture.model import ToolDefinition
from driftwatch.errors import CaptureError
from driftwatch.history import read
from driftwatch.history.views import ToolView, VersionView
from driftwatch.servers import store as servers_store
from driftwatch.web.api.acting import by
from driftwatch.web.api.convert import assessed_out
from driftwatch.web.api.models import (
    EraName,
    IntervalOut,
    PartOut,
    ToolChoices,
    ToolOut,
    ToolPatch,
    Verdict,
    VersionDetail,
    VersionOut,
)
from driftwatch.web.auth.dependencies import Reader, Transaction, Writer, services_of
from driftwatch.wire.facts import Era

router = APIRouter(tags=["tools"])

RowId = Annotated[int, Path(ge=1)]
Number = Annotated[int, Path(ge=1)]


class DiffOut(BaseModel):
    """What going from one version to another means for clients that hold the first one."""

    tool_id: int
    from_version: int
    to_version: int
    verdict: Verdict
    via: str | None
    part: str | None = Field(description="The part that decided the verdict.")
    parts: list[PartOut]


@router.get("/servers/{server_id}/tools", summary="Tools of a server")
async def list_tools(server_id: RowId, who: Reader, session: Transaction) -> list[ToolOut]:
    """Every tool of every profile, those absent now included."""
    await servers_store.get_server(session, server_id)
    tools = await read.server_tools(session, server_id)
    baselines = await alerts_read.baselines(session, [tool.id for tool in tools])
    choices = await transitive_store.choices(session, server_id)
    return [_tool(tool, baselines.get(tool.id), choices.get(tool.name)) for tool in tools]


@router.patch("/tools/{tool_id}", summary="Change what is set for a tool")
async def change_tool(
    tool_id: RowId, request: Request, who: Writer, session: Transaction, body: ToolPatch
) -> ToolChoices:
    """Transitive mode for one tool, whatever its server does; from the next change on."""
    await actions.choose_transitive(session, by(request, who), tool_id, body.transitive)
    return ToolChoices(tool_id=tool_id, transitive=body.transitive)


@router.get("/tools/{tool_id}/versions", summary="Versions of a tool")
async def list_versions(tool_id: RowId, who: Reader, session: Transaction) -> list[VersionOut]:
    """The newest number first, with the times each was current."""
    return [VersionOut(**_version(tool_id, version)) for version in await read.tool_versions(session, tool_id)]


@router.get("/tools/{tool_id}/versions/{number}", summary="One version with its definition")
async def get_version(tool_id: RowId, number: Number, who: Reader, session: Transaction) -> VersionDetail:
    """The definition as JSON, and the bytes as the server sent them."""
    _, definition = await read.version_number(session, tool_id, number)
    versions = await read.tool_versions(session, tool_id)
    version = next(version for version in versions if version.number == number)
    return VersionDetail(
        **_version(tool_id, version),
        definition=_json(definition),
        verbatim=definition.verbatim.decode("utf-8", errors="replace"),
    )


@router.get("/tools/{tool_id}/diff", summary="What the difference between two versions means")
async def diff(
    tool_id: RowId,
    request: Request,
    who: Reader,
    before: Annotated[int, Query(alias="from", ge=1)],
    after: Annotated[int, Query(alias="to", ge=1)],
) -> DiffOut:
    """A verdict for a client that holds `from` while the server serves `to`, part by part, with changed paths."""
    services = services_of(request)
    async with services.db.transaction() as session:
        era = await read.tool_era(session, tool_id)
        _, old = await read.version_number(session, tool_id, before)
        _, new = await read.version_number(session, tool_id, after)
    # outside the transaction: proving may take seconds
    assessment = await services.sandbox.assess(old, new, era=Era(era))
    return DiffOut(
        tool_id=tool_id,
        from_version=before,
        to_version=after,
        verdict=assessment.verdict,
        via=assessment.via,
        part=assessment.part,
        parts=[assessed_out(part) for part in assessment.parts],
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
