"""The programs on the pages of docs/announce: run as they stand, and driftwatch's listener hears of the change."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from acceptance.harness import NODE_MODULES, REPOSITORY, Deployment, node, other_python

from driftwatch.settings import Settings
from driftwatch.wire import streamable
from driftwatch.wire.channels import legacy_headers, modern_headers, modern_params
from driftwatch.wire.client import WireClient
from driftwatch.wire.eras import detect
from driftwatch.wire.facts import LATEST_LEGACY, LATEST_MODERN, Era, EraFacts, Target
from driftwatch.wire.stream_events import Acknowledged, Notified
from driftwatch.wire.streams import listen
from driftwatch.wire.walk import walk

PAGES = REPOSITORY / "docs" / "announce"
#: the Python pages; those about SDKs that cannot live beside ours name a virtual environment
PYTHONS = {"python-mcp-1": "mcp1", "python-mcp-2": None, "fastmcp": "fastmcp4"}
ERAS = {LATEST_MODERN: Era.MODERN, LATEST_LEGACY: Era.LEGACY}
SECONDS = 60


class Wall:
    def now(self) -> datetime:
        return datetime.now(UTC)


def program(name: str) -> tuple[set[Era], str, str]:
    """The eras that a page promises in the heading of its program, the program's language, and the program."""
    [(heading, language, code)] = re.findall(
        r"^## ([^\n]*)\n\n```(python|js)\n(.*?)^```", (PAGES / f"{name}.md").read_text(), re.DOTALL | re.MULTILINE
    )
    return {ERAS[version] for version in heading.split(" and ")}, language, code


def command(name: str, language: str, code: str, folder: Path) -> list[str]:
    if language == "js":
        (folder / "node_modules").symlink_to(NODE_MODULES)
        (folder / "server.mjs").write_text(code)
        return node(str(folder / "server.mjs"), "{port}")
    elsewhere = PYTHONS[name]
    python = other_python(elsewhere) if elsewhere else sys.executable
    (folder / "server.py").write_text(code)
    return [python, "-W", "ignore", str(folder / "server.py"), "{port}"]


async def hear(client: WireClient, target: Target, facts: EraFacts, ready: asyncio.Event) -> None:
    async with aclosing(listen(client, target, facts)) as events:
        async for event in events:
            if isinstance(event, Acknowledged):
                ready.set()
            if isinstance(event, Notified):
                return
    raise AssertionError(f"the {facts.era} stream ended without a notification")


async def reload(client: WireClient, target: Target, facts: EraFacts) -> None:
    method, params = "tools/call", {"name": "reload", "arguments": {}}
    if facts.era is Era.MODERN:
        headers = {**modern_headers(target, facts.protocol_version, method), "mcp-name": "reload"}
        params = modern_params(facts.protocol_version, params)
    else:
        headers = legacy_headers(target, facts.session)
    answer = await streamable.ask(client, target.url, headers, method, params, client.budget())
    assert b"done" in (answer.result or b""), answer


def test_every_guide_is_run() -> None:
    assert {file.stem for file in PAGES.glob("*.md")} == {*PYTHONS, "typescript-1", "typescript-2", "README"}


@pytest.mark.parametrize("name", [*PYTHONS, "typescript-1", "typescript-2"])
async def test_everybody_hears_what_the_guide_announces(name: str, tmp_path: Path, deployment: Deployment) -> None:
    promised, language, code = program(name)
    await asyncio.to_thread(deployment.deploy, command(name, language, code, tmp_path))
    target = Target(deployment.url)
    async with WireClient(Settings(allow_networks=("127.0.0.0/8",)), Wall()) as client, asyncio.timeout(3 * SECONDS):
        found = (await detect(client, target)).found
        assert {era for era, facts in found.items() if facts.list_changed_declared} == set(found) == promised
        before = {era: await walk(client, target, facts) for era, facts in found.items()}
        ready = {era: asyncio.Event() for era in found}
        async with asyncio.TaskGroup() as group:
            for era, listing in before.items():
                group.create_task(hear(client, target, listing.facts, ready[era]))
            for event in ready.values():
                await event.wait()
            await reload(client, target, next(iter(before.values())).facts)
        for listing in before.values():
            after = await walk(client, target, listing.facts)
            assert len(after.tools) == len(listing.tools) + 1
