"""``driftwatch agent``: watch a server that driftwatch cannot reach, from beside it."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from driftwatch.errors import InputError
from driftwatch.settings import load_settings

if TYPE_CHECKING:
    from driftwatch.wire.facts import Era, Target
    from driftwatch.wire.process import Command

VARIABLE: Final = "DRIFTWATCH_TOKEN"
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)")


def agent(
    target: Annotated[
        str, typer.Argument(help='A stdio command in one word ("npx some-server"), or the URL of a private server.')
    ],
    to: Annotated[str, typer.Option(help="Address of driftwatch.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the server in driftwatch.", show_default="the URL's host")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with an API token of scope push.", show_default="$DRIFTWATCH_TOKEN")
    ] = None,
    interval: Annotated[
        int | None, typer.Option(min=1, help="Seconds between looks, for a new server.", show_default="300")
    ] = None,
    era: Annotated[
        list[str] | None, typer.Option(help="legacy or modern; may be repeated.", show_default="every one spoken")
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(help="Variable that the command gets from this environment; may be repeated.")
    ] = None,
    env_file: Annotated[Path | None, typer.Option(help="File with NAME=value lines for the command.")] = None,
    header_file: Annotated[Path | None, typer.Option(help="File with Name: value lines for the URL.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag of a new server; may be repeated.")] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of a new server.")] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Look once, confirm what differs, and end; exit code 1 when it failed.")
    ] = False,
) -> None:
    """Speak to a server where it runs, listen to it, and push what it says to driftwatch. Ends on SIGTERM or Ctrl-C."""
    from driftwatch import telemetry
    from driftwatch.agent.run import Plan, run
    from driftwatch.agent.service import Registration

    settings = load_settings()
    found = target_of(target, os.environ, env or (), env_file, header_file)
    plan = Plan(
        target=found,
        service_url=to,
        token=_token(token_file),
        registration=Registration(name or _host(target), interval, tuple(tag or ()), owner),
        eras=_eras(era),
        once=once,
    )
    telemetry.configure_logging(settings.log_format)
    if not asyncio.run(run(plan, settings)):
        raise typer.Exit(1)


def target_of(
    target: str,
    environment: Mapping[str, str],
    env: Sequence[str],
    env_file: Path | None,
    header_file: Path | None,
) -> Command | Target:
    """What to speak to. A command gets a minimal environment and what was named. Raises InputError."""
    from driftwatch.wire.facts import Target
    from driftwatch.wire.process import Command, minimal_environment

    if target.startswith(("http://", "https://")):
        if env or env_file:
            raise InputError("--env and --env-file are for commands.", hint="Give --header-file for a URL.")
        return Target(target, _pairs(header_file, _HEADER, "Name: value"))
    if header_file:
        raise InputError("--header-file is for URLs.", hint="Give --env or --env-file for a command.")
    try:
        words = tuple(shlex.split(target))
    except ValueError as error:
        raise InputError(f"the command cannot be read: {error}", hint="Quote it as for a shell.") from error
    if not words:
        raise InputError("the command is empty")
    if missing := [one for one in env if one not in environment]:
        raise InputError(f"--env {missing[0]}: there is no such variable here")
    given = {one: environment[one] for one in env} | _pairs(env_file, _ASSIGNMENT, "NAME=value")
    return Command(words, minimal_environment(environment) | given)


def _pairs(file: Path | None, shape: re.Pattern[str], described: str) -> dict[str, str]:
    found = {}
    for number, line in enumerate(_text(file).splitlines() if file else (), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (match := shape.fullmatch(line.strip())) is None:
            raise InputError(f"{file}, line {number}: not {described}")  # the line itself may hold a secret
        found[match[1]] = match[2]
    return found


def _token(file: Path | None) -> str:
    token = _text(file).strip() if file else os.environ.get(VARIABLE, "").strip()
    if not token:
        raise InputError("no API token", hint=f"Set {VARIABLE}, or give --token-file; the scope push is enough.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("the API token is not one line of plain ASCII")
    return token


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read {file}: {why}") from error


def _host(target: str) -> str:
    host = urlsplit(target).hostname if target.startswith(("http://", "https://")) else None
    if host is None:
        raise InputError("a command needs a name", hint="Give --name: what it is called in driftwatch.")
    return host


def _eras(chosen: Sequence[str] | None) -> tuple[Era, ...]:
    from driftwatch.wire.facts import Era

    if unknown := sorted(set(chosen or ()) - set(Era)):
        raise typer.BadParameter(f"{', '.join(unknown)}: choose legacy or modern", param_hint="--era")
    return tuple(era for era in (Era.MODERN, Era.LEGACY) if not chosen or era in chosen)
