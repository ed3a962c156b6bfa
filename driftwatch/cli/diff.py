"""``driftwatch diff OLD NEW``: does the change between two contracts break a client? Works without any database."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from driftwatch.classify.comparing import Compared, Direction, compare, verdict_of
from driftwatch.cli import diff_report
from driftwatch.cli.contracts import is_url, load
from driftwatch.scheduler.sandbox import Sandbox
from driftwatch.settings import Settings, load_settings
from driftwatch.wire.facts import Era

#: the exit code of each verdict; 2 is for inputs that cannot be read or compared
EXIT_CODES: Final = {"compatible": 0, "breaking": 1, "invalid": 1, "undecided": 3}


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
    verdict = verdict_of(found)
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
