"""``driftwatch import``: have a running service watch everything a file names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from driftwatch.errors import DriftwatchError, InputError
from driftwatch.safe_text import safe_text
from driftwatch.settings import Settings, load_settings

#: each entry is detected and polled once; a file may have hundreds
TIMEOUT_SECONDS: Final = 900.0
GLYPHS: Final = {"registered": "✓", "exists": "=", "refused": "✕", "skipped": "-"}


class ServiceError(DriftwatchError):
    """The service cannot be asked, or refused."""

    code = "service"


def import_file(
    file: Annotated[
        Path, typer.Argument(help="mcp.json, a registry server.json, a list of URLs; - for standard input.")
    ],
    url: Annotated[str | None, typer.Option(help="Address of the service.", show_default="this machine's")] = None,
    token: Annotated[str | None, typer.Option(help="API token.", show_default="HOME/admin-token")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag of every server; may be repeated.")] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of every server.")] = None,
    interval: Annotated[int | None, typer.Option(help="Poll interval in seconds.", show_default="300")] = None,
    force: Annotated[bool, typer.Option("--force", help="Watch servers that cannot be read yet, too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look, and store nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcomes as JSON.")] = False,
) -> None:
    """Register every server a file names; one line says what became of each. Exit code 1 when one was refused."""
    settings = load_settings()
    body = {"content": _read(file), "tags": tag or [], "owner": owner, "interval_seconds": interval, "force": force}
    address = f"{(url or settings.public_url).rstrip('/')}/api/v1/servers/import"
    outcomes = _post(address, token or _own_token(settings), body, dry_run=dry_run)
    if as_json:
        typer.echo(json.dumps(outcomes, ensure_ascii=True, indent=2))
    else:
        for outcome in outcomes:
            typer.echo(outcome_line(outcome, dry_run=dry_run))
    if any(outcome["status"] == "refused" for outcome in outcomes):
        raise typer.Exit(1)


def outcome_line(outcome: dict[str, Any], *, dry_run: bool = False) -> str:
    """One entry's outcome in words."""
    problem = outcome.get("problem")
    status = "readable" if dry_run and outcome["status"] == "registered" else outcome["status"]
    said = [GLYPHS[outcome["status"]], status.ljust(10), outcome.get("name") or "", outcome.get("url") or ""]
    if problem:
        said.append(f"({problem['code']}: {problem['message']})")
    return safe_text("  ".join(part for part in said if part), keep_newlines=False)


def _read(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text") from error


def _own_token(settings: Settings) -> str:
    if settings.admin_token is not None:
        return settings.admin_token.get_secret_value()
    try:
        return (settings.home / "admin-token").read_text().strip()
    except OSError as error:
        raise ServiceError(
            f"no API token: {settings.home / 'admin-token'} cannot be read",
            hint="Is the service's DRIFTWATCH_HOME another one? Else give --token.",
        ) from error


def _post(address: str, token: str, body: dict[str, Any], *, dry_run: bool) -> list[dict[str, Any]]:
    import httpx2

    from driftwatch.web.server import is_loopback

    target = httpx2.URL(address)
    try:
        # A proxy of the environment cannot reach this machine's own service.
        with httpx2.Client(timeout=TIMEOUT_SECONDS, trust_env=not is_loopback(target.host)) as client:
            answer = client.post(
                target,
                json=body,
                params={"dry_run": "true"} if dry_run else {},
                headers={"authorization": f"Bearer {token}"},
            )
        document = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        raise ServiceError(
            f"no usable answer from {target.scheme}://{target.netloc.decode()}: {error}",
            hint="Is the service running? Start it with: driftwatch serve",
        ) from error
    if not answer.is_success:
        raise ServiceError(
            f"the service refused ({answer.status_code}): {document.get('detail')}", hint=document.get("hint")
        )
    outcomes: list[dict[str, Any]] = document
    return outcomes
