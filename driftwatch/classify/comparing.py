"""Two contracts compared, tool by tool or as bare schemas: what the CLI and the API both answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.classify.contract import Contract
from driftwatch.classify.dialect import Schema
from driftwatch.classify.tool import Assessment, worst
from driftwatch.classify.verdict import SEVERITY, Outcome, Root
from driftwatch.classify.verdict import Direction as OneWay
from driftwatch.errors import InputError
from driftwatch.wire.facts import Era


class Direction(StrEnum):
    """Whose view is taken."""

    OUTPUT = "output"
    INPUT = "input"
    BOTH = "both"


_WAYS: Final[dict[Direction, tuple[OneWay, ...]]] = {
    Direction.OUTPUT: ("output",),
    Direction.INPUT: ("input",),
    Direction.BOTH: ("output", "input"),
}


class Classifier(Protocol):
    """What answers: the sandbox, whatever the schemas ask of it."""

    async def assess(self, old: ToolDefinition | None, new: ToolDefinition | None, *, era: Era) -> Assessment:
        """See :meth:`driftwatch.scheduler.sandbox.Sandbox.assess`."""

    async def assess_schemas(
        self, old: Schema | None, new: Schema | None, *, directions: Sequence[OneWay], root: Root, era: Era
    ) -> Assessment:
        """See :meth:`driftwatch.scheduler.sandbox.Sandbox.assess_schemas`."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One tool, or the bare schema (``tool`` None), and what its change means."""

    tool: str | None
    assessment: Assessment


def verdict_of(found: Sequence[Compared]) -> Outcome:
    """The worst of everything compared; compatible where nothing differs."""
    verdicts = [compared.assessment.verdict for compared in found]
    return max(verdicts, key=SEVERITY.__getitem__, default="compatible")


async def compare(
    classifier: Classifier, before: Contract, after: Contract, direction: Direction | None, root: Root | None = None
) -> list[Compared]:
    """Each tool that differs, or the one schema, with what its change means; a tool list in order of names.

    ``direction`` None: both for tools, output for schemas. ``root``, of bare output schemas: None follows the era.
    Raises InputError when one side is a schema and the other holds tools.
    """
    if before.bare != after.bare:
        raise InputError(
            "one side is a bare schema and the other holds tools",
            hint="Compare a schema with a schema, or tools with tools.",
        )
    if before.bare:
        assessment = await classifier.assess_schemas(
            before.schema,
            after.schema,
            directions=_WAYS[direction or Direction.OUTPUT],
            root=root or ("object" if after.era is Era.LEGACY else "any"),
            era=after.era,
        )
        return [Compared(None, assessment)]
    return [
        Compared(name, _limited(await classifier.assess(mine, yours, era=after.era), direction or Direction.BOTH))
        for name, mine, yours in _pairs(before, after)
    ]


def _pairs(before: Contract, after: Contract) -> Iterator[tuple[str, ToolDefinition | None, ToolDefinition | None]]:
    if before.single and after.single:
        # Two single tools are meant as one tool, whatever they are called.
        (mine,), (yours,) = before.tools.values(), after.tools.values()
        yield yours.name, mine, yours
        return
    for name in sorted({*before.tools, *after.tools}):
        mine_or_none, yours_or_none = before.tools.get(name), after.tools.get(name)
        if mine_or_none is None or yours_or_none is None or mine_or_none.sha256 != yours_or_none.sha256:
            yield name, mine_or_none, yours_or_none


def _limited(assessment: Assessment, direction: Direction) -> Assessment:
    hidden = {Direction.OUTPUT: Part.INPUT, Direction.INPUT: Part.OUTPUT}.get(direction)
    return worst(tuple(part for part in assessment.parts if part.part is not hidden))
