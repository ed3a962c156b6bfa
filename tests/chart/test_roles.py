"""What the chart's pods are told to run really runs: migrations, the four roles, their probes, and the test pod."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography.fernet import Fernet

from tests.chart.conftest import Rendered
from tests.integration.conftest import free_port

pytestmark = pytest.mark.postgres

PATIENCE = 150.0
COMMAND = Path(sys.executable).with_name("driftwatch")


class Pod:
    """A rendered container on this machine: its arguments and variables, with its ports and files moved."""

    def __init__(self, container: dict[str, Any], folder: Path, ports: dict[str, str]) -> None:
        env = {variable["name"]: variable["value"] for variable in container["env"]}
        for name, value in env.items():
            if name.endswith("_FILE"):
                env[name] = str(folder / Path(value).name)
        env |= {"DRIFTWATCH_HOST": "127.0.0.1"} | ports
        outside = {name: value for name, value in os.environ.items() if not name.startswith("DRIFTWATCH_")}
        self.words, self.env = [str(COMMAND), *container["args"]], outside | env

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.words, env=self.env, capture_output=True, text=True, check=False, timeout=PATIENCE)

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            return subprocess.Popen(self.words, env=self.env, stdout=output, stderr=output, start_new_session=True)


@pytest.fixture
def secrets(tmp_path: Path, empty_database_url: str) -> Path:
    """The mounted Secret."""
    content = {
        "DATABASE_URL": empty_database_url,
        "SECRET_KEY": Fernet.generate_key().decode(),
        "ADMIN_TOKEN": "dw_an_admin_token_for_the_chart_test",
    }
    for name, value in content.items():
        (tmp_path / name).write_text(value)
    return tmp_path


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait(60)


def answer(port: str, path: str) -> int:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}{path}", timeout=10).status_code
    except httpx2.TransportError:
        return 0


def test_what_the_pods_run(
    render: Callable[[dict[str, Any]], Rendered], secrets: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    containers = {pod["containers"][0]["name"]: pod["containers"][0] for _, pod in render({}).pods()}
    migrated = Pod(containers.pop("migrations"), secrets, {}).run()
    assert migrated.returncode == 0, migrated.stderr
    tester = containers.pop("test")
    ports = {role: {f"DRIFTWATCH_{kind}": str(free_port()) for kind in ("PORT", "HEALTH_PORT")} for role in containers}
    for role, container in containers.items():
        processes.append(Pod(container, secrets, ports[role]).start(secrets / f"{role}.log"))
    for (role, container), process in zip(containers.items(), processes, strict=True):
        end = time.monotonic() + PATIENCE
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            while answer(ports[role]["DRIFTWATCH_HEALTH_PORT"], path) != 200:
                assert process.poll() is None, (secrets / f"{role}.log").read_text()
                assert time.monotonic() < end, f"{role}: {path} is not 200"
                time.sleep(0.1)
        checks = httpx2.get(f"http://127.0.0.1:{ports[role]['DRIFTWATCH_HEALTH_PORT']}/readyz").json()["checks"]
        assert role in checks
        assert not set(containers) - {role} & set(checks)
    tested = Pod(tester, secrets, {"DRIFTWATCH_PORT": ports["web"]["DRIFTWATCH_PORT"]}).run()
    assert tested.returncode == 0, tested.stdout
    for process in processes:
        process.terminate()
    assert [process.wait(60) for process in processes] == [0] * 4
