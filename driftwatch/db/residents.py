"""Who really runs in a data directory: a pid file alone proves nothing after a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from driftwatch.errors import DatabaseError

PROC = Path("/proc")


def read_pid(file: Path) -> int | None:
    """The process id in the first line of a Postgres lock file; None when there is no usable one."""
    try:
        first = file.read_text(encoding="ascii", errors="replace").partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    # A stand-alone backend writes its pid negated.
    return abs(int(first)) if first.lstrip("-").isdigit() else None


def is_resident(pid: int, data: Path) -> bool:
    """True when ``pid`` is a living postgres process of this data directory (zombies do not live)."""
    if not PROC.joinpath("self").exists():
        return _is_resident_by_ps(pid, data)
    folder = PROC / str(pid)
    try:
        state = folder.joinpath("stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        if state in ("Z", "X"):
            return False
        # Every postgres process works inside its data directory, so a recycled pid cannot be mistaken for one.
        return folder.joinpath("cwd").samefile(data) and b"postgres" in folder.joinpath("cmdline").read_bytes()
    except OSError:
        return False


def _is_resident_by_ps(pid: int, data: Path) -> bool:
    command = ["/bin/ps", "-p", str(pid), "-o", "command="]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return "postgres" in answer.stdout and str(data) in answer.stdout


def residents(data: Path) -> list[int]:
    """Every living postgres process of this data directory, backends of a killed postmaster included.

    Without /proc only the postmaster can be named.
    """
    if not PROC.joinpath("self").exists():
        pid = read_pid(data / "postmaster.pid")
        return [pid] if pid is not None and is_resident(pid, data) else []
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit() and is_resident(int(entry.name), data)]


def evict(data: Path, *, timeout: float = 60) -> None:
    """End what is left of an earlier owner's server. Only the holder of the home's lock may call this.

    Args:
        data: the data directory.
        timeout: seconds for a fast shutdown, and again for an immediate one.

    Raises:
        DatabaseError: processes are still there after both.
    """
    for kind in (signal.SIGINT, signal.SIGQUIT):
        postmaster = read_pid(data / "postmaster.pid")
        if postmaster is not None and is_resident(postmaster, data):
            os.kill(postmaster, kind)
        deadline = time.monotonic() + timeout
        while residents(data):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return
    raise DatabaseError(f"an earlier postgres still runs in {data}: processes {residents(data)}")


def remove_stale(data: Path, socket_folder: Path) -> None:
    """Remove lock files that name a process which is alive but is no postgres of ours.

    A file that names a dead process stays: postgres removes it itself, after its own check of shared memory.
    """
    for file in (data / "postmaster.pid", socket_folder / ".s.PGSQL.5432.lock"):
        pid = read_pid(file)
        if file.exists() and (pid is None or not is_resident(pid, data)) and (pid is None or _exists(pid)):
            file.unlink()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
