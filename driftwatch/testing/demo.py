"""``make run``: the first minute. A shop drifts; the terminal and the pages show what driftwatch makes of it.

The demo keeps its step and its port in the home: restarting it must not look like drift.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr
from rich.console import Console

from driftwatch.alerts import delivery_read
from driftwatch.alerts import read as alerts_read
from driftwatch.history import read as history_read
from driftwatch.history.views import ChangeView
from driftwatch.safe_text import safe_text
from driftwatch.servers import changes, register
from driftwatch.servers import store as servers_store
from driftwatch.servers.model import ServerSpec
from driftwatch.settings import Settings
from driftwatch.testing.shop import STEPS, Shop

if TYPE_CHECKING:
    from driftwatch.app import Services

ACTOR = "demo"
NAME = "shop"
POLL_SECONDS = 2
PAUSE_SECONDS = 8.0
PATIENCE_SECONDS = 60.0

#: shorter times than a real installation has, so that a minute is enough; the demo says so
QUICK: dict[str, Any] = {
    "announcement_lead_seconds": 5.0,
    "announcement_lag_seconds": 5.0,
    "announcement_grace_seconds": 2.0,
    "collect_seconds": 1.0,
    "confirm_seconds": (0.5, 1.0),
    "removal_seconds": 6.0,
    "min_interval_seconds": 1.0,
}


def demo_settings(settings: Settings) -> Settings:
    """The settings of a demo run: quick times and the built-in fake Slack, unless they were set on purpose."""
    wanted: dict[str, Any] = {**QUICK, "demo": True}
    wanted["allow_networks"] = ("127.0.0.0/8",)
    if settings.slack_webhook_url is None:
        wanted["slack_webhook_url"] = SecretStr(f"http://127.0.0.1:{settings.port}/demo/slack/services/T0/B0/demo")
        wanted["slack_allow_hosts"] = ("127.0.0.1",)
    return settings.model_copy(update={k: v for k, v in wanted.items() if k not in settings.model_fields_set})


def quick_words(settings: Settings) -> str:
    """The times of this run beside those of a real installation."""
    real = Settings.model_fields
    return (
        f"quick times for the demo: polls every {POLL_SECONDS} s, {settings.announcement_lag_seconds:g} s for a late "
        f"notification, {settings.collect_seconds:g} s to collect (else {real['interval_seconds'].default}, "
        f"{real['announcement_lag_seconds'].default}, {real['collect_seconds'].default})"
    )


@dataclass
class Progress:
    """How far the demo has come, kept in HOME/demo.json."""

    step: int
    port: int

    @classmethod
    def load(cls, file: Path) -> Progress:
        """What an earlier run left, or a fresh start on a free port."""
        if file.exists():
            return cls(**json.loads(file.read_text()))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return cls(step=0, port=probe.getsockname()[1])

    def save(self, file: Path) -> None:
        """Replace the file as a whole; with an external database nobody has made the home yet."""
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(file)


class Demo:
    """The play: registers the shop, moves it step by step, and says what driftwatch saw."""

    def __init__(self, services: Services, console: Console | None = None) -> None:
        self.services = services
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.file = services.settings.home / "demo.json"
        self.progress = Progress.load(self.file)
        self.shop = Shop(self.progress.port, self.progress.step)
        self.started = time.monotonic()

    def say(self, line: str, *, more: bool = False) -> None:
        """A line with the time since the start; text of servers was made safe before."""
        seconds = int(time.monotonic() - self.started)
        clock = "     " if more else f"{seconds // 60:02}:{seconds % 60:02}"
        self.console.print(f"[dim]{clock}[/dim] {line}", highlight=False)

    async def run(self) -> None:
        """Play until the end, then keep the shop open until cancelled; then pause its watch."""
        serving = asyncio.create_task(self.shop.serve())
        server_id: int | None = None
        self.say(quick_words(self.services.settings))
        try:
            server_id = await self._register()
            if self.progress.step == len(STEPS):
                self.say(f"the demo has been played; its history is at {self.services.settings.public_url}")
                self.say(f"to see it again: stop, remove {self.services.settings.home}, start", more=True)
            else:
                await self._play(server_id)
            self._goodbye()
            await serving
        finally:
            if server_id is not None:
                # without the demo nobody serves the shop, and nobody wants to hear about that
                await changes.pause(self.services, server_id, actor=ACTOR)
            serving.cancel()

    async def _register(self) -> int:
        async with self.services.db.transaction() as session:
            known = await servers_store.server_named(session, NAME)
        if known is not None and known.id is not None:
            self.progress.save(self.file)
            await changes.resume(self.services, known.id, actor=ACTOR)
            self.say(f'demo server "{NAME}" is open again, at step {self.progress.step} of {len(STEPS)}')
            return known.id
        spec = ServerSpec(url=self.shop.url, name=NAME, owner="payments", tags=("demo",), interval_seconds=POLL_SECONDS)
        registered = await self._retry(lambda: register.register(self.services, spec, actor=ACTOR))
        self.progress.save(self.file)
        kinds = len(registered.found)
        tools = max(len(found.tools) for found in registered.found)
        self.say(f'demo server "{NAME}" registered: {tools} tools, seen by {kinds} kinds of clients')
        server_id: int = registered.server_id
        return server_id

    async def _retry(self, attempt: Callable[[], Awaitable[Any]]) -> Any:
        """The shop needs a moment to listen."""
        for _ in range(50):
            try:
                with socket.create_connection(("127.0.0.1", self.shop.port), timeout=1):
                    break
            except OSError:
                await asyncio.sleep(0.1)
        return await attempt()

    async def _play(self, server_id: int) -> None:
        acts = (self._reword, self._widen, self._break)
        for number, act in enumerate(acts, start=1):
            if self.progress.step >= number:
                continue
            await asyncio.sleep(PAUSE_SECONDS if number > 1 else PAUSE_SECONDS / 2)
            await act(server_id)

    async def _move(self, server_id: int, step: int, tool: str) -> ChangeView:
        """Change the shop and wait until driftwatch has recorded, proved and judged it."""
        async with self.services.db.transaction() as session:
            newest = await history_read.load_changes(session, history_read.ChangeFilter(server_id=server_id), limit=1)
        after = newest[0].id if newest else 0
        self.shop.move_to(step)
        self.progress.step = step
        self.progress.save(self.file)
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            async with self.services.db.transaction() as session:
                recorded = await history_read.load_changes(
                    session, history_read.ChangeFilter(server_id=server_id), limit=20
                )
            for change in recorded:
                if change.id > after and change.tool == tool and change.state == "judged":
                    return change
            await asyncio.sleep(0.3)
        raise TimeoutError(f"the change of {tool} was not judged within {PATIENCE_SECONDS:.0f} s")

    async def _reword(self, server_id: int) -> None:
        self.say("shop rewords search")
        await self._move(server_id, 1, "search")
        self.say("→ recorded, nobody told", more=True)

    async def _widen(self, server_id: int) -> None:
        self.say("shop adds an optional input to list_orders")
        await self._move(server_id, 2, "list_orders")
        self.say("→ goes to the daily summary, nobody is woken", more=True)

    async def _break(self, server_id: int) -> None:
        self.say("shop swaps get_order in the running process and says nothing")
        change = await self._move(server_id, 3, "get_order")
        for line in verdict_lines(change):
            self.say(line, more=True)
        await self._delivered(change)

    async def _delivered(self, change: ChangeView) -> None:
        public = self.services.settings.public_url
        self.say(f"   proof and evidence → {public}/changes/{change.id}", more=True)
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            async with self.services.db.transaction() as session:
                alert = await alerts_read.alert_for_changeset(session, change.changeset_id)
                told = await delivery_read.deliveries_for_alert(session, alert.id) if alert else []
            if any(delivery.state == "delivered" for delivery in told):
                inbox = f" → {public}/demo/slack/" if "slack_webhook_url" not in _set(self.services) else ""
                self.say(f"   Slack message delivered{inbox}", more=True)
                return
            await asyncio.sleep(0.3)
        raise TimeoutError(f"no message was delivered within {PATIENCE_SECONDS:.0f} s")

    def _goodbye(self) -> None:
        self.console.print(f"      Yours:  {command()} import mcp.json     Ctrl-C stops, history stays", markup=False)


def command() -> str:
    """How this program was called, from the current folder where that is shorter."""
    called = Path(sys.argv[0])
    name = called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called
    return shlex.quote(str(name))


def _set(services: Services) -> set[str]:
    """Settings that the person set; the demo's own copies are not among them."""
    return Settings().model_fields_set


def verdict_lines(change: ChangeView) -> list[str]:
    """What the terminal shows of a change: the verdict, why, the witness, the announcement."""
    worst = change.worst
    lines = [
        f"[bold red]✕ {(change.verdict or '?').upper()}, {(change.announcement or '?').upper()}[/bold red]  "
        f"{NAME} / {safe_text(change.tool)}"
    ]
    if worst is not None:
        lines += [f"   {safe_text(finding.message)}" for finding in worst.findings if finding.level == "breaking"]
        if worst.witness is not None and "value" in worst.witness:
            value = safe_text(json.dumps(worst.witness["value"], ensure_ascii=False))
            lines.append(
                f"   a client holding v{change.from_version} refuses  {value}  "
                f"checked: valid in v{change.to_version}, invalid in v{change.from_version}"
            )
    if change.announcement_reason == "not-declared":
        lines.append("   not announced: the server declares no listChanged")
    elif change.announcement_reason:
        lines.append(f"   not announced: {change.announcement_reason}")
    return [line.replace("[", "\\[") if line.startswith("   ") else line for line in lines]


async def run_demo(services: Services) -> None:
    """Play the demo beside the other roles until cancelled."""
    await Demo(services).run()
