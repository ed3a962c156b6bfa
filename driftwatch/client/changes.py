"""Changes, changesets, and the changelog to take along. All three take the same filters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, TypedDict, Unpack

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import (
    Announcement,
    ChangeDetail,
    ChangeOut,
    ChangesetOut,
    DryRunOut,
    EraName,
    ExportedChange,
    Verdict,
)


class Wanted(TypedDict, total=False):
    """Which changes: all given filters must hold. ``tool`` is an exact name, ``rule`` the id of a finding's rule."""

    server: int | None
    tool: str | None
    tool_id: int | None
    tag: str | None
    verdict: Verdict | None
    announcement: Announcement | None
    direction: Literal["input", "output"] | None
    era: EraName | None
    rule: str | None
    since: datetime | None


class Changes(Noun):
    """What happened to tools."""

    def every(self, **wanted: Unpack[Wanted]) -> Iterator[ChangeOut]:
        """Changes, newest first."""
        return self._api.pages("/changes", ChangeOut, wanted)

    def get(self, change_id: int) -> ChangeDetail:
        """One change with proof and evidence."""
        return self._api.get("/changes/{change_id}", ChangeDetail, change_id=change_id)

    def markdown(self, change_id: int) -> str:
        """One change for a ticket."""
        return self._api.text("/changes/{change_id}/markdown", change_id=change_id)

    def dry_run(self, change_id: int) -> DryRunOut:
        """What it would send now, where, and why."""
        return self._api.get("/changes/{row_id}/dry-run", DryRunOut, row_id=change_id)


class Changesets(Noun):
    """What deploys did."""

    def every(self, **wanted: Unpack[Wanted]) -> Iterator[ChangesetOut]:
        """Changesets with a change that fits, newest first."""
        return self._api.pages("/changesets", ChangesetOut, wanted)

    def get(self, changeset_id: int) -> ChangesetOut:
        """One changeset with all its changes."""
        return self._api.get("/changesets/{changeset_id}", ChangesetOut, changeset_id=changeset_id)


class Changelog(Noun):
    """Changes to take along."""

    def every(self, **wanted: Unpack[Wanted]) -> Iterator[ExportedChange]:
        """Every change that fits, newest first, for scripts."""
        return self._api.pages("/changelog", ExportedChange, wanted)

    def markdown(self, *, limit: int = 50, **wanted: Unpack[Wanted]) -> str:
        """The newest ``limit`` changesets for people."""
        return self._api.text("/changelog.md", {**wanted, "limit": limit})
