"""Commands against a running service: the seeded world, served on loopback, asked through the client."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn
from browser.world import MARKUP_NAME, Template, World
from typer.testing import CliRunner, Result

from driftwatch.cli.main import cli
from driftwatch.client import Client, RefusedError
from driftwatch.errors import DriftwatchError
from driftwatch.testing.shop import Shop
from driftwatch.web.app import create_app

pytestmark = pytest.mark.postgres


class Terminal:
    """Runs commands as a person would, in a thread beside the service."""

    def __init__(self, url: str, world: World) -> None:
        self.url = url
        self.world = world
        self._env = {"DRIFTWATCH_URL": url, "DRIFTWATCH_TOKEN": world.token}

    async def run(self, *words: object, code: int = 0) -> str:
        result: Result = await asyncio.to_thread(
            CliRunner().invoke, cli, [str(word) for word in words], env=self._env, catch_exceptions=True
        )
        if result.exception is not None and not isinstance(result.exception, (SystemExit, DriftwatchError)):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.output

    async def json(self, *words: object) -> Any:
        return json.loads(await self.run(*words, "--json"))


@pytest.fixture
async def terminal(template: Template, tmp_path: Path) -> AsyncIterator[Terminal]:
    async with template.copy(tmp_path) as world:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            config = uvicorn.Config(create_app(world.services), log_config=None, lifespan="off", access_log=False)
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            with structlog.testing.capture_logs():  # a command's output is what the test reads
                yield Terminal(f"http://127.0.0.1:{listener.getsockname()[1]}", world)
            server.should_exit = True
            await serving


async def test_servers_changes_and_alerts_are_listed_and_shown(terminal: Terminal) -> None:
    world = terminal.world
    listed = await terminal.run("servers", "list", "--tag", "prod")
    assert [line.split()[1] for line in listed.splitlines()[1:]] == ["crm", "orders"]
    assert {one["server"] for one in await terminal.json("servers", "list", "--limit", 3)} <= set(world.servers)
    assert "Nothing is watched" in await terminal.run("servers", "list", "--tag", "none")
    shown = await terminal.run("servers", "show", "orders")
    assert "https://orders.example.com/mcp" in shown
    assert (await terminal.json("servers", "show", world.servers["crm"]))["name"] == "crm"
    changes = await terminal.json("changes", "list", "--verdict", "breaking", "--since", "2020-01-01")
    assert {one["verdict"] for one in changes} == {"breaking"}
    assert MARKUP_NAME in await terminal.run("changes", "list", "--server", world.servers["tickets"])
    key = world.changes["orders", "get_order"]
    assert (await terminal.run("changes", "show", key)).startswith("## ")
    assert (await terminal.json("changes", "show", key))["verdict"] == "breaking"
    assert "orders" in await terminal.run("alerts", "list")
    assert "output-null-added" in await terminal.run("search", "null-added")
    assert "Nothing is found" in await terminal.run("search", "zzzzzz", code=1)


async def test_an_alert_is_acknowledged_and_accepted(terminal: Terminal) -> None:
    alert = terminal.world.alerts["files"]
    assert "acknowledged" in await terminal.run("alerts", "acknowledge", alert, "--reason", "on it")
    await terminal.run("accept", alert, code=1)  # pinned: main() makes 2 of a refusal
    accepted = await terminal.json("accept", alert, "--reason", "the SDK is new")
    assert accepted["state"] == "accepted"
    events = await terminal.run("alerts", "show", alert)
    assert "the SDK is new" in events


async def test_a_server_is_added_edited_paused_checked_and_removed(terminal: Terminal, shop: Shop) -> None:
    looked = await terminal.run("servers", "add", shop.url, "--dry-run")
    assert "Nothing was stored." in looked
    await terminal.run("servers", "add", shop.url, "--name", "shop", "--tag", "mine", "--header", "X-Key: one")
    edited = await terminal.json("servers", "edit", "shop", "--interval", 60, "--owner", "mei")
    assert (edited["interval_seconds"], edited["owner"], edited["tags"]) == (60, "mei", ["mine"])
    assert (await terminal.json("servers", "edit", "shop", "--owner", ""))["owner"] is None
    assert (await terminal.json("servers", "pause", "shop"))["state"] == "paused"
    assert (await terminal.json("servers", "resume", "shop"))["state"] == "active"
    assert "looked at" in await terminal.run("servers", "check", "shop")
    await terminal.run("servers", "remove", "shop", "--yes")
    await terminal.run("servers", "show", "shop", code=1)
    await terminal.run("servers", "add", shop.url, "--interval", 0, code=1)


async def test_a_file_is_imported_through_the_client(terminal: Terminal, shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"shop": {"url": shop.url}, "local": {"command": "npx"}}}))
    assert "readable" in await terminal.run("import", file, "--dry-run")
    outcomes = await terminal.json("import", file, "--tag", "team")
    assert [one["status"] for one in outcomes] == ["registered", "skipped"]
    file.write_text("http://127.0.0.1:9/mcp\n")
    assert "✕" in await terminal.run("import", file, code=1)


async def test_the_client_reads_pages_and_raises_refusals(terminal: Terminal) -> None:
    def ask() -> None:
        with Client(terminal.url, terminal.world.token) as client:
            whole = list(client.changes.every())
            assert [one.id for one in whole] == sorted((one.id for one in whole), reverse=True)
            sets = list(client.changesets.every(verdict="invalid"))
            assert [one.server for one in sets] == ["files"]
            tool = client.tools.get(terminal.world.tools["orders", "get_order"])
            assert client.tools.diff(tool.id, "baseline", 2).verdict == "breaking"
            assert client.tools.version(tool.id, 1).definition["name"] == "get_order"
            assert client.contracts.compare({"type": "string"}, {"type": "integer"}, root="any").verdict == "breaking"
            assert client.changelog.markdown(limit=1).startswith("# Changelog")
            with pytest.raises(RefusedError) as missing:
                client.servers.get(999)
            assert (missing.value.status, missing.value.code) == (404, "server-not-found")
        with Client(terminal.url, "dw_nobody") as stranger, pytest.raises(RefusedError) as refused:
            stranger.fleet.overview()
        assert (refused.value.status, refused.value.code) == (401, "unauthenticated")

    await asyncio.to_thread(ask)
