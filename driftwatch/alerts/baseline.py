"""Baselines: what was last accepted for a tool, and when the follow policy moves it by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import read, store
from driftwatch.alerts.policy import PolicyDecision
from driftwatch.history.tables import Change


class Keeper:
    """The baselines of some tools while their changes are decided about, one after the other."""

    def __init__(self, session: AsyncSession, versions: Mapping[int, int | None]) -> None:
        self._session = session
        self._versions = dict(versions)

    @classmethod
    async def load(cls, session: AsyncSession, tool_ids: Sequence[int]) -> Keeper:
        """The baselines as they are now."""
        found = await read.baselines(session, sorted(set(tool_ids)))
        return cls(session, {tool: baseline.version_id for tool, baseline in found.items()})

    def is_back(self, change: Change) -> bool:
        """True when a change returned its tool to the baseline."""
        return change.to_version_id == self._versions[change.tool_id]

    def see(self, change: Change, decision: PolicyDecision, verdict: str | None, *, follow: bool) -> None:
        """Advance the baseline of a followed tool over a change that needs nobody.

        Only from the baseline itself: a harmless change on top of a break that is still open must not accept the break.
        """
        harmless = decision.outcome != "alert" or verdict == "compatible"
        at_baseline = self._versions[change.tool_id] == change.from_version_id
        if not (follow and harmless and at_baseline) or self.is_back(change):
            return
        store.add_acceptance(self._session, change.tool_id, change.to_version_id, by="driftwatch", mode="follow")
        self._versions[change.tool_id] = change.to_version_id


async def all_back(session: AsyncSession, tool_ids: Collection[int]) -> bool:
    """True when every one of these tools is, as far as the policy has seen, at its baseline."""
    return not await not_at(session, await store.current_versions(session, tool_ids))


async def not_at(session: AsyncSession, versions: Mapping[int, int | None]) -> set[int]:
    """The tools whose baseline is another version than the given one."""
    found = await read.baselines(session, sorted(versions))
    return {tool for tool, version in versions.items() if found[tool].version_id != version}
