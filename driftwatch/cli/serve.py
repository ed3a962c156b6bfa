"""``driftwatch serve`` and ``driftwatch login-link``."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.settings import Settings, load_settings

if TYPE_CHECKING:
    from driftwatch.app import Services
    from driftwatch.supervisor import Role

ROLES = ("web", "scheduler", "worker", "listener")


def serve(
    host: Annotated[str | None, typer.Option(help="Listen address of the web role.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Listen port; 0 for any.", show_default="8787")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help=f"What this process does: {', '.join(ROLES)}; may be repeated.", show_default="all"),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Also play the demo: a server that drifts.")] = False,
) -> None:
    """Run driftwatch until Ctrl-C: on an embedded Postgres, or on DRIFTWATCH_DATABASE_URL."""
    from driftwatch import app, telemetry
    from driftwatch.web.auth import first_start

    unknown = sorted(set(role or ()) - set(ROLES))
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: choose from {', '.join(ROLES)}", param_hint="--role")
    names = frozenset(app.RoleName(name) for name in role or ROLES)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(**given)
    # the fake Slack is part of the web role, so the play is where that is
    demo = (demo or settings.demo) and app.RoleName.WEB in names
    if demo:
        from driftwatch.testing.demo import demo_settings

        settings = demo_settings(settings)
    if app.RoleName.WEB in names:
        first_start.refuse_strangers(settings)
    # The demo tells its story on the terminal; only what goes wrong may interrupt it.
    telemetry.configure_logging(settings.log_format, level=logging.WARNING if demo else logging.INFO)
    asyncio.run(app.run(settings, names, started=_Welcome(names, demo=demo), extra=_demo if demo else None))


class _Welcome:
    """Prepares the admin token once the database is there, and says where to go."""

    def __init__(self, names: frozenset[str], *, demo: bool) -> None:
        self._names = names
        self._demo = demo

    async def __call__(self, services: Services) -> None:
        from driftwatch.web.auth import first_start, tokens

        if "web" not in self._names:
            return
        settings = services.settings
        async with services.db.transaction() as session:
            is_first = await first_start.prepare(session, settings)
            # A preset token is known to whoever set it; a link in a log would only be one more secret to lose.
            link = await tokens.create_login_link(session) if is_first or self._demo else None
        if link is None:
            typer.echo(f"driftwatch  {settings.public_url}")
        else:
            typer.echo(f"driftwatch  {settings.public_url}{link}   (login link, works once)")
        if settings.admin_token is None:
            typer.echo(f"            admin token: {first_start.token_file(settings)}")


def _demo(services: Services) -> list[Role]:
    from driftwatch.supervisor import Role
    from driftwatch.testing.demo import run_demo

    return [Role("demo", lambda: run_demo(services))]


def login_link() -> None:
    """Print a login link that works once, for an hour. The service may be running or not."""
    typer.echo(asyncio.run(_login_link(load_settings())))


async def _login_link(settings: Settings) -> str:
    from driftwatch.app import open_database
    from driftwatch.db.engine import Database
    from driftwatch.web.auth import tokens

    async with open_database(settings) as (url, _):
        db = Database(url)
        async with db.transaction() as session:
            link = await tokens.create_login_link(session)
        await db.dispose()
    return f"{settings.public_url}{link}"
