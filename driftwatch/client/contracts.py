"""Contracts that nobody watches, and the rules that findings follow."""

from __future__ import annotations

from typing import Any, Literal

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import CompareOut, EraName, RuleOut


class Contracts(Noun):
    """Schemas, tools and tool lists from anywhere."""

    def compare(
        self,
        old: Any,
        new: Any,
        *,
        direction: Literal["output", "input", "both"] | None = None,
        root: Literal["any", "object"] | None = None,
        era: EraName = "modern",
    ) -> CompareOut:
        """Does NEW break a client that holds OLD? Both are schemas, tools or tool lists, as JSON values."""
        asked = {"old": old, "new": new, "era": era, "direction": direction, "root": root}
        body = {name: value for name, value in asked.items() if value is not None or name in ("old", "new")}
        return self._api.post("/compare", CompareOut, body=body)


class Rules(Noun):
    """What findings mean."""

    def every(self) -> list[RuleOut]:
        """All rules, each with its smallest case."""
        return self._api.get("/rules", list[RuleOut])
