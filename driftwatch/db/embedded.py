"""The embedded Postgres: a real server as our child, on a private socket, gone when we are gone.

Layout of the home: ``postgres.lock`` (who owns the server), ``postgres.log``, ``pg/`` (private: the socket and
``data/``), ``pg-binaries/`` (only when the server's account cannot reach the installed ones).
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Self
from urllib.parse import quote

import psycopg

from driftwatch.db.binaries import Account, choose_account, find_binaries, prepare_binaries
from driftwatch.db.residents import evict, remove_stale
from driftwatch.errors import DatabaseError

USER = "driftwatch"
DATABASE = "driftwatch"
PORT = 5432
#: a socket's path may have 107 bytes on Linux and 103 elsewhere
SOCKET_PATH_BYTES = 103
LOG_BYTES = 8 * 1024 * 1024
PR_SET_PDEATHSIG = 1
#: libc is loaded here and not in the forked child, where loading could deadlock
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with(parent: int) -> None:
    """Runs in the child before exec: SIGINT (a fast shutdown) when the thread that started it ends."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(1)


def _child_arguments(account: Account) -> dict[str, Any]:
    return account.popen_arguments() | {
        "stdin": subprocess.DEVNULL,
        "start_new_session": True,  # the terminal's Ctrl-C is for us, not for the server
        "preexec_fn": functools.partial(_die_with, os.getpid()),
    }


def socket_folder(home: Path) -> Path:
    """``home/pg``, or a short folder named by the home's hash when libpq could not reach a socket there."""
    folder = home / "pg"
    # libpq takes a comma for the end of a host name.
    if "," not in str(folder) and len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES:
        return folder
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    # Not tempfile's folder: TMPDIR may be long, too, and may differ between the owner and those who attach.
    return Path(f"/tmp/driftwatch-{digest}")  # noqa: S108 - private_folder() refuses it unless it is ours alone


