"""kill -9 and restarts: nothing is lost, nothing is invented, nobody is told twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.harness import Deployment, Service, Slack, eventually, mcp2


@pytest.fixture
def fresh(tmp_path: Path, slack: Slack) -> Iterator[Service]:
    """A service of one test's own: it is killed."""
    running = Service(tmp_path, slack, DRIFTWATCH_COLLECT_SECONDS="2").start()
    yield running
    running.close()


def about(slack: Slack, name: str) -> list[dict[str, Any]]:
    return [message for message in slack.messages() if name in message["text"]]


def postgres_pid(service: Service) -> int:
    (pid_file,) = service.home.rglob("postmaster.pid")
    return int(pid_file.read_text().split("\n")[0])


@pytest.mark.parametrize("moment", ["recorded", "judged"])
def test_killed_between_poll_and_alert_the_alert_still_arrives_once(
    fresh: Service, slack: Slack, deployment: Deployment, moment: str
) -> None:
    name = f"killed-{moment}"
    deployment.deploy(mcp2())
    server = fresh.register(deployment.url, name=name)["server"]["id"]
    deployment.control(flags="null")
    eventually(
        lambda: [c for c in fresh.get("/changes", server=server)["items"] if moment in ("recorded", c["state"])],
        because=f"a change is {moment}",
    )
    assert about(slack, name) == []
    fresh.kill()
    time.sleep(1)
    fresh.start()
    eventually(lambda: about(slack, name), because="the alert arrived after the crash")
    fresh.poll_and_wait(server)
    assert len(about(slack, name)) == 1
    assert len(fresh.changes(server)) == 2, "one change in each era, none twice"


def test_a_restart_loses_nothing_and_invents_nothing(fresh: Service, slack: Slack, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = fresh.register(deployment.url, name="restart", tags=["kept"])["server"]["id"]
    deployment.control(flags="describe")
    before = eventually(lambda: (lambda found: found if len(found) == 2 else None)(fresh.changes(server)))
    assert fresh.stop() == 0, "SIGTERM is a clean end"
    fresh.start()
    fresh.poll_and_wait(server)
    assert fresh.changes(server) == before
    assert fresh.get(f"/servers/{server}")["tags"] == ["kept"]
    assert {tool["current_version"] for tool in fresh.get(f"/servers/{server}/tools")} == {1, 2}


def test_a_killed_postgres_comes_back_and_nothing_is_lost(fresh: Service, slack: Slack, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    server = fresh.register(deployment.url, name="database")["server"]["id"]
    first = postgres_pid(fresh)
    os.kill(first, signal.SIGKILL)

    def another() -> bool:
        try:
            return postgres_pid(fresh) != first
        except (OSError, ValueError):
            return False

    eventually(another, because="another Postgres runs")
    eventually(lambda: fresh.client.get(f"/servers/{server}").status_code == 200, because="the API answers again")
    deployment.control(flags="null")
    eventually(lambda: fresh.changes(server), because="changes are seen again")
    eventually(lambda: about(slack, "database"), because="and told")
