"""SQL of doubts: differences that were seen and are not believed yet. The caller owns the transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.history.ledger import Doubt
from driftwatch.history.tables import Candidate
from driftwatch.scheduler.tables import PollEvent


async def load_doubts(session: AsyncSession, profile_id: int) -> dict[str, Doubt]:
    """The differences of a profile that are not believed yet, by tool name."""
    rows = (await session.exec(select(Candidate).where(Candidate.profile_id == profile_id))).all()
    return {row.tool: _doubt(row) for row in rows}


async def restless_tools(session: AsyncSession) -> dict[int, list[str]]:
    """Profile id → its tools that do not hold still, by name. Doubts are few, whatever is watched."""
    rows = await session.exec(select(Candidate).order_by(col(Candidate.profile_id), col(Candidate.tool)))
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows.all():
        if _doubt(row).restless:
            found[row.profile_id].append(row.tool)
    return dict(found)


async def put_doubts(session: AsyncSession, profile_id: int, doubts: Mapping[str, Doubt]) -> None:
    """Replace the stored doubts of a profile."""
    await session.exec(delete(Candidate).where(col(Candidate.profile_id) == profile_id))
    if doubts:
        await session.exec(insert(Candidate), params=[_candidate(profile_id, tool, d) for tool, d in doubts.items()])


async def put_passed(session: AsyncSession, profile_id: int, at: datetime, doubts: Mapping[str, Doubt]) -> None:
    """Note in the profile's poll history that differences came and went without being believed."""
    for tool, doubt in doubts.items():
        seen = f"{doubt.returns} time{'s' if doubt.returns > 1 else ''}"
        message = f"another definition of {_named(tool)} was seen {seen} and did not hold"
        detail = {"code": "transient", "message": message, "tool": tool, "returns": doubt.returns}
        session.add(PollEvent(profile_id=profile_id, at=at, outcome="transient", detail=detail))


async def put_mixed(session: AsyncSession, profile_id: int, at: datetime, doubts: Mapping[str, Doubt]) -> None:
    """Note in the profile's poll history, once, that two definitions of a tool alternate."""
    for tool in doubts:
        message = f"two definitions of {_named(tool)} alternate; nothing is believed until one holds for 15 minutes"
        detail = {"code": "mixed", "message": message, "tool": tool}
        session.add(PollEvent(profile_id=profile_id, at=at, outcome="mixed", detail=detail))


def _named(tool: str) -> str:
    return tool or "the server itself"


def _doubt(row: Candidate) -> Doubt:
    facts = row.facts or {}
    return Doubt(
        old=row.old_sha,
        new=row.new_sha,
        prior_sent_at=row.prior_sent_at,
        first_arrived_at=row.first_arrived_at,
        last_seen_at=row.last_seen_at,
        sightings=row.sightings,
        returns=row.returns,
        calm=facts.get("calm", 0),
        restarts=facts.get("restarts", 0),
        meaning=bytes.fromhex(facts["meaning"]) if facts.get("meaning") else None,
        before=facts.get("before", {}),
        began_at=datetime.fromisoformat(facts["began_at"]) if facts.get("began_at") else None,
        told=facts.get("told", False),
    )


def _candidate(profile_id: int, tool: str, doubt: Doubt) -> dict[str, Any]:
    return {
        "profile_id": profile_id,
        "tool": tool,
        "old_sha": doubt.old,
        "new_sha": doubt.new,
        "prior_sent_at": doubt.prior_sent_at,
        "first_arrived_at": doubt.first_arrived_at,
        "last_seen_at": doubt.last_seen_at,
        "sightings": doubt.sightings,
        "returns": doubt.returns,
        "facts": {
            "calm": doubt.calm,
            "restarts": doubt.restarts,
            "meaning": doubt.meaning.hex() if doubt.meaning else None,
            "before": dict(doubt.before),
            "began_at": (doubt.began_at or doubt.first_arrived_at).isoformat(),
            "told": doubt.told,
        },
    }
