"""``driftwatch diff OLD NEW``: does the change between two contracts break a client? Works without any database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Final, Protocol
from urllib.parse import urlsplit

import typer

from driftwatch.capture.model import Part, ToolDefinition
from driftwatch.classify.dialect import Schema
from driftwatch.classify.tool import Assessment, PartAssessment, of_verdict, worst
from driftwatch.classify.verdict import SEVERITY, Root, Verdict
from driftwatch.classify.verdict import Direction as OneWay
from driftwatch.cli import diff_report
from driftwatch.cli.contracts import Contract, is_url, load
from driftwatch.cli.diff_report import Compared
from driftwatch.errors import InputError
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.settings import Settings, load_settings
from driftwatch.wire.facts import Era

#: the exit code of each verdict; 2 is for inputs that cannot be read or compared
EXIT_CODES: Final = {"compatible": 0, "breaking": 1, "invalid": 1, "undecided": 3}


class Direction(StrEnum):
    """Whose view is taken."""

    OUTPUT = "output"
    INPUT = "input"
    BOTH = "both"


class Classifier(Protocol):
    """What answers: the sandbox, whatever the schemas ask of it."""

    async def assess(self, old: ToolDefinition | None, new: ToolDefinition | None, *, era: Era) -> Assessment:
        """See :meth:`driftwatch.scheduler.sandbox.Sandbox.assess`."""

    async def classify(self, old: Schema | None, new: Schema | None, *, direction: OneWay, root: Root) -> Verdict:
        """See :meth:`driftwatch.scheduler.sandbox.Sandbox.classify`."""


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def diff(
    old: Annotated[
        str, typer.Argument(help="What clients hold: a file, - for standard input, or an MCP server's URL.")
    ],
    new: Annotated[str, typer.Argument(help="What the server says now: a file, - or an MCP server's URL.")],
    direction: Annotated[
        Direction | None,
        typer.Option(
            help="output: results that clients read; input: arguments. Default: both for tools, output for schemas."
        ),
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="How the answer is written.")] = Format.TEXT,
    era: Annotated[
        Era | None,
        typer.Option(help="Which clients: in the legacy era results are always objects. Default: modern."),
    ] = None,
) -> None:
    """Say whether NEW breaks a client that still holds OLD, with a value that proves it.

    OLD and NEW are each a JSON schema, a tool, or a tools/list result. Exit code: 0 compatible, 1 breaking or invalid,
    2 the inputs cannot be read or compared, 3 undecided.
    """
    found = asyncio.run(_compare(old, new, direction, era))
    verdict = max((compared.assessment.verdict for compared in found), key=SEVERITY.__getitem__, default="compatible")
    match output_format:
        case Format.JSON:
            typer.echo(diff_report.as_json(verdict, found))
        case Format.MARKDOWN:
            typer.echo(diff_report.as_markdown(verdict, found))
        case Format.TEXT:
            diff_report.show(verdict, found)
    raise typer.Exit(EXIT_CODES[verdict])


async def _compare(old: str, new: str, direction: Direction | None, era: Era | None) -> list[Compared]:
    settings = allowing(load_settings(), old, new)
    before, after = await load(old, settings, era), await load(new, settings, era)
    async with Sandbox(settings) as sandbox:
        return await compare(sandbox, before, after, direction)


def allowing(settings: Settings, *sources: str) -> Settings:
    """The settings with the hosts that were typed in allowed: who runs the command can reach them anyway."""
    hosts = (urlsplit(source).hostname for source in sources if is_url(source))
    return settings.model_copy(update={"allow_networks": (*settings.allow_networks, *filter(None, hosts))})


async def compare(
    classifier: Classifier, before: Contract, after: Contract, direction: Direction | None
) -> list[Compared]:
    """Each tool that differs, or the one schema, with what its change means; a tool list in order of names.

    Raises InputError when one side is a schema and the other holds tools.
    """
    if before.bare != after.bare:
        raise InputError(
            "one side is a bare schema and the other holds tools",
            hint="Compare a schema with a schema, or tools with tools.",
        )
    if before.bare:
        return [await _schemas(classifier, before, after, direction or Direction.OUTPUT)]
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


async def _schemas(classifier: Classifier, before: Contract, after: Contract, direction: Direction) -> Compared:
    parts: list[PartAssessment] = []
    if direction in (Direction.OUTPUT, Direction.BOTH):
        root: Root = "object" if after.era is Era.LEGACY else "any"
        verdict = await classifier.classify(before.schema, after.schema, direction="output", root=root)
        parts.append(of_verdict(Part.OUTPUT, verdict))
    if direction in (Direction.INPUT, Direction.BOTH):
        verdict = await classifier.classify(before.schema, after.schema, direction="input", root="object")
        parts.append(of_verdict(Part.INPUT, verdict))
    return Compared(None, worst(tuple(parts)))


def _limited(assessment: Assessment, direction: Direction) -> Assessment:
    hidden = {Direction.OUTPUT: Part.INPUT, Direction.INPUT: Part.OUTPUT}.get(direction)
    return worst(tuple(part for part in assessment.parts if part.part is not hidden))
