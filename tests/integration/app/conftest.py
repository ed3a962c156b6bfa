"""``driftwatch serve`` as a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

COMMAND = Path(sys.executable).with_name("driftwatch")
PATIENCE = 150.0  # generous: a machine may be busy, and waiting costs nothing when all is well


def environment(**variables: str) -> dict[str, str]:
    """Ours, without any driftwatch setting but the given ones."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("DRIFTWATCH_")}
    return outside | {f"DRIFTWATCH_{name}": value for name, value in variables.items()}


def eventually(condition: Callable[[], bool], *, because: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"not in time: {because}"
        time.sleep(0.05)


def _heed_signals() -> None:
    # Tests that run under nohup, or behind an ampersand, would pass on that these are to be ignored.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


class Process:
    """A running ``driftwatch serve`` on a port of its own."""

    def __init__(self, folder: Path, *options: str, **variables: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.output = folder / f"output-{self.port}.txt"
        self.url = f"http://127.0.0.1:{self.port}"
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(
                [COMMAND, "serve", "--port", str(self.port), *options],
                env=environment(**variables),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_heed_signals,
            )

    def said(self) -> str:
        return self.output.read_text()

    def checks(self) -> dict[str, str]:
        """What /readyz says about each role; empty while nobody answers."""
        with contextlib.suppress(httpx2.TransportError):
            answer = httpx2.get(f"{self.url}/readyz", timeout=10)
            assert answer.status_code in {200, 503}, answer.text + self.said()
            checks: dict[str, str] = answer.json()["checks"]
            assert (answer.status_code == 200) == (set(checks.values()) == {"ok"})
            return checks
        return {}

    def ready(self) -> Process:
        def is_ready() -> bool:
            assert self._process.poll() is None, self.said()
            return set(self.checks().values()) == {"ok"}

        eventually(is_ready, because="driftwatch is ready")
        return self

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        self._process.send_signal(by)
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)

    def ended(self) -> int:
        """The exit code of a process that is expected to give up."""
        return self._process.wait(PATIENCE)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start services; whatever still runs at the end is killed."""
    started: list[Process] = []

    def start(*options: str, **variables: str) -> Process:
        started.append(Process(tmp_path, *options, **variables))
        return started[-1]

    yield start
    for process in started:
        process.kill()
