"""``driftwatch agent`` beside real servers: over stdio in both eras, and at a URL. What it heard decides."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.harness import (
    ADMIN_TOKEN,
    HERE,
    PATIENCE,
    Deployment,
    Service,
    eventually,
    mcp2,
    node,
    other_python,
    stop,
)

#: every time in the rules is short; what is judged too early is judged again as long as this
PATIENT = {"DRIFTWATCH_ANNOUNCEMENT_ROLL_SECONDS": "600"}
STDIO = str(HERE / "servers" / "stdio_server.py")


class Agent:
    """One agent process and the file that its server obeys."""

    def __init__(self, folder: Path, service: Service, name: str) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self.name = name
        self.service = service
        self.control = self.folder / "control"
        self.control.write_text("")
        self.log = self.folder / "agent.log"
        self.log.touch()
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, target: str, *options: str) -> list[str]:
        agent = str(Path(sys.executable).parent / "driftwatch")
        target = target.replace("{control}", str(self.control))
        return [agent, "agent", target, "--to", self.service.base, "--name", self.name, "--interval", "1", *options]

    @property
    def env(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DRIFTWATCH_")}
        return {**kept, "DRIFTWATCH_TOKEN": ADMIN_TOKEN}

    def start(self, target: str, *options: str) -> Agent:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command(target, *options), env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        return self

    @property
    def server(self) -> int:
        """The server's id, once the agent registered it."""

        def registered() -> list[dict[str, Any]]:
            assert self.process is None or self.process.poll() is None, self.log.read_text()[-3000:]
            return [s for s in self.service.get("/servers", limit=500)["items"] if s["name"] == self.name]

        return int(eventually(registered, because=f"{self.name} is registered")[0]["id"])

    def heard(self, *eras: str) -> None:
        """Wait until these eras were listened to for longer than the rules' lead."""
        statement = (
            "SELECT p.era FROM stream_interval i JOIN profile p ON p.id = i.profile_id WHERE p.server_id = %(server)s"
            " AND i.ended_by = 'open' AND i.verified_until > i.acked + interval '2 seconds'"
        )
        server = self.server

        def covered() -> bool:
            return {row["era"] for row in self.service.rows(statement, server=server)} >= set(eras)

        eventually(covered, because=f"{self.name} is listened to")

    def answers(self, expected: dict[str, tuple[str, str | None]], *, number: int = 1) -> list[dict[str, Any]]:
        """Wait until change ``number`` of every era is judged like this."""
        server = self.server
        found: list[dict[str, Any]] = []

        def judged() -> bool:
            by_era: dict[str, list[dict[str, Any]]] = {}
            for change in self.service.changes(server):
                by_era.setdefault(change["era"], []).append(change)
            found[:] = [changes[number - 1] for changes in by_era.values() if len(changes) >= number]
            return {c["era"]: (c["announcement"], c["announcement_reason"]) for c in found} == expected

        eventually(judged, because=f"{self.name} is judged {expected}; it was {found}; {self.log.read_text()[-2000:]}")
        return found

    def end(self) -> int:
        """SIGTERM; nothing that the agent started may survive it."""
        assert self.process is not None
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        marks = str(self.control).encode()
        assert not any(marks in command for command in running_commands())
        return code


def running_commands() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended while we looked
            yield path.read_bytes()


def python(*options: str) -> str:
    return f"{sys.executable} {STDIO} {{control}} {' '.join(options)}"


def python1(*options: str) -> str:
    return f"{other_python('mcp1')} -W ignore {STDIO} {{control}} {' '.join(options)}"


def script(name: str) -> str:
    return " ".join(node(name, "{control}"))


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("pushed"), None, **PATIENT).start()
    yield running
    running.close()


@pytest.fixture
def agents(tmp_path: Path, patient: Service) -> Iterator[Callable[[str], Agent]]:
    made: list[Agent] = []

    def make(name: str) -> Agent:
        made.append(Agent(tmp_path, patient, name))
        return made[-1]

    yield make
    for agent in made:
        if agent.process is not None:
            stop(agent.process)


