"""SQL of what a profile inherits when our own configuration opened it: the baselines of the one it succeeds.

Their histories stay apart. A definition that was accepted there becomes the first version here when it still differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts.tables import Acceptance
from driftwatch.capture.model import ToolDefinition
from driftwatch.history.definitions import load_definitions
from driftwatch.history.tables import Tool
from driftwatch.servers.tables import Profile


@dataclass(frozen=True, slots=True)
class Inherited:
    """An accepted definition and how it came to be accepted."""

    definition: ToolDefinition
    acceptance: Acceptance

    def accepted(self, tool_id: int, version_id: int) -> Acceptance:
        """The same acceptance for a tool of the successor."""
        was = self.acceptance
        return Acceptance(
            tool_id=tool_id, version_id=version_id, at=was.at, by=was.by, mode=was.mode, reason=was.reason
        )


async def inherited(session: AsyncSession, profile_id: int) -> Mapping[str, Inherited]:
    """The baselines of the profile that this one succeeds, by tool name; accepted absences are not inherited."""
    before = select(Profile.succeeds_profile_id).where(col(Profile.id) == profile_id)
    newest = (
        select(Tool.name, Acceptance)
        .join(Acceptance, col(Acceptance.tool_id) == col(Tool.id))
        .where(col(Tool.profile_id) == before.scalar_subquery())
        .ext(distinct_on(col(Tool.id)))
        .order_by(col(Tool.id), col(Acceptance.id).desc())
    )
    rows = {name: row for name, row in (await session.exec(newest)).all() if row.version_id is not None}
    definitions = await load_definitions(session, {row.version_id for row in rows.values() if row.version_id})
    return {name: Inherited(definitions[row.version_id], row) for name, row in rows.items() if row.version_id}
