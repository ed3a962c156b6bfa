"""A real driftwatch process, real MCP servers that are redeployed, and the fake Slack that receives its messages."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import psycopg
import uvicorn
from psycopg.rows import dict_row

from driftwatch.testing.fake_slack import FakeSlack

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
NODE_MODULES = HERE / "node" / "node_modules"
#: servers on SDKs that cannot live beside ours have virtual environments of their own
OTHER_SDKS = REPOSITORY / ".venvs"
ADMIN_TOKEN = "dw_acceptance_admin_token"
PATIENCE = 150.0  # generous: a machine may be busy, and waiting costs nothing when all is well

T = TypeVar("T")

#: the demo's idea of time, so that a test sees within seconds what takes minutes in production
QUICK = {
    "DRIFTWATCH_ANNOUNCEMENT_LEAD_SECONDS": "1",
    "DRIFTWATCH_ANNOUNCEMENT_LAG_SECONDS": "1",
    "DRIFTWATCH_ANNOUNCEMENT_GRACE_SECONDS": "1",
    "DRIFTWATCH_COLLECT_SECONDS": "1",
    "DRIFTWATCH_CONFIRM_SECONDS": "0.3,0.6",
    "DRIFTWATCH_REMOVAL_SECONDS": "2",
    "DRIFTWATCH_MIN_INTERVAL_SECONDS": "1",
}


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def eventually(what: Callable[[], T | None], *, seconds: float = PATIENCE, because: str = "") -> T:
    """Ask again until the answer is truthy; fail with the last answer when it never is."""
    end = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {because or what}; last answer: {answer!r}")
        time.sleep(0.2)


def listening(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process group, gently first."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


class Deployment:
    """One MCP server at a fixed URL that is redeployed: another process, the same address."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._log = (folder / f"server-{self.port}.log").open("wb")
        self._process: subprocess.Popen[bytes] | None = None

    def deploy(self, command: list[str], *, env: dict[str, str] | None = None, cwd: Path | None = None) -> Deployment:
        """Replace what runs by ``command``, in which ``{port}`` stands for the port."""
        self.stop()
        words = [word.replace("{port}", str(self.port)) for word in command]
        variables = {key: value.replace("{port}", str(self.port)) for key, value in (env or {}).items()}
        self._process = subprocess.Popen(
            words,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
            cwd=cwd,
            start_new_session=True,
        )
        eventually(lambda: listening(self.port) or self._check(), because=f"{words} listens")
        return self

    def _check(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"server ended: {Path(self._log.name).read_text()[-2000:]}"
        return False

    def control(self, **query: str) -> None:
        """Ask a server of ours to change its tools in the running process."""
        answer = httpx2.get(f"http://127.0.0.1:{self.port}/ctl", params=query, timeout=10)
        answer.raise_for_status()

    def asked(self, path: str) -> Any:
        """What a server of ours says about itself."""
        return httpx2.get(f"http://127.0.0.1:{self.port}/{path}", timeout=10).raise_for_status().json()

    def terminate(self) -> subprocess.Popen[bytes]:
        """SIGTERM, and the process that now may or may not end."""
        assert self._process is not None
        self._process.terminate()
        return self._process

    def stop(self) -> None:
        """End the process; the address is free again."""
        if self._process is not None:
            stop(self._process)
            self._process = None

    def close(self) -> None:
        """Stop and forget."""
        self.stop()
        self._log.close()


def mcp2(*flags: str, listen: bool = False, stateless: bool = False, ping: float | None = None) -> list[str]:
    """The command of our mcp 2.x server, both eras; ``ping``: seconds between keep-alives of held streams."""
    return [
        sys.executable,
        str(HERE / "servers" / "mcp2_server.py"),
        "{port}",
        f"--flags={','.join(flags)}",
        *(["--listen"] if listen else []),
        *(["--stateless"] if stateless else []),
        *([f"--ping={ping}"] if ping else []),
    ]


def mcp1(*flags: str, stateless: bool = False, declare: bool = False) -> list[str]:
    """The command of our mcp 1.27 server in its own virtual environment."""
    return [
        *_other_sdk("mcp1"),
        f"--flags={','.join(flags)}",
        *(["--stateless"] if stateless else []),
        *(["--declare", "--ping=1"] if declare else []),
    ]


def fastmcp4(*flags: str) -> list[str]:
    """The command of our fastmcp 4 server, both eras, in its own virtual environment."""
    return [*_other_sdk("fastmcp4"), f"--flags={','.join(flags)}", "--ping=1"]


def other_python(name: str) -> str:
    """The interpreter of another SDK's virtual environment."""
    python = OTHER_SDKS / name / "bin" / "python"
    assert python.exists(), f"{python} is missing: run `make test`, it makes this environment"
    return str(python)


def _other_sdk(name: str) -> list[str]:
    return [other_python(name), "-W", "ignore", str(HERE / "servers" / f"{name}_server.py"), "{port}"]


def node(script: str, *arguments: str) -> list[str]:
    """The command of a Node server: one of ours, or one below node_modules."""
    assert NODE_MODULES.exists(), f"{NODE_MODULES} is missing: run `make test`, it installs the published servers"
    binary = os.environ.get("DRIFTWATCH_TEST_NODE") or shutil.which("node")
    assert binary, "no node found: install Debian's nodejs, or run `make test`, it brings one"
    return [binary, str(HERE / "node" / script), *arguments]


class Slack:
    """The fake Slack on a port of its own."""

    def __init__(self) -> None:
        self.fake = FakeSlack()
        self.port = free_port()
        self.webhook = f"http://127.0.0.1:{self.port}/services/T0/B0/acceptance"
        config = uvicorn.Config(self.fake.app, host="127.0.0.1", port=self.port, log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        eventually(lambda: self._server.started, because="the fake Slack listens")

    def messages(self) -> list[dict[str, Any]]:
        """Everything that arrived, oldest first."""
        inbox: list[dict[str, Any]] = httpx2.get(f"http://127.0.0.1:{self.port}/inbox.json").json()["messages"]
        return inbox

    def close(self) -> None:
        """Stop listening."""
        self._server.should_exit = True
        self._thread.join(10)


class Service:
    """``driftwatch serve`` in a home of its own, with embedded Postgres."""

    def __init__(self, folder: Path, slack: Slack | None, **settings: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = folder / "driftwatch.log"
        self._env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("DRIFTWATCH_")},
            **QUICK,
            "DRIFTWATCH_HOME": str(self.home),
            "DRIFTWATCH_ADMIN_TOKEN": ADMIN_TOKEN,
            "DRIFTWATCH_ALLOW_NETWORKS": "127.0.0.0/8",
            **(
                {"DRIFTWATCH_SLACK_WEBHOOK_URL": slack.webhook, "DRIFTWATCH_SLACK_ALLOW_HOSTS": "127.0.0.1"}
                if slack
                else {}
            ),
            **settings,
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx2.Client(
            base_url=f"{self.base}/api/v1", headers={"authorization": f"Bearer {ADMIN_TOKEN}"}, timeout=40
        )

    def start(self, *roles: str) -> Service:
        """Start (all roles, or these) and wait until it is ready."""
        self.process = self.spawn(*roles, port=self.port)
        eventually(self._ready, because="driftwatch is ready")
        return self

    def spawn(self, *roles: str, port: int = 0) -> subprocess.Popen[bytes]:
        """A process of this installation; the caller ends it."""
        chosen = [word for role in roles for word in ("--role", role)]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [str(Path(sys.executable).parent / "driftwatch"), "serve", "--port", str(port), *chosen],
                env=self._env,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def rows(self, statement: str, **parameters: object) -> list[dict[str, Any]]:
        """What the installation's own database answers, for what no API shows."""
        url = f"postgresql://driftwatch@/driftwatch?host={self.home / 'pg'}&port=5432"
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(statement.encode(), parameters).fetchall()

    def _ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"driftwatch ended: {self.log.read_text()[-4000:]}"
        with contextlib.suppress(httpx2.TransportError):
            return httpx2.get(f"{self.base}/readyz").status_code == 200
        return False

    def kill(self) -> None:
        """kill -9 of the service; what it started must notice by itself."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """SIGTERM and the exit code."""
        assert self.process is not None
        stop(self.process)
        return self.process.returncode

    def close(self) -> None:
        """Stop and remove the home."""
        if self.process is not None:
            self.stop()
        self.client.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def get(self, path: str, **params: Any) -> Any:
        """A GET that must succeed."""
        answer = self.client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None, *, status: int | None = None, **params: Any) -> Any:
        """A POST that must succeed, or answer with ``status``."""
        answer = self.client.post(path, json=body, params=params)
        assert answer.status_code == status if status else answer.is_success, answer.text
        return answer.json() if answer.content else None

    def register(self, url: str, **fields: Any) -> dict[str, Any]:
        """Register a server with a short interval; the answer of the API."""
        registered: dict[str, Any] = self.post("/servers", {"url": url, "interval_seconds": 1, **fields}, status=201)
        return registered

    def changes(self, server_id: int, **filters: Any) -> list[dict[str, Any]]:
        """The judged changes of a server, oldest first."""
        page = self.get("/changes", server=server_id, limit=200, **filters)
        return [change for change in reversed(page["items"]) if change["state"] == "judged"]

    def poll(self, server_id: int) -> None:
        """Check now."""
        self.post(f"/servers/{server_id}/poll")

    def polls_since(self, server_id: int) -> list[str | None]:
        """When each profile was polled last."""
        return [profile["last_poll_at"] for profile in self.get(f"/servers/{server_id}")["profiles"]]

    def poll_and_wait(self, server_id: int, *, times: int = 2) -> None:
        """Wait until every profile was polled ``times`` times more."""
        for _ in range(times):
            before = self.polls_since(server_id)
            self.poll(server_id)
            eventually(
                lambda before=before: all(a != b for a, b in zip(before, self.polls_since(server_id), strict=True)),
                because="every profile was polled again",
            )
