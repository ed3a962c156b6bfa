"""Changes by the rule of a finding: one condition for rare rules, another for common ones, both fast."""

from __future__ import annotations

from typing import Any, Final

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.history.tables import Assessment, Change, ChangePart, Finding

#: up to so many findings the changes are looked up from the rule; above, the rule is looked up from the changes
RARE: Final = 2_000


async def having(session: AsyncSession, rule: str) -> Any:
    """A condition on Change: an assessment of it has a finding of this rule."""
    some = select(Finding.id).where(col(Finding.rule) == rule).limit(RARE + 1).subquery()
    count = (await session.exec(select(func.count()).select_from(some))).one()
    joined = (
        select(Assessment.change_id)
        .join(ChangePart, col(ChangePart.assessment_id) == col(Assessment.id))
        .join(Finding, col(Finding.change_part_id) == col(ChangePart.id))
        .where(col(Finding.rule) == rule)
    )
    if count <= RARE:
        return col(Change.id).in_((await session.exec(joined.distinct())).all())
    return joined.where(col(Assessment.change_id) == col(Change.id)).correlate(Change).exists()
