"""``driftwatch changes …``: what happened, from a running service."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from driftwatch.cli import service
from driftwatch.cli.service import AsJson, Limit, Token, Url

if TYPE_CHECKING:
    from driftwatch.client.changes import Wanted
    from driftwatch.web.api.models import ChangeOut

cli = typer.Typer(help="What happened to the tools that a running service watches.", no_args_is_help=True)


@cli.command("list")
def list_changes(
    server: Annotated[int | None, typer.Option(help="Only of this server, by id.")] = None,
    tool: Annotated[str | None, typer.Option(help="Only of tools with exactly this name.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only of servers with this tag.")] = None,
    verdict: Annotated[str | None, typer.Option(help="Only these: breaking, invalid, undecided or compatible.")] = None,
    announcement: Annotated[str | None, typer.Option(help="Only these: announced, silent, unknown or pending.")] = None,
    era: Annotated[str | None, typer.Option(help="Only as these clients see it: modern or legacy.")] = None,
    rule: Annotated[str | None, typer.Option(help="Only with a finding of this rule.")] = None,
    since: Annotated[datetime | None, typer.Option(help="Only recorded since then (this machine's time zone).")] = None,
    limit: Limit = 50,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Changes, newest first; all filters must hold."""
    given = {
        "server": server,
        "tool": tool,
        "tag": tag,
        "verdict": verdict,
        "announcement": announcement,
        "era": era,
        "rule": rule,
        "since": None if since is None else since.astimezone(),
    }
    with service.connect(url, token) as client:
        found = service.first(client.changes.every(**cast("Wanted", given)), limit)
    if as_json:
        service.print_json(found)
    else:
        headings = ("id", "when (UTC)", "server", "tool", "verdict", "announced", "what")
        service.print_table(headings, map(_line, found), empty="Nothing has changed that fits.")


def _line(change: ChangeOut) -> tuple[object, ...]:
    return (
        change.id,
        f"{change.window.end:%Y-%m-%d %H:%M}",
        change.server,
        change.tool,
        change.verdict or "being checked",
        change.announcement or "pending",
        change.headline.replace("`", ""),
    )


@cli.command("show")
def show_change(
    change: Annotated[int, typer.Argument(min=1, help="Its id.")],
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """One change for a ticket, in Markdown: what changed, the proof, whether it was announced, what to do."""
    with service.connect(url, token) as client:
        if as_json:
            service.print_json(client.changes.get(change))
        else:
            typer.echo(client.changes.markdown(change).rstrip("\n"))
