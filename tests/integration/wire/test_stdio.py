"""MCP over pipes against commands that behave, and commands that do not."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from driftwatch.errors import WireError
from driftwatch.settings import Settings
from driftwatch.wire.errors import (
    CommandError,
    EraNotSpokenError,
    ExitedError,
    IncompleteWalkError,
    PollTimeoutError,
    RepeatedCursorError,
    TooDeepError,
    TooLargeError,
)
from driftwatch.wire.facts import Era
from driftwatch.wire.process import Command, minimal_environment
from driftwatch.wire.stdio_session import StdioSession, open_session
from driftwatch.wire.stream_events import Acknowledged, Limited, Undeliverable

#: a server of a few lines; PLAY is put in front of what it does with a request
SERVER = """
import json, os, signal, subprocess, sys, time
def say(message): sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
def raw(line): sys.stdout.write(line + "\\n"); sys.stdout.flush()
TOOL = {"name": "a", "inputSchema": {"type": "object"}}
DECLARES = {"tools": {"listChanged": True}}
META = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
for line in sys.stdin:
    ask = json.loads(line)
    method, i, params = ask.get("method"), ask.get("id"), ask.get("params") or {}
    def answer(result): say({"jsonrpc": "2.0", "id": i, "result": result})
    def refuse(code): say({"jsonrpc": "2.0", "id": i, "error": {"code": code, "message": "no"}})
PLAY
    if method == "initialize":
        answer({"protocolVersion": "2025-06-18", "capabilities": DECLARES, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "server/discover":
        answer({"supportedVersions": ["2026-07-28"], "capabilities": DECLARES, "_meta": META})
    elif method == "tools/list":
        answer({"tools": [TOOL]})
    elif method == "subscriptions/listen":
        say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
             "params": {"notifications": {"toolsListChanged": True}}})
    elif i is not None:
        refuse(-32601)
"""


class Wall:
    def now(self) -> datetime:
        return datetime.now(UTC)


def command(play: str, **env: str) -> Command:
    lines = "".join(f"    {line}\n" for line in play.strip().splitlines()) or "    pass\n"
    script = SERVER.replace("PLAY\n", lines)
    return Command((sys.executable, "-c", script), minimal_environment(os.environ) | env)


@asynccontextmanager
async def session(play: str = "", era: Era = Era.LEGACY, **settings: object) -> AsyncIterator[StdioSession]:
    given = Settings(**{"poll_timeout_seconds": 60, **settings})
    async with open_session(command(play), era, Wall(), given) as opened:
        yield opened


@pytest.mark.parametrize("era", list(Era))
async def test_a_list_is_kept_byte_for_byte(era: Era) -> None:
    odd = '{"nextCursor":null,  "tools": [ {"name":"a", "x": 1.50e2, "y": 18446744073709551617, "z":"\\ud800"} ]}'
    play = f"""
print("starting up ...", flush=True)
if method == "tools/list":
    raw({json.dumps('{"jsonrpc": "2.0", "id": ID, "result": ' + odd + "}")}.replace("ID", str(i)))
    continue
"""
    async with session(play, era) as opened:
        listing = await opened.walk()
    assert listing.results == (odd.encode(),)
    assert listing.tools == (odd[odd.index("{", 1) : odd.rindex("]")].strip().encode(),)
    assert listing.sent_at <= listing.arrived_at
    assert opened.facts.list_changed_declared


async def test_pages_are_walked_to_their_end() -> None:
    play = """
if method == "tools/list":
    at = int(params.get("cursor") or 0)
    answer({"tools": [{**TOOL, "name": str(at)}], **({"nextCursor": str(at + 1)} if at < 3 else {})})
    continue
