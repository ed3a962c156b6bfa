"""The same tool over the eras."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from driftwatch.web.api.models.base import EraName
from driftwatch.web.api.models.changes import PartOut


class SideOut(BaseModel):
    """The tool as the clients of one era see it now."""

    era: EraName
    tool_id: int
    version: int


class DifferenceOut(BaseModel):
    """What a client of ``holder`` would make of the contract that the other era shows."""

    holder: EraName
    part: PartOut


class ToolErasOut(BaseModel):
    """One tool over the eras that see it."""

    tool: str
    likeness: Literal["same", "words", "wrapped", "equivalent", "differs", "undecided", "one-sided"] = Field(
        description="same; words: texts or spelling differ; wrapped: `{result: …}` for 2025-11-25 clients; equivalent: "
        "proved to allow the same; differs; undecided; one-sided: only one era has it."
    )
    sides: list[SideOut]
    differences: list[DifferenceOut] = Field(description="Proofs and findings where it differs or is undecided.")
