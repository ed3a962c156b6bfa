"""``driftwatch import``: have a running service watch everything a file names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from driftwatch.cli import service
from driftwatch.cli.service import AsJson, Token, Url
from driftwatch.errors import InputError
from driftwatch.safe_text import safe_text

if TYPE_CHECKING:
    from driftwatch.web.api.models import BatchOutcome

GLYPHS: Final = {"registered": "✓", "exists": "=", "refused": "✕", "skipped": "-"}


def import_file(
    file: Annotated[
        Path, typer.Argument(help="mcp.json, a registry server.json, a list of URLs; - for standard input.")
    ],
    url: Url = None,
    token: Token = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag of every server; may be repeated.")] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of every server.")] = None,
    interval: Annotated[int | None, typer.Option(help="Poll interval in seconds.", show_default="300")] = None,
    force: Annotated[bool, typer.Option("--force", help="Watch servers that cannot be read yet, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look, and store nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Register every server a file names; one line says what became of each. Exit code 1 when one was refused."""
    from driftwatch.web.api.models import ImportIn

    given = service.body(
        ImportIn, content=_read(file), tags=tag or [], owner=owner, interval_seconds=interval, force=force
    )
    with service.connect(url, token) as client:
        outcomes = client.servers.import_(given, dry_run=dry_run)
    if as_json:
        service.print_json(outcomes)
    else:
        for outcome in outcomes:
            typer.echo(outcome_line(outcome, dry_run=dry_run))
    if any(outcome.status == "refused" for outcome in outcomes):
        raise typer.Exit(1)


def outcome_line(outcome: BatchOutcome, *, dry_run: bool = False) -> str:
    """One entry's outcome in words."""
    problem = outcome.problem
    status = "readable" if dry_run and outcome.status == "registered" else outcome.status
    said = [GLYPHS[outcome.status], status.ljust(10), outcome.name or "", outcome.url or ""]
    if problem:
        said.append(f"({problem.code}: {problem.message})")
    return safe_text("  ".join(part for part in said if part), keep_newlines=False)


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text") from error
