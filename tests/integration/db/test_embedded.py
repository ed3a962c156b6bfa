"""Our own launcher of Postgres: crashes, stale files, odd paths, several users."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from driftwatch.db import binaries
from driftwatch.db.embedded import EmbeddedPostgres, socket_folder
from driftwatch.db.residents import is_resident, read_pid, residents
from driftwatch.errors import DatabaseError

SCRIPT = """
    import sys
    from pathlib import Path
    from driftwatch.db.embedded import EmbeddedPostgres
    server = EmbeddedPostgres(Path(sys.argv[1]))
    server.start()
    print(server.owner, flush=True)
    sys.stdin.read()
    server.stop()
"""
is_root = os.geteuid() == 0


class Starter:
    """Another process that starts the embedded Postgres and stops it when its standard input ends."""

    def __init__(self, home: Path, **arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **arguments,  # type: ignore[call-overload]  # user= and the like, as given
        )

    @property
    def owner(self) -> bool:
        assert self.process.stdout is not None
        return self.process.stdout.readline() == "True\n"

    def stop(self) -> int:
        self.process.communicate(timeout=30)
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=30)


def eventually(condition: Callable[[], bool], *, seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def query(server: EmbeddedPostgres, statement: str) -> object:
    with psycopg.connect(server.url) as connection:
        row = connection.execute(statement).fetchone()
        return row[0] if row else None


@pytest.fixture
def home(short_folder: Path) -> Iterator[Path]:
    yield short_folder / "home"
    data = short_folder / "home" / "pg" / "data"
    for pid in residents(data) if data.exists() else ():
        os.kill(pid, signal.SIGKILL)


def test_it_starts_stores_and_starts_again(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        assert server.owner
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept (what text)")
            connection.execute("INSERT INTO kept VALUES ('täglich ✓')")
    assert residents(home / "pg" / "data") == []
    with EmbeddedPostgres(home) as server:
        assert query(server, "SELECT what FROM kept") == "täglich ✓"
        assert query(server, "SHOW fsync") == "on"
        assert query(server, "SHOW listen_addresses") == ""
        assert query(server, "SELECT lower('ÄÖ')") == "äö"


def test_only_the_server_and_we_can_enter(home: Path) -> None:
    with EmbeddedPostgres(home):
        assert (home / "pg").stat().st_mode & 0o777 == 0o700
        assert (home / "pg" / "data").stat().st_mode & 0o777 == 0o700
        assert (home / "postgres.log").stat().st_mode & 0o777 == 0o600
        assert home.stat().st_mode & 0o777 == (0o711 if is_root else 0o700)


def test_parents_are_left_as_they_are(short_folder: Path) -> None:
    before = short_folder.stat().st_mode
    with EmbeddedPostgres(short_folder / "home"):
        pass
    assert short_folder.stat().st_mode == before
    assert short_folder.stat().st_uid == os.geteuid()


@pytest.mark.parametrize("name", ["a home with spaces", "quo\"te's, comma", "p%rcent & ünïcode"])
def test_odd_paths(short_folder: Path, name: str) -> None:
    with EmbeddedPostgres(short_folder / name) as server:
        assert query(server, "SELECT 1") == 1


def test_a_long_path_gets_a_short_private_socket_folder(short_folder: Path) -> None:
    home = short_folder / ("long" * 30)
    folder = socket_folder(home)
    with EmbeddedPostgres(home) as server:
        assert query(server, "SELECT 1") == 1
        assert folder.parent == Path("/tmp")
        assert folder.stat().st_mode & 0o777 == 0o700
        with EmbeddedPostgres(home) as second:
            assert not second.owner
    shutil.rmtree(folder)


def test_a_socket_folder_that_belongs_to_someone_else_is_refused(short_folder: Path) -> None:
    home = short_folder / ("long" * 30)
    folder = socket_folder(home)
    folder.symlink_to(short_folder)
    try:
        with pytest.raises(DatabaseError, match="is a link"):
            EmbeddedPostgres(home).start()
    finally:
        folder.unlink()


def test_environment_variables_of_libpq_do_not_mislead(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PGPORT", "1"), ("PGHOST", "db.example"), ("PGDATA", "/nowhere"), ("PGDATABASE", "x")):
        monkeypatch.setenv(name, value)
    with EmbeddedPostgres(home) as server:
        assert query(server, "SELECT current_database()") == "driftwatch"


def test_a_second_starter_attaches_and_leaves_the_server_alone(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        second = Starter(home)
        assert not second.owner
        assert second.stop() == 0
        assert query(server, "SELECT 1") == 1


def test_a_home_that_another_process_makes_meanwhile_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setattr(Path, "exists", lambda self: False if self == home else os.path.lexists(self))
    with EmbeddedPostgres(home) as server:
        assert server.owner


def test_two_starters_at_once_make_one_owner(home: Path) -> None:
    starters = [Starter(home), Starter(home)]
    assert sorted(starter.owner for starter in starters) == [False, True]
    assert [starter.stop() for starter in starters] == [0, 0]


def test_one_that_was_attached_takes_over_when_the_owner_ends(home: Path) -> None:
    owner = Starter(home)
    assert owner.owner
    server = EmbeddedPostgres(home)
    server.start()
    assert not server.owner
    assert owner.stop() == 0
    assert not server.running
    server.start()
    assert server.owner
    assert query(server, "SELECT 1") == 1
    server.stop()


def test_a_killed_starter_takes_its_server_with_it(home: Path) -> None:
    starter = Starter(home)
    assert starter.owner
    data = home / "pg" / "data"
    assert residents(data)
    starter.kill()
    eventually(lambda: not residents(data))
    with EmbeddedPostgres(home) as server:
        assert server.owner


def test_killing_both_loses_nothing_that_was_committed(home: Path) -> None:
    starter = Starter(home)
    assert starter.owner
    server = EmbeddedPostgres(home)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    postmaster = read_pid(home / "pg" / "data" / "postmaster.pid")
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    starter.kill()
    with server:
        assert server.owner
        assert query(server, "SELECT answer FROM kept") == 42


def test_a_server_that_died_is_noticed_and_started_again(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        postmaster = read_pid(home / "pg" / "data" / "postmaster.pid")
        assert postmaster is not None
        os.kill(postmaster, signal.SIGKILL)
        eventually(lambda: not server.running)
        server.start()
        assert query(server, "SELECT 1") == 1


def test_a_pid_file_that_names_a_stranger_is_stale(home: Path) -> None:
    with EmbeddedPostgres(home):
        pass
    data = home / "pg" / "data"
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        # What a crash leaves, with the pid given to another program since then.
        (data / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n1\n5432\n{home / 'pg'}\n")
        (home / "pg" / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n{data}\n1\n5432\n")
        assert not is_resident(stranger.pid, data)
        with EmbeddedPostgres(home) as server:
            assert query(server, "SELECT 1") == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_orphan_of_an_earlier_owner_is_ended_first(home: Path) -> None:
    """Where the system has no parent-death signal, a killed owner leaves its server running."""
    with EmbeddedPostgres(home):
        pass
    data = home / "pg" / "data"
    account = binaries.choose_account(home / "pg")
    folder, _ = binaries.prepare_binaries(binaries.find_binaries(), account, home / "pg-binaries")
    orphan = subprocess.Popen(
        [folder / "postgres", "-D", data, "-c", "listen_addresses=", "-c", f"unix_socket_directories={home / 'pg'}"],
        stderr=subprocess.DEVNULL,
        **account.popen_arguments(),
    )
    eventually(lambda: (data / "postmaster.pid").exists())
    with EmbeddedPostgres(home) as server:
        assert server.owner
        assert query(server, "SELECT 1") == 1
        assert orphan.wait(10) == 0
        assert read_pid(data / "postmaster.pid") != orphan.pid


def test_half_a_cluster_is_made_anew(home: Path) -> None:
    partial = home / "pg" / "data.partial"
    partial.mkdir(parents=True)
    (partial / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(home) as server:
        assert query(server, "SELECT 1") == 1
    assert not partial.exists()


def test_data_of_another_major_version_is_refused(home: Path) -> None:
    with EmbeddedPostgres(home):
        pass
    (home / "pg" / "data" / "PG_VERSION").write_text("12\n")
    with pytest.raises(DatabaseError, match="PostgreSQL 12") as caught:
        EmbeddedPostgres(home).start()
    assert "DRIFTWATCH_PG_BIN" in (caught.value.hint or "")


def test_a_server_that_cannot_start_says_why(home: Path) -> None:
    with pytest.raises(DatabaseError, match="no_such_setting"):
        EmbeddedPostgres(home, settings={"no_such_setting": "1"}).start()
    with EmbeddedPostgres(home) as server:  # and the home is free again
        assert server.owner


def test_binaries_are_taken_from_the_named_folder_or_it_is_an_error(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no postgres and initdb"):
        EmbeddedPostgres(home, tmp_path).start()
    assert binaries.find_binaries(binaries.find_binaries()) == binaries.find_binaries()


def test_without_any_binaries_the_hint_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_wheel_folders", lambda: iter(()))
    monkeypatch.setattr(binaries, "_system_folders", lambda: iter(()))
    with pytest.raises(DatabaseError) as caught:
        binaries.find_binaries()
    assert "driftwatch-mcp[embedded]" in (caught.value.hint or "")


def test_another_thread_may_not_start_it(home: Path) -> None:
    failed: list[BaseException] = []

    def start() -> None:
        try:
            EmbeddedPostgres(home).start()
        except RuntimeError as error:
            failed.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert "main thread" in str(failed[0])


async def test_as_an_async_context_manager(home: Path) -> None:
    async with EmbeddedPostgres(home) as server:
        assert query(server, "SELECT 1") == 1
    assert residents(home / "pg" / "data") == []


def test_binaries_below_a_closed_folder_are_copied_for_the_servers_account(home: Path, short_folder: Path) -> None:
    closed = short_folder / "closed"
    closed.mkdir(mode=0o700)
    package = binaries.find_binaries().parent.parent
    for folder in (package, package.with_name(f"{package.name}.libs")):
        (closed / folder.name).symlink_to(folder)
    pg_bin = closed / binaries.find_binaries().relative_to(package.parent)
    for _ in range(2):  # the second time the copy is there already
        with EmbeddedPostgres(home, pg_bin) as server:
            assert query(server, "SELECT 1") == 1
    # An ordinary user runs the server itself and reaches whatever it reaches.
    assert (home / "pg-binaries").exists() == is_root
    assert closed.stat().st_mode & 0o777 == 0o700


def test_the_server_runs_as_an_ordinary_account_even_for_root(home: Path) -> None:
    with EmbeddedPostgres(home):
        postmaster = read_pid(home / "pg" / "data" / "postmaster.pid")
        uid = Path(f"/proc/{postmaster}").stat().st_uid
    assert uid == binaries.choose_account(home / "absent").uid
    assert uid != 0
