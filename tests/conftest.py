"""A real Postgres for every test that asks for one: a fresh, migrated database each time."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from builders.authority import PLAIN, AuthorityProcess, running

from driftwatch.db.embedded import EmbeddedPostgres
from driftwatch.db.engine import Database
from driftwatch.db.migrate import upgrade

#: a server to test against instead of the embedded one, for example a PostgreSQL 15
SERVER_VARIABLE = "DRIFTWATCH_TEST_DATABASE_URL"
#: safe here and nowhere else: these databases are thrown away
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "200"}


@dataclass(frozen=True)
class TestServer:
    """A Postgres server with a migrated template database."""

    __test__ = False

    admin: psycopg.Connection[object]
    base_url: str
    template: str

    def url(self, database: str) -> str:
        return urlunsplit(urlsplit(self.base_url)._replace(path=f"/{database}"))

    def create(self, *, template: str | None = None) -> str:
        """Create a database and return its name."""
        name = f"t_{uuid.uuid4().hex[:12]}"
        # file_copy beats the WAL for a small template on a server that never syncs
        source = f" TEMPLATE {template} STRATEGY file_copy" if template else ""
        self.admin.execute(f"CREATE DATABASE {name}{source}")
        return name

    def drop(self, name: str) -> None:
        self.admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("DRIFTWATCH_") and name != SERVER_VARIABLE:
            monkeypatch.delenv(name)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path short enough for a socket, which other accounts may pass through (pytest's may not be)."""
    folder = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_base_url() -> Iterator[str]:
    """The URL of the ``postgres`` database of a server that the whole session shares."""
    if url := os.environ.get(SERVER_VARIABLE):
        yield url
        return
    home = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))
    with EmbeddedPostgres(home, settings=FAST) as server:
        yield server.database_url("postgres")
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(postgres_base_url: str) -> Iterator[TestServer]:
    """The session's server, with a template database migrated by the migrations."""
    with psycopg.connect(postgres_base_url, autocommit=True) as admin:
        server = TestServer(admin, postgres_base_url, template="")
        template = server.create()
        upgrade(server.url(template))
        yield TestServer(admin, postgres_base_url, template)
        server.drop(template)


@pytest.fixture
def empty_database_url(postgres_server: TestServer) -> Iterator[str]:
    """A fresh database without any schema."""
    name = postgres_server.create()
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture
def database_url(postgres_server: TestServer) -> Iterator[str]:
    """A fresh database, migrated."""
    name = postgres_server.create(template=postgres_server.template)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """The fresh database behind the product's own pool."""
    database = Database(database_url)
    yield database
    await database.dispose()


@pytest.fixture(scope="session")
def authority_process() -> Iterator[AuthorityProcess]:
    """One authorization server with a guarded MCP server for the whole session."""
    with running() as process:
        yield process


@pytest.fixture
def authority(authority_process: AuthorityProcess) -> AuthorityProcess:
    """It, behaving well."""
    authority_process.behave(**PLAIN)
    authority_process.revoke()
    return authority_process