def private_folder(folder: Path, account: Account) -> None:
    """Make ``folder`` the account's own, mode 0700; its parents are never touched.

    Raises:
        DatabaseError: it is a link, or belongs to someone else.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid not in (account.uid, os.geteuid()):
        raise DatabaseError(f"{folder} is a link or belongs to user id {status.st_uid}", hint="Remove it.")
    if status.st_uid != account.uid:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    folder.chmod(0o700)


class EmbeddedPostgres:
    """Postgres in ``home``: started by the first process that wants it, attached to by the others.

    Use it as a context manager, or call :meth:`start` and :meth:`stop`. Start it from the main thread: Linux ends the
    server when the *thread* that started it ends.

    Attributes:
        owner: True when this object started the server; only then :meth:`stop` ends it.
    """

    def __init__(
        self, home: Path, pg_bin: Path | None = None, *, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.home = home.absolute()
        self.owner = False
        self._pg_bin = pg_bin
        self._settings = settings
        self._folder = self.home / "pg"
        self._data = self._folder / "data"
        self._socket = socket_folder(self.home)
        self._lock: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The postgresql:// URL of the database ``driftwatch``."""
        return self.database_url(DATABASE)

    def database_url(self, database: str) -> str:
        """The postgresql:// URL of another database of this server."""
        # The port is spelled out because PGPORT would change libpq's default.
        return f"postgresql://{USER}@/{quote(database, safe='')}?host={quote(str(self._socket), safe='')}&port={PORT}"

    @property
    def running(self) -> bool:
        """False when the server we own has ended, or the one we are attached to answers no more."""
        if not self.owner:
            return self._accepts_connections()
        return self._process is not None and self._process.poll() is None

    def start(self, *, timeout: float = 300) -> None:
        """Start the server, or attach to the one another process owns. Returns when it accepts connections.

        Calling it again starts a server that ended, or takes over one whose owner ended.

        Args:
            timeout: seconds to wait; recovery after a crash can take long.

        Raises:
            DatabaseError: no binaries, a broken data directory, or the server did not come up.
        """
        self._make_home()
        deadline = time.monotonic() + timeout
        while not (self.owner or self._take_lock()):
            if self._accepts_connections():
                return
            if time.monotonic() > deadline:
                raise DatabaseError(f"{self.home} is in use, but its Postgres does not answer", hint=self._log_hint())
            time.sleep(0.05)
        try:
            self._launch()
            self._wait(deadline)
            self._create_database()
        except BaseException:
            self.stop()
            raise

    def stop(self, *, timeout: float = 30) -> None:
        """Fast shutdown when we own the server (after ``timeout`` seconds an immediate one); else nothing."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait()
            self._process = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        self.owner = False

    def __enter__(self) -> Self:
        """See :meth:`start`."""
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """See :meth:`stop`."""
        self.stop()

    async def __aenter__(self) -> Self:
        """See :meth:`start`; blocks the loop, because a thread's end would end the server."""
        self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """See :meth:`stop`."""
        await asyncio.to_thread(self.stop)

    def _make_home(self) -> None:
        # Not "if it does not exist": two processes that start together would both see nothing there.
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            # The server's account must be able to pass through, not to look around.
            self.home.chmod(self.home.stat().st_mode | 0o011)

    def _take_lock(self) -> bool:
        lock = (self.home / "postgres.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock, self.owner = lock, True
        return True

    def _launch(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("start the embedded Postgres from the main thread: it ends with the thread")
        account = choose_account(self._folder)
        for folder in {self._folder, self._socket}:
            private_folder(folder, account)
        found = find_binaries(self._pg_bin)
        binaries, major = prepare_binaries(found, account, self.home / "pg-binaries")
        self._make_cluster(binaries, major, account)
        evict(self._data)
        remove_stale(self._data, self._socket)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": '"{}"'.format(str(self._socket).replace('"', '""')),
            "unix_socket_permissions": "0700",
            "fsync": "on",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",
            **self._settings,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with self._open_log() as log:
            self._process = subprocess.Popen(
                [str(binaries / "postgres"), "-D", str(self._data), "-p", str(PORT), *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                **_child_arguments(account),
            )

    def _make_cluster(self, binaries: Path, major: int, account: Account) -> None:
        version_file = self._data / "PG_VERSION"
        if version_file.exists():
            made_by = int(version_file.read_text().strip())
            if made_by != major:
                raise DatabaseError(
                    f"{self._data} was made by PostgreSQL {made_by}, but the binaries are {major}",
                    hint=f"Set DRIFTWATCH_PG_BIN to the binaries of PostgreSQL {made_by}.",
                )
            return
        # Made aside and renamed: a kill in the middle never leaves half a cluster that looks whole.
        partial = self._folder / "data.partial"
        shutil.rmtree(partial, ignore_errors=True)
        locale = (
            ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if major >= 17 else ["--locale=C"]
        )
        command = [str(binaries / "initdb"), "-D", str(partial), "-U", USER, "--auth=trust", "--encoding=UTF8", *locale]
        command.append("--no-instructions")
        made = subprocess.run(command, capture_output=True, text=True, check=False, **_child_arguments(account))
        if made.returncode != 0:
            raise DatabaseError(f"initdb failed: {made.stderr.strip()[-1000:]}", hint=f"Look at {self.home}.")
        partial.rename(self._data)

    def _open_log(self) -> IO[bytes]:
        file = self.home / "postgres.log"
        if file.exists() and file.stat().st_size > LOG_BYTES:
            file.replace(file.with_suffix(".log.1"))
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        return os.fdopen(descriptor, "ab")

    def _log_hint(self) -> str:
        return f"The server's log is {self.home / 'postgres.log'}."

    def _accepts_connections(self) -> bool:
        try:
            psycopg.connect(self.database_url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _wait(self, deadline: float) -> None:
        while not self._accepts_connections():
            if not self.running:
                tail = (self.home / "postgres.log").read_text(errors="replace")[-800:]
                raise DatabaseError(f"postgres ended while starting: {tail}", hint=self._log_hint())
            if time.monotonic() > deadline:
                raise DatabaseError("postgres did not come up in time", hint=self._log_hint())
            time.sleep(0.02)

    def _create_database(self) -> None:
        with psycopg.connect(self.database_url("postgres"), autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
