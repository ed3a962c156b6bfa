"""The command ``driftwatch``. Each command imports what it needs when it runs: ``diff`` needs no database."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

import driftwatch
from driftwatch.cli import agent, alerts, changes, database, diff, health, imports, rules, search, serve, servers
from driftwatch.errors import DriftwatchError
from driftwatch.safe_text import safe_text

cli = typer.Typer(
    help="Who changed an MCP tool contract, does it break a cached client, and was it announced.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
cli.command("serve")(serve.serve)
cli.command("login-link")(serve.login_link)
cli.command("health")(health.health)
cli.command("import")(imports.import_file)
cli.command("agent")(agent.agent)
cli.command("diff")(diff.diff)
cli.command("rules")(rules.rules)
cli.command("search")(search.search)
cli.command("accept")(alerts.accept)
cli.add_typer(servers.cli, name="servers")
cli.add_typer(changes.cli, name="changes")
cli.add_typer(alerts.cli, name="alerts")
cli.add_typer(database.cli, name="db")


@cli.command()
def version() -> None:
    """Print driftwatch's version."""
    typer.echo(driftwatch.__version__)


def app() -> None:
    """Run the command; an error of ours becomes two lines and exit code 2 instead of a traceback."""
    try:
        cli()
    except DriftwatchError as error:
        show_error(error)
        sys.exit(2)


def show_error(error: DriftwatchError) -> None:
    """What went wrong, and what to do about it, on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
    console.print(f"driftwatch: {safe_text(error.message)} [{error.code}]")
    if error.hint:
        console.print(f"  {safe_text(error.hint)}")
