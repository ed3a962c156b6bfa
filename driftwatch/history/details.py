"""SQL of what hangs on a change: the newest assessment's parts with their findings, the newest judgement, facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.dialects.postgresql import distinct_on
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.db.stored import row_id
from driftwatch.history.evidence import JudgementRow
from driftwatch.history.tables import Assessment, Change, ChangePart, Finding
from driftwatch.history.views import FindingView, JudgementView, PartView


async def load_parts(session: AsyncSession, change_ids: Sequence[int]) -> dict[int, list[PartView]]:
    """The parts of each change's newest assessment."""
    newest = (
        select(Assessment.id, Assessment.change_id)
        .where(col(Assessment.change_id).in_(change_ids))
        .ext(distinct_on(col(Assessment.change_id)))
        .order_by(col(Assessment.change_id), col(Assessment.id).desc())
    )
    changes = {row_id(assessment): change for assessment, change in (await session.exec(newest)).all()}
    query = select(ChangePart).where(col(ChangePart.assessment_id).in_(changes)).order_by(col(ChangePart.id))
    rows = (await session.exec(query)).all()
    findings = await _findings(session, [row_id(row.id) for row in rows])
    parts: defaultdict[int, list[PartView]] = defaultdict(list)
    for row in rows:
        parts[changes[row.assessment_id]].append(
            PartView(
                part=row.part,
                verdict=row.verdict,
                via=row.via,
                reason=row.reason,
                witness=row.witness,
                findings=tuple(findings.get(row_id(row.id), ())),
                paths=tuple(row.paths or ()),
                clients=row.clients,
            )
        )
    return parts


async def load_judgements(session: AsyncSession, change_ids: Sequence[int]) -> dict[int, JudgementView]:
    """The newest judgement of each change that was judged."""
    query = (
        select(JudgementRow)
        .where(col(JudgementRow.change_id).in_(change_ids))
        .ext(distinct_on(col(JudgementRow.change_id)))
        .order_by(col(JudgementRow.change_id), col(JudgementRow.id).desc())
    )
    found = {}
    for row in (await session.exec(query)).all():
        if row.at is not None:
            view = JudgementView(row.announcement, row.reason, row.fact, row.rule, row.at, row.evidence)
            found[row.change_id] = view
    return found


async def load_facts(session: AsyncSession, change_ids: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    """What was noted about each change when it was recorded."""
    query = select(Change.id, Change.facts).where(col(Change.id).in_(change_ids))
    return {row_id(key): facts for key, facts in (await session.exec(query)).all() if facts}


async def _findings(session: AsyncSession, part_ids: Sequence[int]) -> dict[int, list[FindingView]]:
    query = select(Finding).where(col(Finding.change_part_id).in_(part_ids)).order_by(col(Finding.id))
    found: defaultdict[int, list[FindingView]] = defaultdict(list)
    for row in (await session.exec(query)).all():
        view = FindingView(row.rule, row.pointer, row.level, row.effect, row.message, row.witness)
        found[row.change_part_id].append(view)
    return found
