"""Worker processes that deliver until they are killed: python outbox_worker.py DATABASE_URL LEASE_SECONDS KEY.

Every line on standard input starts one and is answered with its process id. They are forked, so that one that was
killed is replaced in no time; all of them end with standard input.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from types import SimpleNamespace

from driftwatch.alerts.outbox import run_outbox
from driftwatch.db.engine import Database
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings


async def deliver(url: str, lease_seconds: float, key: str) -> None:
    services = SimpleNamespace(db=Database(url), settings=Settings(), secrets=SecretBox([key.encode()]))
    await run_outbox(services, lease_seconds=lease_seconds)


def start(url: str, lease_seconds: float, key: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the parent answers there, we only log
    asyncio.run(deliver(url, lease_seconds, key))
    os._exit(0)


def main(url: str, lease_seconds: float, key: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who was killed needs nobody to bury it
    os.setpgid(0, 0)
    for _ in sys.stdin:
        print(start(url, lease_seconds, key), flush=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
