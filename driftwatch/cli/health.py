"""``driftwatch health``: what a container, a supervisor or a person asks."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

import typer

from driftwatch.safe_text import safe_text
from driftwatch.settings import Settings, load_settings

TIMEOUT_SECONDS: Final = 5.0
#: listening everywhere includes here
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognized, not listened on


def health() -> None:
    """Say whether the driftwatch with these settings can work; exit code 1 when it cannot, or is not there."""
    ready, lines = _ask(load_settings())
    for line in lines:
        typer.echo(safe_text(line, keep_newlines=False))
    if not ready:
        raise typer.Exit(1)


def _ask(settings: Settings) -> tuple[bool, list[str]]:
    host, port = _HERE.get(settings.host, settings.host), settings.health_port or settings.port
    connection = HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        report: dict[str, Any] = json.loads(answer.read())
        return answer.status == 200, [f"{name}: {said}" for name, said in report["checks"].items()]
    except (OSError, HTTPException, ValueError, KeyError) as error:
        return False, [f"no answer from {host} port {port}: {error}"]
    finally:
        connection.close()
