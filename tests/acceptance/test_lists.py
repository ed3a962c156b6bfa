"""Which clients lose the tool, or the whole list: what the pages say of it, asked from the real SDKs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from acceptance.harness import HERE, Deployment, node, other_python

from driftwatch.web.pages import advice

LOST = "whole list"
DROPPED = "tool"
KEPT = "nothing"
#: mode → client → what is lost
LOSSES = {
    "badtool": dict.fromkeys(("ts1", "ts2 legacy", "ts2 modern", "py1", "py2 modern"), LOST),
    "boolschema": dict.fromkeys(("ts1", "ts2 legacy", "ts2 modern", "py1", "py2 modern"), LOST),
    "nonobj_legacy": {"ts1": LOST, "ts2 legacy": LOST, "ts2 modern": KEPT, "py1": KEPT, "py2 modern": KEPT},
    "reqnull": {"ts1": LOST, "ts2 legacy": LOST, "ts2 modern": KEPT, "py1": KEPT, "py2 modern": KEPT},
    "boolprop": {"ts1": LOST, "ts2 legacy": KEPT, "ts2 modern": KEPT, "py1": KEPT, "py2 modern": KEPT},
    "badheader": {"ts1": KEPT, "ts2 legacy": KEPT, "ts2 modern": DROPPED, "py1": KEPT, "py2 modern": DROPPED},
    "dup": dict.fromkeys(("ts1", "ts2 legacy", "ts2 modern", "py1", "py2 modern"), KEPT),
    "nottl": {"ts1": KEPT, "ts2 legacy": KEPT, "ts2 modern": LOST, "py1": KEPT, "py2 modern": LOST},
    "negttl": {"ts1": KEPT, "ts2 legacy": KEPT, "ts2 modern": LOST, "py1": KEPT, "py2 modern": KEPT},
}


@pytest.fixture
def said(deployment: Deployment) -> dict[str, list[list[str] | None]]:
    """What each client lists, in the order of LOSSES."""
    deployment.deploy([sys.executable, str(HERE / "servers" / "modes_server.py"), "{port}"])
    urls = [f"http://127.0.0.1:{deployment.port}/m/{mode}" for mode in LOSSES]
    script = str(HERE / "servers" / "list_clients.py")
    answers: dict[str, list[list[str] | None]] = {}
    for command in (
        node("lists.mjs"),
        [other_python("mcp1"), "-W", "ignore", script],
        [sys.executable, "-W", "ignore", script],
    ):
        done = subprocess.run([*command, *urls], capture_output=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr[-2000:].decode(errors="replace")
        answers |= json.loads(done.stdout)
    return answers


def test_the_real_clients_lose_what_we_say(said: dict[str, list[list[str] | None]]) -> None:
    for place, (mode, losses) in enumerate(LOSSES.items()):
        lists = {client: lists[place] for client, lists in said.items()}
        lost = {
            client: LOST if names is None else KEPT if len(names) == 2 else DROPPED for client, names in lists.items()
        }
        assert lost == losses, mode


@pytest.mark.parametrize(
    ("code", "scope", "words"),
    [
        ("input-schema-missing", "list", "Python and TypeScript clients lose the whole list."),
        ("output-schema-not-object", "list", "Python and TypeScript clients lose the whole list."),
        ("output-root-not-object", "list", "TypeScript clients and the Python SDK 2 lose the whole list."),
        ("x-mcp-header-invalid", "tool", "Python and TypeScript clients drop the tool: to them it looks removed."),
    ],
)
def test_the_words_of_the_pages(code: str, scope: str, words: str) -> None:
    assert advice.lost(code, scope) == words
    assert f"`{code}`" in (Path(__file__).parents[2] / "docs" / "conformance.md").read_text()
