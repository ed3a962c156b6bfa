"""``driftwatch search``: servers, tools, fields of schemas and rules of a running service."""

from __future__ import annotations

from typing import Annotated

import typer

from driftwatch.cli import service
from driftwatch.cli.service import AsJson, Limit, Token, Url


def search(
    words: Annotated[str, typer.Argument(help="Text to look for.")],
    limit: Limit = 20,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Find servers, tools, fields of schemas, and rules. Exit code 1 when nothing is found."""
    with service.connect(url, token) as client:
        found = client.fleet.search(words, limit=limit)
    rows: list[tuple[object, ...]] = [
        *(("server", one.server_id, one.server, None) for one in found.servers),
        *(("tool", one.tool_id, f"{one.server} / {one.tool}", one.era) for one in found.tools),
        *(
            ("field", one.tool_id, f"{one.server} / {one.tool}", f"{one.field} ({one.part}, {one.era})")
            for one in found.fields
        ),
        *(("rule", None, one.rule, one.words) for one in found.rules),
    ]
    if as_json:
        service.print_json(found)
    else:
        service.print_table(("kind", "id", "name", "where"), rows, empty="Nothing is found.")
    if not rows:
        raise typer.Exit(1)
