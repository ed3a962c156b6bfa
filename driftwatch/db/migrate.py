"""Bring a database to the schema this version of driftwatch needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from alembic import command
from driftwatch.db.engine import SEARCH_PATH, driver_url
from driftwatch.errors import DatabaseError

OLDEST_POSTGRES = 15
#: pg_advisory_xact_lock key: "driftwat" as a number, so that it is ours alone
LOCK_KEY = int.from_bytes(b"driftwat", "big") >> 1
#: alembic keeps its context in module globals; the advisory lock cannot help inside one process
_ALEMBIC = threading.Lock()


def migrations_folder() -> Path:
    """The migrations: beside this module in an installed wheel, at the top level in the source tree."""
    installed = Path(__file__).with_name("migrations")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "alembic"


def upgrade(url: str) -> None:
    """Migrate to the newest revision. Safe to call from many processes at once: one migrates, the others wait.

    All of it is one transaction: a failure leaves the database as it was.

    Args:
        url: a postgresql:// URL.

    Raises:
        DatabaseError: the database is unreachable, older than PostgreSQL 15, not UTF-8, or newer than this code.
    """
    with _ALEMBIC, connect(url) as connection, connection.begin():
        _require_usable(connection)
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
        current, newest = _revisions(connection)
        if current == newest:
            return
        _require_known(current)
        command.upgrade(_config(connection), "head")


def check(url: str) -> None:
    """Find out whether a database has exactly the schema this code needs.

    Raises:
        DatabaseError: it has not, or cannot be asked; the hint says what to do.
    """
    with connect(url) as connection:
        _require_usable(connection)
        current, newest = _revisions(connection)
        _require_known(current)
        if current != newest:
            raise DatabaseError(
                f"the database is at revision {current or 'none'}, this version needs {newest}",
                hint="Run: driftwatch db upgrade",
            )


@contextmanager
def connect(url: str) -> Iterator[Connection]:
    """One connection outside any pool, with our search path.

    Raises:
        DatabaseError: no connection could be made.
    """
    engine = create_engine(
        driver_url(url),
        poolclass=NullPool,
        connect_args={"options": f"-csearch_path={SEARCH_PATH}", "application_name": "driftwatch-migrate"},
    )
    try:
        connection = engine.connect()
    except OperationalError as error:
        raise DatabaseError(
            f"cannot connect to the database: {str(error.orig).strip()}", hint="Check DRIFTWATCH_DATABASE_URL."
        ) from error
    with connection:
        yield connection


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    # Alembic reads % in option values as interpolation; a path may contain one.
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _revisions(connection: Connection) -> tuple[str | None, str | None]:
    current = MigrationContext.configure(connection).get_current_revision()
    return current, ScriptDirectory.from_config(_config()).get_current_head()


def _require_known(revision: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseError(
            f"the database is at revision {revision}, which this version of driftwatch does not know",
            hint="It was migrated by a newer driftwatch: install that version.",
        )


def _require_usable(connection: Connection) -> None:
    version = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
    if version < OLDEST_POSTGRES:
        raise DatabaseError(f"PostgreSQL {version} is too old", hint=f"driftwatch needs {OLDEST_POSTGRES} or newer.")
    if encoding != "UTF8":
        raise DatabaseError(f"the database is encoded in {encoding}", hint="Create it with ENCODING 'UTF8'.")
