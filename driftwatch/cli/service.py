"""Commands that talk to a running service: which one, with which token, and how answers are printed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Console
from rich.table import Table

from driftwatch.client.errors import ServiceError
from driftwatch.errors import InputError
from driftwatch.safe_text import safe_text
from driftwatch.settings import Settings, load_settings

if TYPE_CHECKING:
    from driftwatch.client import Client

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)

Url = Annotated[
    str | None,
    typer.Option("--url", envvar="DRIFTWATCH_URL", help="Address of the service.", show_default="this machine's"),
]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="DRIFTWATCH_TOKEN", help="API token.", show_default="HOME/admin-token"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option(min=1, help="Most lines.")]


def connect(url: str | None, token: str | None) -> Client:
    """A client of the service that is meant: the given one, else this machine's with its own token.

    Raises:
        ServiceError: no token was given and none can be read.
    """
    from driftwatch.client import Client

    settings = load_settings()
    return Client(url or settings.public_url, token or _own_token(settings))


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


def body(shape: type[B], **fields: object) -> B:
    """What is sent, checked; None leaves a field out. Raises InputError."""
    try:
        return shape.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InputError(f"that cannot be sent: {wrong}", hint="See the command's --help.") from error


def first(items: Iterable[T], limit: int) -> list[T]:
    """The first items; no more pages are asked for than they need."""
    return list(islice(items, limit))


def print_json(answer: BaseModel | Sequence[BaseModel]) -> None:
    """Answers as JSON in ASCII, so that no name of a watched server can steer the terminal."""
    plain: Any = (
        [one.model_dump(mode="json") for one in answer]
        if isinstance(answer, Sequence)
        else answer.model_dump(mode="json")
    )
    typer.echo(json.dumps(plain, ensure_ascii=True, indent=2))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Rows under headings; every cell is made safe. ``empty`` is said where there is none."""
    table = Table(*headings, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    if table.row_count:
        _console().print(table)
    else:
        typer.echo(empty)


def print_lines(lines: Iterable[tuple[str, object]]) -> None:
    """One thing, a label and a value a line; what is unknown is left out."""
    known = [(label, value) for label, value in lines if value not in (None, "", [])]
    width = max((len(label) for label, _ in known), default=0)
    for label, value in known:
        typer.echo(f"{label:{width}}  {_cell(value)}")


def _cell(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(item) for item in value)
    return "–" if value is None else safe_text(str(value), keep_newlines=False)


def _console() -> Console:
    # one line a row wherever the output goes: a pipe has no width, and a cell is never cut
    plain = Console(highlight=False, markup=False, soft_wrap=True)
    return plain if plain.is_terminal else Console(highlight=False, markup=False, width=400)
