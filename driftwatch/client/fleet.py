"""The fleet at a glance, and the search."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import EraName, OverviewOut, SearchOut, StandingName, StandingOut


class Fleet(Noun):
    """All servers together."""

    def overview(self) -> OverviewOut:
        """How many servers stand how."""
        return self._api.get("/overview", OverviewOut)

    def standings(
        self,
        *,
        q: str | None = None,
        tag: str | None = None,
        owner: str | None = None,
        era: EraName | None = None,
        standing: StandingName | None = None,
    ) -> Iterator[StandingOut]:
        """Every server in one line, those that need someone first."""
        query = {"q": q, "tag": tag, "owner": owner, "era": era, "standing": standing}
        return self._api.pages("/standings", StandingOut, query)

    def search(self, words: str, *, limit: int = 20) -> SearchOut:
        """Servers, tools, fields of schemas, and rules that have the words; at most ``limit`` of each kind."""
        return self._api.get("/search", SearchOut, {"q": words, "limit": limit})