"""
    async with session(play) as opened:
        listing = await opened.walk()
    assert listing.pages == len(listing.results) == len(listing.tools) == 4


@pytest.mark.parametrize(
    ("play", "error"),
    [
        ('if method == "tools/list": answer({"tools": [], "nextCursor": "x"}); continue', RepeatedCursorError),
        ('if params.get("cursor"): refuse(-32603); continue\n'
         'if method == "tools/list": answer({"tools": [], "nextCursor": "x"}); continue', IncompleteWalkError),
        ('if method == "tools/list": sys.exit(3)', ExitedError),
        ('if method == "tools/list": raw("[" * 100 + "]" * 100); continue', TooDeepError),
        ('if method == "tools/list": raw("x" * 5_000_000); continue', TooLargeError),
        ('if method == "tools/list": answer({"tools": [], "x": "y" * 1_000_001}); continue', TooLargeError),
    ],
)  # fmt: skip
async def test_a_walk_that_proves_nothing(play: str, error: type[WireError]) -> None:
    async with session(play, max_body_bytes=1_000_000) as opened:
        with pytest.raises(error):
            await opened.walk()


async def test_a_server_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(PollTimeoutError):
        async with session("continue", poll_timeout_seconds=0.3):
            pass


async def test_a_command_that_cannot_be_started() -> None:
    with pytest.raises(CommandError):
        async with open_session(Command(("/nowhere/at/all",)), Era.LEGACY, Wall(), Settings()):
            pass


@pytest.mark.parametrize(
    ("era", "play"),
    [
        (Era.MODERN, 'if method == "server/discover": refuse(-32601); continue'),
        (Era.MODERN, 'if method == "server/discover": answer({"supportedVersions": ["2025-06-18"]}); continue'),
        (Era.LEGACY, 'if method == "initialize": refuse(-32022); continue'),
    ],
)
async def test_an_era_that_is_not_spoken(era: Era, play: str) -> None:
    with pytest.raises(EraNotSpokenError):
        async with session(play, era):
            pass


async def test_what_is_announced_is_heard_before_the_next_answer() -> None:
    play = """
if method == "tools/list":
    say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
"""
    for era in Era:
        async with session(play, era) as opened:
            assert isinstance(opened.listening, Acknowledged)
            await opened.walk()
            assert opened.channel.heard.is_set()
            [at] = opened.channel.take_heard()
            assert opened.channel.answered_at is not None
            assert at <= opened.channel.answered_at
            assert not opened.channel.heard.is_set()


async def test_a_subscription_that_delivers_nothing() -> None:
    omits = """
if method == "subscriptions/listen":
    say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": {}}})
    continue
"""
    async with session(omits, Era.MODERN) as opened:
        assert isinstance(opened.listening, Undeliverable)
        assert opened.listening.reason == "ack-omits-tools"
    async with session('if method == "subscriptions/listen": refuse(-32601); continue', Era.MODERN) as opened:
        assert isinstance(opened.listening, Undeliverable)
        assert opened.listening.reason == "listen-404"
    async with session('if method == "subscriptions/listen": refuse(-32603); continue', Era.MODERN) as opened:
        assert isinstance(opened.listening, Limited)


async def test_the_end_of_a_subscription_is_noticed() -> None:
    play = """
if method == "subscriptions/listen":
    held = i
if method == "tools/list":
    say({"jsonrpc": "2.0", "id": held, "result": {}})
"""
    async with session(play, Era.MODERN) as opened:
        await opened.walk()
        assert opened.channel.unsubscribed_at is not None


async def test_a_server_that_asks_is_answered() -> None:
    play = """
if method is None:
    replies = globals().setdefault("replies", [])
    replies.append(ask)
    if len(replies) == 2:
        i = held
        answer({"tools": [{**TOOL, "replies": replies}]})
    continue
if method == "tools/list":
    held = i
    say({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    say({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}})
    continue
"""
    async with session(play) as opened:
        replies = json.loads((await opened.walk()).tools[0])["replies"]
    assert replies[0] == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert (replies[1]["id"], replies[1]["error"]["code"]) == (7, -32601)


async def test_the_environment_is_minimal() -> None:
    play = """
if method == "tools/list":
    answer({"tools": [{**TOOL, "env": dict(os.environ)}]})
    continue
"""
    ours = {**os.environ, "DRIFTWATCH_TOKEN": "dw_secret", "AWS_SECRET_ACCESS_KEY": "x", "LANG": "() { :; }"}
    given = Command(command(play).words, minimal_environment(ours) | {"WANTED": "yes"})
    async with open_session(given, Era.LEGACY, Wall(), Settings()) as opened:
        env = json.loads((await opened.walk()).tools[0])["env"]
    assert env["WANTED"] == "yes"
    assert env["PATH"] == os.environ["PATH"]
    assert not {"DRIFTWATCH_TOKEN", "AWS_SECRET_ACCESS_KEY", "LANG"} & env.keys()
    assert "dw_secret" not in repr(given)


async def test_nothing_survives_the_end_of_a_session(tmp_path: Path) -> None:
    """A server that ignores every polite word, and the child it started."""
    play = f"""
if method == "initialize":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
if method == "notifications/initialized":
    time.sleep(600)
"""
    async with session(play):
        pass
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    for pid in pids:
        for _ in range(600):
            if not _alive(pid):
                break
            await asyncio.sleep(0.1)
        assert not _alive(pid)


def _alive(pid: int) -> bool:
    """A killed orphan may stay a zombie for as long as nobody reaps it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"
