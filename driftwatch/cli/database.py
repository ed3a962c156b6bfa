"""``driftwatch db``: migrate a database, or look whether it is migrated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from driftwatch.settings import load_settings

cli = typer.Typer(help="The database: DRIFTWATCH_DATABASE_URL, or the embedded one of the home.", no_args_is_help=True)


@contextmanager
def _url() -> Iterator[str]:
    from driftwatch.db.embedded import EmbeddedPostgres

    settings = load_settings()
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    with EmbeddedPostgres(settings.home, settings.pg_bin) as postgres:
        yield postgres.url


@cli.command()
def upgrade() -> None:
    """Migrate to the newest schema. Harmless when it is there already, or when others do the same."""
    from driftwatch.db import migrate

    with _url() as url:
        migrate.upgrade(url)
    typer.echo("The database is up to date.")


@cli.command()
def check() -> None:
    """Say whether the schema is the one this version needs; exit code 2 when it is not."""
    from driftwatch.db import migrate

    with _url() as url:
        migrate.check(url)
    typer.echo("The database is up to date.")
