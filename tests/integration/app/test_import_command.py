"""``driftwatch import`` against a running service."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.integration.app.conftest import COMMAND, Process, environment


def run(home: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "import", *arguments],
        env=environment(HOME=str(home)),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_each_entry_has_an_outcome(serve: Callable[..., Process], short_folder: Path, tmp_path: Path) -> None:
    service = serve(HOME=str(short_folder)).ready()
    file = tmp_path / "mcp.json"
    file.write_text(
        json.dumps({"mcpServers": {"local": {"command": "x"}, "inside": {"url": "http://127.0.0.1:8080/mcp"}}})
    )

    done = run(short_folder, str(file), "--url", service.url)
    assert done.returncode == 1
    local, inside = done.stdout.splitlines()
    assert local.startswith("-  skipped")
    assert inside.startswith("✕  refused")

    as_json = run(short_folder, "-", "--url", service.url, "--json", stdin=file.read_text())
    assert [outcome["status"] for outcome in json.loads(as_json.stdout)] == ["skipped", "refused"]

    forced = run(short_folder, "-", "--url", service.url, "--force", "--tag", "prod", stdin="https://mcp.invalid/mcp\n")
    assert (forced.returncode, forced.stdout[:13]) == (0, "✓  registered")
    again = run(short_folder, "-", "--url", service.url, "--force", stdin='{"mcpServers": {"x": {"command": "y"}}}')
    assert again.returncode == 0

    refused = run(short_folder, str(file), "--url", service.url, "--token", "dw_wrong")
    assert refused.returncode == 2
    assert "[unauthenticated]" in refused.stderr


def test_what_is_wrong_is_said_in_one_line(short_folder: Path, tmp_path: Path) -> None:
    missing = run(short_folder, str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert "No such file" in missing.stderr

    without_token = run(short_folder, "-", stdin="https://mcp.invalid/mcp")
    assert "no API token" in without_token.stderr

    nobody = run(short_folder, "-", "--url", "http://127.0.0.1:1", "--token", "t", stdin="https://mcp.invalid/mcp")
    assert nobody.returncode == 2
    assert "driftwatch serve" in nobody.stderr
    assert "Traceback" not in nobody.stderr
