"""How a change stands against what was accepted, and in transitive mode against everything since.

Clients that started before the baseline moved hold the baseline's contract, not the one just before the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import read
from driftwatch.alerts.route_tables import BaselineVerdict, TransitiveChoice
from driftwatch.capture.model import ToolDefinition
from driftwatch.history.definitions import load_definitions
from driftwatch.history.tables import Change, Tool, ToolInterval
from driftwatch.servers.tables import Profile, Server
from driftwatch.wire.facts import Era

#: versions between the baseline and now that transitive mode looks at, the newest ones
MOST_BETWEEN: Final = 20
_ORDER: Final = ("compatible", "undecided", "breaking", "invalid")


@dataclass(frozen=True, slots=True)
class Against:
    """The verdict of an earlier version -> current. ``via`` as in an assessment."""

    version_id: int
    verdict: str
    via: str | None

    @property
    def counts(self) -> bool:
        """True when the policy heeds it: a break of declared keys only, like the change's own."""
        return self.verdict in {"undecided", "invalid"} or (
            self.verdict == "breaking" and self.via in {"declared", None}
        )


class Earlier(NamedTuple):
    """An earlier version beside the current one, for the classifier."""

    version_id: int
    old: ToolDefinition
    new: ToolDefinition
    era: Era


def worse(one: Against | None, other: Against) -> Against | None:
    """The worse of two, None while neither counts."""
    if not other.counts:
        return one
    if one is None or _ORDER.index(other.verdict) > _ORDER.index(one.verdict):
        return other
    return one


async def earlier_versions(session: AsyncSession, change_id: int) -> list[Earlier]:
    """The versions a change is to be compared with besides the one before it: the baseline first; often none."""
    query = (
        select(Change, col(Profile.era), func.coalesce(col(TransitiveChoice.transitive), col(Server.transitive)))
        .join(Profile, col(Profile.id) == Change.profile_id)
        .join(Server, col(Server.id) == Change.server_id)
        .join(Tool, col(Tool.id) == Change.tool_id)
        .outerjoin(
            TransitiveChoice,
            (col(TransitiveChoice.server_id) == Server.id) & (col(TransitiveChoice.tool) == Tool.name),
        )
        .where(col(Change.id) == change_id)
    )
    row = (await session.execute(query)).one_or_none()
    if row is None or row[0].to_version_id is None:
        return []
    change, era, transitive = row
    baseline = (await read.baselines(session, [change.tool_id])).get(change.tool_id)
    if baseline is None or baseline.version_id is None:
        return []  # the baseline is absence: nobody holds an older contract
    wanted = [baseline.version_id]
    if transitive:
        wanted += await _since(session, change, baseline.version_id)
    ids = [v for v in dict.fromkeys(wanted) if v not in {change.from_version_id, change.to_version_id}]
    found = await load_definitions(session, [*ids, change.to_version_id]) if ids else {}
    return [Earlier(v, found[v], found[change.to_version_id], Era(era)) for v in ids]


async def _since(session: AsyncSession, change: Change, baseline: int) -> list[int]:
    """The versions that were current since the baseline was, the newest first."""
    began = (
        select(col(ToolInterval.valid_from))
        .where(col(ToolInterval.tool_id) == change.tool_id, col(ToolInterval.version_id) == baseline)
        .order_by(col(ToolInterval.valid_from).desc())
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(col(ToolInterval.version_id))
        .where(
            col(ToolInterval.tool_id) == change.tool_id,
            col(ToolInterval.version_id).is_not(None),
            col(ToolInterval.valid_from) > began,
        )
        .order_by(col(ToolInterval.valid_from).desc())
        .limit(MOST_BETWEEN)
    )
    return [version for version in (await session.scalars(query)).all() if version is not None]


async def stored_verdicts(session: AsyncSession, change_ids: Sequence[int]) -> dict[int, Against]:
    """What was kept of these changes: how the baseline stands against what they led to."""
    query = select(BaselineVerdict).where(col(BaselineVerdict.change_id).in_(change_ids))
    return {
        row.change_id: Against(row.from_version_id, row.verdict, row.via)
        for row in (await session.scalars(query)).all()
        if row.from_version_id is not None
    }


async def store_verdict(session: AsyncSession, change_id: int, against: Against) -> None:
    """Keep the verdict for the policy; a newer classifier's replaces it."""
    values = {"from_version_id": against.version_id, "verdict": against.verdict, "via": against.via}
    query = insert(BaselineVerdict).values(change_id=change_id, **values)
    await session.execute(query.on_conflict_do_update(index_elements=["change_id"], set_=values))
