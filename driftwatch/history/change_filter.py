"""Which changes: the conditions that lists, changelogs and exports share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.history.by_rule import having
from driftwatch.history.tables import Assessment, Change, ChangePart, Tool
from driftwatch.servers.tables import Profile, Server

#: so many servers or profiles are looked up one by one; of more, some have changed lately
FEW: Final = 200


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """All given conditions must hold; None asks for nothing.

    ``tool`` is an exact name, ``direction`` input or output (a change whose newest assessment has that part),
    ``rule`` the id of a finding's rule, ``tag`` one of the server's tags, ``since`` the earliest recording time.
    """

    server_id: int | None = None
    tool_id: int | None = None
    tool: str | None = None
    verdict: str | None = None
    announcement: str | None = None
    direction: str | None = None
    era: str | None = None
    rule: str | None = None
    tag: str | None = None
    since: datetime | None = None


async def filtered(session: AsyncSession, query: Any, wanted: ChangeFilter) -> Any:
    """The query over Change, Server, Profile and Tool with the conditions added."""
    exact = {
        Change.server_id: wanted.server_id,
        Change.tool_id: wanted.tool_id,
        Tool.name: wanted.tool,
        Change.verdict: wanted.verdict,
        Change.announcement: wanted.announcement,
    }
    for column, value in exact.items():
        if value is not None:
            query = query.where(column == value)
    if wanted.since is not None:
        query = query.where(col(Change.recorded_at) >= wanted.since)
    if wanted.rule is not None:
        query = query.where(await having(session, wanted.rule))
    if wanted.era is not None:
        kinds = select(Profile.id).where(Profile.era == wanted.era)
        query = query.where(await _among(session, col(Change.profile_id), kinds, col(Profile.era) == wanted.era))
    if wanted.tag is not None:
        tagged = col(Server.tags).contains([wanted.tag])
        query = query.where(await _among(session, col(Change.server_id), select(Server.id).where(tagged), tagged))
    if wanted.direction is not None:
        query = query.where(_has_part(wanted.direction))
    return query


async def _among(session: AsyncSession, column: Any, those: Any, otherwise: Any) -> Any:
    """A condition that an index answers where few are meant: walking everybody's changes for them would take long."""
    few = (await session.exec(those.limit(FEW + 1))).all()
    return column.in_(few) if len(few) <= FEW else otherwise


def _has_part(part: str) -> Any:
    newest = select(func.max(Assessment.id)).where(col(Assessment.change_id) == col(Change.id)).correlate(Change)
    parts = select(ChangePart.id).where(
        col(ChangePart.assessment_id) == newest.scalar_subquery(), ChangePart.part == part
    )
    return parts.correlate(Change).exists()
