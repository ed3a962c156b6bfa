"""SQL of assessments: what the classifier is asked, and its answer. Append only; the newest answer speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import ToolDefinition
from driftwatch.classify.verdict import CLASSIFIER_VERSION
from driftwatch.db.stored import row_id
from driftwatch.db.types import JSON_NULL
from driftwatch.history.definitions import load_definitions
from driftwatch.history.tables import Assessment, Change, ChangePart, Finding
from driftwatch.servers.tables import Profile
from driftwatch.wire.facts import Era

if TYPE_CHECKING:
    from driftwatch.classify import tool as classified


class ToAssess(NamedTuple):
    """A change as the classifier is asked about it. None: the tool was (or is) absent."""

    old: ToolDefinition | None
    new: ToolDefinition | None
    era: Era
    facts: Mapping[str, Any]


async def load_for_assessment(session: AsyncSession, change_id: int) -> ToAssess | None:
    """The two definitions of a change; None when it is gone or this classifier has answered already."""
    query = select(Change, Profile.era).join(Profile, col(Profile.id) == col(Change.profile_id))
    row = (await session.exec(query.where(col(Change.id) == change_id))).one_or_none()
    if row is None or await _answered(session, change_id, CLASSIFIER_VERSION):
        return None
    change, era = row
    versions = (change.from_version_id, change.to_version_id)
    found = await load_definitions(session, [version for version in versions if version is not None])
    old, new = (None if version is None else found[version] for version in versions)
    return ToAssess(old, new, Era(era), change.facts or {})


async def store_assessment(
    session: AsyncSession,
    change_id: int,
    assessment: classified.Assessment,
    *,
    classifier_version: str = CLASSIFIER_VERSION,
    duration_ms: float = 0.0,
) -> bool:
    """Add an answer and let the change repeat it.

    False, and nothing is written, when this classifier has answered before or the change is gone.
    """
    query = select(Change).where(col(Change.id) == change_id).with_for_update()
    change = (await session.exec(query.execution_options(populate_existing=True))).one_or_none()
    if change is None or await _answered(session, change_id, classifier_version):
        return False
    row = Assessment(change_id=change_id, classifier_version=classifier_version, duration_ms=duration_ms)
    session.add(row)
    await session.flush()
    for part in assessment.parts:
        await _add_part(session, row_id(row.id), part)
    change.verdict, change.via = assessment.verdict, assessment.via
    change.part = None if assessment.part is None else str(assessment.part)
    if change.state == "recorded":
        change.state = "assessed"
    session.add(change)
    await session.flush()
    return True


async def _answered(session: AsyncSession, change_id: int, classifier_version: str) -> bool:
    query = select(Assessment.id).where(
        Assessment.change_id == change_id, Assessment.classifier_version == classifier_version
    )
    return (await session.exec(query.limit(1))).first() is not None


async def _add_part(session: AsyncSession, assessment_id: int, part: classified.PartAssessment) -> None:
    row = ChangePart(
        assessment_id=assessment_id,
        part=str(part.part),
        verdict=part.verdict,
        via=part.via,
        reason=part.reason,
        witness=_storable(part.witness),
        paths=_storable(list(part.paths)) or None,
        clients=_storable(part.clients),
    )
    session.add(row)
    await session.flush()
    for found in part.findings:
        witness = _storable(found.witness) if found.has_witness else None
        session.add(
            Finding(
                change_part_id=row_id(row.id),
                rule=found.rule,
                pointer=found.pointer,
                level=found.level,
                effect=found.effect,
                message=found.message,
                witness=JSON_NULL if found.has_witness and witness is None else witness,
            )
        )


def _storable(value: Any) -> Any:
    """The value with exact decimals as the nearest double: what a JSON reader would make of them anyway."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _storable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_storable(item) for item in value]
    return value
