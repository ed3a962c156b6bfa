"""``driftwatch diff`` as a person runs it: another process, files, exit codes; no database anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from integration.wire.hostile import serving
from mcp.server import MCPServer

from driftwatch.testing.shop import tools

ORDER = {
    "name": "get_order",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
    "outputSchema": {"type": "object", "properties": {"status": {"type": "string"}}},
}
NULLABLE = {**ORDER, "outputSchema": {"type": "object", "properties": {"status": {"type": ["string", "null"]}}}}
OTHER = {"name": "ping\u202e", "inputSchema": {"type": "object"}}


def run(*arguments: str, given: str = "", home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from driftwatch.cli.main import app; app()", "diff", *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "DRIFTWATCH_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1", **environment},
        check=False,
    )


@pytest.fixture
def diff(tmp_path: Path) -> Any:
    def compare(old: Any, new: Any, *options: str) -> subprocess.CompletedProcess[str]:
        for name, value in (("old.json", old), ("new.json", new)):
            (tmp_path / name).write_text(json.dumps(value))
        return run(str(tmp_path / "old.json"), str(tmp_path / "new.json"), *options, home=tmp_path / "home")

    return compare


@pytest.mark.parametrize(
    ("old", "new", "options", "code"),
    [
        ({"type": "integer"}, {"type": "number"}, ("--direction", "input"), 0),
        ({"type": "integer"}, {"type": "objct"}, (), 1),
        ({"$ref": "http://127.0.0.1:9/"}, {"type": "object"}, (), 3),
        (ORDER, {"type": "object"}, (), 2),
        (ORDER, ORDER, ("--direction", "sideways"), 2),
    ],
)
def test_the_exit_code_is_the_verdict(diff: Any, old: Any, new: Any, options: tuple[str, ...], code: int) -> None:
    assert diff(old, new, *options).returncode == code


def test_text_shows_the_sentence_and_the_proof_and_steers_no_terminal(diff: Any) -> None:
    answer = diff({"tools": [ORDER, OTHER]}, {"tools": [NULLABLE]})
    assert "get_order  ✕ breaking" in answer.stdout
    assert "✕ `status` may now be null  [output-null-added /properties/status]" in answer.stdout
    assert 'refuses: {"status":null}   /status: null is not of type "string"' in answer.stdout
    assert "ping\\u{202E}  ✕ breaking" in answer.stdout
    assert "\u202e" not in answer.stdout
    assert answer.stderr == ""


def test_json_is_for_programs(diff: Any) -> None:
    found = json.loads(diff(ORDER, NULLABLE, "--format", "json").stdout)
    assert found["verdict"] == "breaking"
    (change,) = found["changes"]
    assert (change["tool"], change["part"], change["via"]) == ("get_order", "output", "declared")
    assert change["parts"][0]["witness"] == {"value": {"status": None}}
    assert change["parts"][0]["findings"][0]["rule"] == "output-null-added"


def test_markdown_is_for_pull_requests(diff: Any) -> None:
    answer = diff(ORDER, {**NULLABLE, "name": "<b>*x*"}, "--format", "markdown").stdout
    assert answer.startswith("**✕ breaking**")
    assert "### &lt;b&gt;\\*x\\*: ✕ breaking" in answer
    assert "(`output-null-added` at `/properties/status`)" in answer


def test_standard_input_and_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    same = run(str(tmp_path / "schema.json"), "-", given='{"type": "integer"}', home=tmp_path)
    assert (same.returncode, "compatible" in same.stdout) == (0, True)
    gone = run(str(tmp_path / "gone.json"), "-", given="{}", home=tmp_path)
    assert gone.returncode == 2
    assert "cannot be read" in gone.stderr
    assert not (tmp_path / "home").exists()


def shop(step: int) -> MCPServer:
    server = MCPServer("shop", version="1")
    for name, (function, description) in tools(step).items():
        server.add_tool(function, name=name, description=description)
    return server


@pytest.mark.parametrize("era", [(), ("--era", "legacy")], ids=["modern", "legacy"])
def test_two_live_servers(tmp_path: Path, era: tuple[str, ...]) -> None:
    with (
        serving(shop(2).streamable_http_app()) as old,
        serving(shop(3).streamable_http_app()) as new,
    ):
        answer = run(f"{old}/mcp", f"{new}/mcp", *era, home=tmp_path)
    assert answer.returncode == 1, answer.stderr
    assert "get_order  ✕ breaking" in answer.stdout
    assert "`status` may now be null" in answer.stdout
    assert "search" not in answer.stdout


def test_a_server_on_a_private_network_is_not_asked_unless_allowed(tmp_path: Path) -> None:
    answer = run("http://127.0.0.1:1/mcp", "-", given="{}", home=tmp_path)
    assert answer.returncode == 2
    assert "driftwatch: " in answer.stderr


def test_an_address_that_was_typed_in_may_be_private_but_never_metadata(tmp_path: Path) -> None:
    answer = run("http://169.254.169.254/mcp", "http://169.254.169.254/mcp", home=tmp_path)
    assert answer.returncode == 2
    assert "169.254.169.254 is not a public address. [blocked-address]" in answer.stderr
