"""The whole process: first start, stop, crash, refusal."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx2
import psycopg
from cryptography.fernet import Fernet

from driftwatch.db.residents import read_pid, residents
from tests.integration.app.conftest import COMMAND, Process, environment, eventually

Serve = Callable[..., Process]
TOKEN = "dw_a_preset_token_of_an_admin"


def test_the_first_start_lets_an_admin_in_and_the_second_keeps_everything(serve: Serve, short_folder: Path) -> None:
    home = short_folder / "a home"
    first = serve(HOME=str(home)).ready()
    file = home / "admin-token"
    token = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in first.said()

    link = re.search(rf"{first.url}/login/\S+", first.said())
    assert link is not None
    with httpx2.Client(follow_redirects=False) as browser:
        assert browser.get(link[0]).status_code == 200
        assert browser.post(link[0]).status_code == 303
        assert browser.get(f"{first.url}/").status_code == 200
        assert browser.post(link[0]).status_code == 403  # it works once
    assert first.stop() == 0
    assert residents(home / "pg" / "data") == []

    second = serve(HOME=str(home)).ready()
    assert "/login/" not in second.said()
    assert file.read_text().strip() == token
    answer = httpx2.get(f"{second.url}/api/v1/servers", headers={"authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["items"]) == (200, [])

    made = subprocess.run(
        [COMMAND, "login-link"], env=environment(HOME=str(home)), capture_output=True, text=True, timeout=60
    )
    path = made.stdout.strip().removeprefix("http://127.0.0.1:8787")
    assert httpx2.get(f"{second.url}{path}").status_code == 200
    assert second.stop() == 0


def test_a_lost_token_file_is_replaced(serve: Serve, short_folder: Path) -> None:
    serve(HOME=str(short_folder)).ready().stop()
    (short_folder / "admin-token").unlink()
    again = serve(HOME=str(short_folder)).ready()
    token = (short_folder / "admin-token").read_text().strip()
    answer = httpx2.get(f"{again.url}/api/v1/servers", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200


def test_a_killed_service_leaves_no_postgres_and_starts_again(serve: Serve, short_folder: Path) -> None:
    serve(HOME=str(short_folder)).ready().kill()
    data = short_folder / "pg" / "data"
    eventually(lambda: residents(data) == [], because="postgres ends with the service")
    serve(HOME=str(short_folder)).ready()


def test_a_killed_postgres_is_started_again_under_the_running_service(serve: Serve, short_folder: Path) -> None:
    service = serve(HOME=str(short_folder)).ready()
    postmaster = read_pid(short_folder / "pg" / "data" / "postmaster.pid")
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    eventually(
        lambda: read_pid(short_folder / "pg" / "data" / "postmaster.pid") not in {None, postmaster},
        because="postgres runs again",
    )
    service.ready()
    headers = {"authorization": f"Bearer {(short_folder / 'admin-token').read_text().strip()}"}
    # The worker began anew: procrastinate's listener does not outlive its connection.
    restarted = re.compile(r'driftwatch_role_restarts_total\{role="worker"\} [1-9]')
    eventually(
        lambda: restarted.search(httpx2.get(f"{service.url}/metrics", headers=headers).text) is not None,
        because="the worker is new",
    )
    service.ready()


def test_an_external_database_needs_key_and_token_from_settings(
    serve: Serve, tmp_path: Path, empty_database_url: str
) -> None:
    given = {"HOME": str(tmp_path / "home"), "DATABASE_URL": empty_database_url}
    refused = serve(**given)
    assert refused.ended() == 2
    assert "DRIFTWATCH_SECRET_KEY" in refused.said()

    given["SECRET_KEY"] = Fernet.generate_key().decode()
    refused = serve(**given)
    assert refused.ended() == 2
    assert "DRIFTWATCH_ADMIN_TOKEN" in refused.said()

    service = serve(**given, ADMIN_TOKEN=TOKEN).ready()
    assert "postgres" not in service.checks()
    assert not (tmp_path / "home").exists()
    answer = httpx2.get(f"{service.url}/api/v1/servers", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert service.stop() == 0

    refused = serve(**given | {"SECRET_KEY": Fernet.generate_key().decode()}, ADMIN_TOKEN=TOKEN)
    assert refused.ended() == 2
    assert "another key" in refused.said()


def test_roles_can_be_split(serve: Serve, tmp_path: Path, empty_database_url: str) -> None:
    given = {
        "HOME": str(tmp_path / "home"),
        "DATABASE_URL": empty_database_url,
        "SECRET_KEY": Fernet.generate_key().decode(),
        "ADMIN_TOKEN": TOKEN,
    }
    web = serve("--role", "web", **given).ready()
    assert set(web.checks()) == {"database", "web", "clock"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    workers = serve("--role", "scheduler", "--role", "worker", "--role", "listener", **given, HEALTH_PORT=port)
    assert httpx2.get(f"{web.url}/healthz").status_code == 200
    asked = [COMMAND, "health"]

    def healthy() -> bool:
        return (
            subprocess.run(asked, env=environment(HEALTH_PORT=port), capture_output=True, check=False).returncode == 0
        )

    eventually(healthy, because="the roles without pages answer on the health port")
    checks = httpx2.get(f"http://127.0.0.1:{port}/readyz").json()["checks"]
    assert set(checks) == {"database", "scheduler", "tick", "worker", "listener", "health", "clock"}
    assert 'driftwatch_role_up{role="listener"} 1.0' in httpx2.get(f"http://127.0.0.1:{port}/metrics").text
    assert web.stop() == 0
    assert workers.stop() == 0
    assert not healthy()


def test_the_demo_plays_by_its_setting_and_pauses_its_shop_when_the_terminal_closes(
    serve: Serve, tmp_path: Path, empty_database_url: str
) -> None:
    given = {
        "HOME": str(tmp_path / "home"),
        "DATABASE_URL": empty_database_url,
        "SECRET_KEY": Fernet.generate_key().decode(),
        "ADMIN_TOKEN": TOKEN,
    }
    service = serve(**given, DEMO="1").ready()
    eventually(lambda: 'demo server "shop" registered' in service.said(), because="the play begins")
    assert httpx2.get(f"{service.url}/demo/slack/").status_code == 200
    assert service.stop(signal.SIGHUP) == 0, service.said()
    with psycopg.connect(empty_database_url.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT name, state FROM server").fetchall() == [("shop", "paused")]


def test_strangers_are_kept_out_until_somebody_has_a_token(serve: Serve, short_folder: Path) -> None:
    refused = serve("--host", "0.0.0.0", HOME=str(short_folder / "home"))
    assert refused.ended() == 2
    assert "DRIFTWATCH_ADMIN_TOKEN" in refused.said()
    assert not (short_folder / "home").exists()
    serve("--host", "0.0.0.0", HOME=str(short_folder / "home"), ADMIN_TOKEN=TOKEN).ready()


def test_a_taken_port_is_named_before_anything_is_started(short_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = subprocess.run(
            [COMMAND, "serve", "--port", str(taken.getsockname()[1])],
            env=environment(HOME=str(short_folder / "home")),
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
    assert not (short_folder / "home").exists()
