"""A real Postgres for every test that asks for one: a fresh, migrated database each time."""

from __future__ import annotations

import io
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import structlog
from builders.authority import PLAIN, AuthorityProcess, running

from driftwatch.db.embedded import EmbeddedPostgres
from driftwatch.db.engine import Database
from driftwatch.db.migrate import upgrade
from driftwatch.telemetry import configure_logging

#: a server to test against instead of the embedded one, for example a PostgreSQL 15
SERVER_VARIABLE = "DRIFTWATCH_TEST_DATABASE_URL"
#: where the programs of the oldest supported Postgres are, when not where Debian puts them
OLDEST_VARIABLE = "DRIFTWATCH_TEST_POSTGRES_15"
OLDEST_FOLDER = Path("/usr/lib/postgresql/15/bin")
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
        if name.startswith("DRIFTWATCH_") and name not in (SERVER_VARIABLE, OLDEST_VARIABLE):
            monkeypatch.delenv(name)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Log lines as JSON; the process's logging is put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    configure_logging("json", stream)
    yield stream
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


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


@contextmanager
def migrated(base_url: str) -> Iterator[TestServer]:
    """The server behind ``base_url``, with a template database migrated by the migrations."""
    with psycopg.connect(base_url, autocommit=True) as admin:
        server = TestServer(admin, base_url, template="")
        template = server.create()
        upgrade(server.url(template))
        yield TestServer(admin, base_url, template)
        server.drop(template)


@pytest.fixture(scope="session")
def postgres_server(postgres_base_url: str) -> Iterator[TestServer]:
    """The session's server."""
    with migrated(postgres_base_url) as server:
        yield server


@pytest.fixture(scope="session")
def oldest_postgres_server() -> Iterator[TestServer]:
    """The oldest Postgres we promise to work with, by our own launcher."""
    folder = Path(os.environ.get(OLDEST_VARIABLE) or OLDEST_FOLDER)
    assert (folder / "postgres").exists(), f"no PostgreSQL 15 in {folder}: run `make test`, or set {OLDEST_VARIABLE}"
    home = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))
    with EmbeddedPostgres(home, folder, settings=FAST) as server, migrated(server.database_url("postgres")) as oldest:
        yield oldest
    shutil.rmtree(home, ignore_errors=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of modules marked ``oldest_postgres`` run on both ends of what is supported."""
    if "postgres" in metafunc.fixturenames and metafunc.definition.get_closest_marker("oldest_postgres"):
        metafunc.parametrize("postgres", ["newest", "oldest"], indirect=True)


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> TestServer:
    """The server this test's databases are on."""
    oldest = getattr(request, "param", "newest") == "oldest"
    server: TestServer = request.getfixturevalue("oldest_postgres_server" if oldest else "postgres_server")
    return server


@pytest.fixture
def empty_database_url(postgres: TestServer) -> Iterator[str]:
    """A fresh database without any schema."""
    name = postgres.create()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def database_url(postgres: TestServer) -> Iterator[str]:
    """A fresh database, migrated."""
    name = postgres.create(template=postgres.template)
    yield postgres.url(name)
    postgres.drop(name)


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