def test_a_silent_change_over_stdio_and_an_announced_one(agents: Callable[[str], Agent]) -> None:
    two = agents("python-2").start(python("--listen"))
    one = agents("python-1").start(python1("--listen"))
    two.heard("modern")
    one.heard("legacy")
    two.control.write_text("null")
    one.control.write_text("null")
    found = two.answers({"modern": ("silent", "not-delivered"), "legacy": ("silent", "not-declared")})
    assert [change["verdict"] for change in found] == ["breaking", "breaking"]
    one.answers({"legacy": ("silent", "not-delivered")})
    two.heard("modern")
    two.control.write_text("enum,notify")
    one.control.write_text("enum,notify")
    two.answers({"modern": ("announced", None), "legacy": ("silent", "not-declared")}, number=2)
    one.answers({"legacy": ("announced", None)}, number=2)
    alerts = [alert for alert in two.service.get("/alerts")["items"] if alert["server_id"] == two.server]
    assert {alert["kind"] for alert in alerts} == {"drift"}
    assert "secret words" not in two.log.read_text() + one.log.read_text()
    assert two.end() == 0
    assert one.end() == 0


def test_typescript_announces_by_itself(agents: Callable[[str], Agent]) -> None:
    one, two = agents("ts-1").start(script("stdio1.mjs")), agents("ts-2").start(script("stdio2.mjs"))
    one.heard("legacy")
    two.heard("legacy", "modern")
    one.control.write_text("null")
    two.control.write_text("null")
    one.answers({"legacy": ("announced", None)})
    two.answers({"legacy": ("announced", None), "modern": ("announced", None)})
    assert one.end() == 0
    assert two.end() == 0


def test_a_command_that_ends_is_started_again_and_that_is_a_restart(agents: Callable[[str], Agent]) -> None:
    agent = agents("crashing").start(python(), "--era", "modern")
    state = "SELECT s.fingerprint FROM profile_state s JOIN profile p ON p.id = s.profile_id WHERE p.server_id = %(s)s"
    server = agent.server
    eventually(lambda: agent.service.rows(state, s=server), because="the first list is there")
    agent.control.write_text("exit,null")
    agent.answers({"modern": ("silent", "restart")})
    kinds = "SELECT r.kind FROM restart_evidence r JOIN profile p ON p.id = r.profile_id WHERE p.server_id = %(s)s"
    seen = [row["kind"] for row in agent.service.rows(kinds, s=server)]
    assert seen.count("process-exited") == 1
    assert seen.count("process-started") == 2
    assert agent.end() == 0


def test_looking_once_confirms_what_differs(agents: Callable[[str], Agent]) -> None:
    agent = agents("once")
    token = agent.folder / "token"
    token.write_text(f"{ADMIN_TOKEN}\n")
    command = agent.command(python(), "--once", "--token-file", str(token), "--era", "legacy")
    env = {key: value for key, value in agent.env.items() if key != "DRIFTWATCH_TOKEN"}
    for flags in ("", "null"):
        agent.control.write_text(flags)
        subprocess.run(command, env=env, check=True, timeout=150, capture_output=True)
    agent.answers({"legacy": ("silent", "restart")})
    failed = subprocess.run(agent.command("false", "--once"), env=agent.env, timeout=150, capture_output=True)
    assert failed.returncode == 1
    assert b"Traceback" not in failed.stderr


def test_a_private_url_is_heard_through_the_wire_room(agents: Callable[[str], Agent], deployment: Deployment) -> None:
    deployment.deploy(mcp2(listen=True, ping=0.3))
    agent = agents("private").start(deployment.url)
    agent.heard("modern")
    deployment.control(flags="null")
    agent.answers({"modern": ("silent", "not-delivered"), "legacy": ("silent", "not-declared")})
    agent.heard("modern")
    deployment.control(flags="enum", notify="1")
    agent.answers({"modern": ("announced", None), "legacy": ("silent", "not-declared")}, number=2)
    assert agent.process is not None
    agent.process.send_signal(signal.SIGINT)
    assert agent.process.wait(PATIENCE) == 0
