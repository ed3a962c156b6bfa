"""``driftwatch servers …``: what a running service watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from driftwatch.cli import service
from driftwatch.cli.service import AsJson, Limit, Token, Url
from driftwatch.client.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from driftwatch.client import Client
    from driftwatch.web.api.models import EraName, FoundEra, ServerOut, StandingOut

cli = typer.Typer(help="What a running service watches.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(metavar="SERVER", help="Its id or its exact name.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")]


@cli.command("list")
def list_servers(
    tag: Annotated[str | None, typer.Option(help="Only those with this tag.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    era: Annotated[str | None, typer.Option(help="Only those seen in this era: modern or legacy.")] = None,
    standing: Annotated[str | None, typer.Option(help="Only those that stand so: needs, blind or fine.")] = None,
    words: Annotated[
        str | None, typer.Option("--search", help="Text in names, URLs, owners, tags, tools and fields.")
    ] = None,
    limit: Limit = 100,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Every server in one line, those that need someone first."""
    with service.connect(url, token) as client:
        found = service.first(
            client.fleet.standings(
                q=words,
                tag=tag,
                owner=owner,
                era=cast("EraName | None", era),
                standing=cast("Literal['needs', 'blind', 'fine'] | None", standing),
            ),
            limit,
        )
    if as_json:
        service.print_json(found)
    else:
        headings = ("id", "server", "tools", "eras", "last change", "state", "why")
        service.print_table(headings, map(_line, found), empty="Nothing is watched that fits.")


def _line(one: StandingOut) -> tuple[object, ...]:
    last = one.last_change
    changed = None if last is None else f"{last.at:%Y-%m-%d} {last.verdict or 'being checked'}"
    return one.server_id, one.server, one.tools, one.eras, changed, one.state, one.why


@cli.command("show")
def show_server(server: Which, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """One server: how its polls go, and what each kind of client sees."""
    with service.connect(url, token) as client:
        found = _named(client, server)
    _show(found, as_json=as_json)


@cli.command("add")
def add_server(
    address: Annotated[str, typer.Argument(metavar="URL", help="The MCP endpoint.")],
    name: Annotated[str | None, typer.Option(help="Its name.", show_default="made from the host")] = None,
    header: Annotated[list[str] | None, typer.Option(help="A secret header, 'Name: value'; may be repeated.")] = None,
    tag: Tags = None,
    owner: Annotated[str | None, typer.Option(help="Who looks after it.")] = None,
    interval: Annotated[int | None, typer.Option(help="Poll interval in seconds.", show_default="300")] = None,
    mode: Annotated[str, typer.Option(help="follow, or pinned: only people accept changes.")] = "follow",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look, and store nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Watch it even if it cannot be read yet.")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Watch a server from now on. The first poll is the baseline."""
    from driftwatch.web.api.models import ServerIn

    given = service.body(
        ServerIn,
        url=address,
        name=name,
        headers=dict(map(_header, header or ())),
        tags=tag or [],
        owner=owner,
        interval_seconds=interval,
        mode=mode,
    )
    with service.connect(url, token) as client:
        if dry_run:
            seen = client.servers.look(given)
            _found(seen, seen.eras, "Nothing was stored.", as_json=as_json)
        else:
            added = client.servers.add(given, force=force)
            _found(added, added.found, f"Watched as server {added.server.id}.", as_json=as_json)


@cli.command("edit")
def edit_server(
    server: Which,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    tag: Tags = None,
    owner: Annotated[str | None, typer.Option(help="Who looks after it; empty for nobody.")] = None,
    interval: Annotated[int | None, typer.Option(help="Poll interval in seconds.")] = None,
    mode: Annotated[str | None, typer.Option(help="follow or pinned.")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Change a server; what is left out stays."""
    from driftwatch.web.api.models import ServerPatch

    patch = service.body(ServerPatch, name=name, tags=tag, owner=owner or None, interval_seconds=interval, mode=mode)
    if owner == "":
        patch = patch.model_copy(update={"owner": None})
    with service.connect(url, token) as client:
        changed = client.servers.change(_named(client, server).id, patch)
    _show(changed, as_json=as_json)


@cli.command("check")
def check_server(server: Which, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Poll a server now."""
    with service.connect(url, token) as client:
        asked = client.servers.check(_named(client, server).id)
    if as_json:
        service.print_json(asked)
    else:
        typer.echo("It is being looked at now.")


@cli.command("pause")
def pause_server(server: Which, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Stop polling a server for a while."""
    with service.connect(url, token) as client:
        _show(client.servers.pause(_named(client, server).id), as_json=as_json)


@cli.command("resume")
def resume_server(server: Which, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Poll a server again."""
    with service.connect(url, token) as client:
        _show(client.servers.resume(_named(client, server).id), as_json=as_json)


@cli.command("remove")
def remove_server(
    server: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = None,
    token: Token = None,
) -> None:
    """Stop watching a server and forget its history."""
    with service.connect(url, token) as client:
        found = _named(client, server)
        if not yes:
            typer.confirm(f"Forget server {found.id} and its whole history?", abort=True)
        client.servers.remove(found.id)
    typer.echo("It is no longer watched.")


def _named(client: Client, which: str) -> ServerOut:
    if which.isascii() and which.isdigit() and len(which) < 19:
        return client.servers.get(int(which))
    found = next((server for server in client.servers.every(q=which) if server.name == which), None)
    if found is None:
        raise ServiceError(f"there is no server named {which!r}", hint="driftwatch servers list shows what is watched")
    return found


def _found(answer: BaseModel, eras: Sequence[FoundEra], done: str, *, as_json: bool) -> None:
    if as_json:
        service.print_json(answer)
        return
    for era in eras:
        typer.echo(f"{era.era}: {len(era.tools)} tools, {era.outputs_declared} declare outputs")
    typer.echo(done)


def _header(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not name.strip():
        raise typer.BadParameter(f"{given!r}: write 'Name: value'", param_hint="--header")
    return name.strip(), value.strip()


def _show(server: ServerOut, *, as_json: bool) -> None:
    if as_json:
        service.print_json(server)
        return
    service.print_lines(
        (
            ("server", f"{server.id}  {server.name}"),
            ("url", server.url),
            ("state", server.state),
            ("owner", server.owner),
            ("tags", server.tags),
            ("mode", server.mode),
            ("interval", f"{server.interval_seconds} s"),
            ("headers set", server.headers_set),
        )
    )
    rows = [
        (
            one.era,
            one.state,
            one.tool_count,
            one.protocol_version,
            one.last_poll_at,
            one.last_error.message if one.last_error else None,
        )
        for one in server.profiles
    ]
    typer.echo()
    headings = ("seen by", "state", "tools", "protocol", "last poll", "problem")
    service.print_table(headings, rows, empty="Seen by nobody yet.")
