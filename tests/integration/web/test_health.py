"""Probes for everybody, figures for those who may see them, and log lines that lead from a request id to a request."""

from __future__ import annotations

import io
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families

from driftwatch.app import Services
from driftwatch.capture.snapshot import take
from driftwatch.db.engine import Database
from driftwatch.scheduler import poll, store
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register
from driftwatch.testing.shop import Shop
from driftwatch.web.app import create_app
from driftwatch.web.auth import store as auth_store
from driftwatch.web.auth import tokens
from driftwatch.web.health import create_health_app

pytestmark = pytest.mark.postgres

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


@asynccontextmanager
async def asking(app: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://driftwatch.test") as client:
        yield client


@pytest.fixture
async def away(services: Services) -> AsyncIterator[Services]:
    """The same process, and a database that nobody can reach."""
    database = Database("postgresql://watcher:hunter2@127.0.0.1:1/elsewhere")
    yield replace(services, db=database)
    await database.dispose()


async def token(services: Services, scope: str) -> str:
    secret = tokens.new_secret()
    async with services.db.transaction() as session:
        await auth_store.add_token(session, name=scope, prefix=secret[:8], sha256=tokens.digest(secret), scopes=[scope])
    return secret


def metrics_table(text: str) -> str:
    """What the page must say, from what is really exposed; the Python runtime's own metrics left out."""
    rows = ["| metric | type | meaning |", "|---|---|---|"]
    families = {family.name: family for family in text_string_to_metric_families(text)}
    for name in sorted(name for name in families if name.startswith("driftwatch_")):
        shown = f"{name}_total" if families[name].type == "counter" else name
        rows.append(f"| `{shown}` | {families[name].type} | {families[name].documentation} |")
    return "\n".join(rows)


async def test_the_metrics_page_lists_every_metric(services: Services) -> None:
    async with asking(create_health_app(services, installation=True)) as client:
        table = metrics_table((await client.get("/metrics")).text)
    assert table in PAGE.read_text(), f"docs/metrics.md is not current: paste the table below\n{table}"


async def test_figures_are_for_holders_of_a_token(services: Services) -> None:
    headers = {scope: {"authorization": f"Bearer {await token(services, scope)}"} for scope in ("read", "check")}
    async with asking(create_app(services)) as client:
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/metrics", headers=headers["check"])).status_code == 403
        assert "driftwatch_servers" in (await client.get("/metrics", headers=headers["read"])).text
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).status_code == 200


async def test_only_one_kind_of_process_shows_what_all_would_show_alike(services: Services) -> None:
    async with asking(create_health_app(services, installation=False)) as client:
        text = (await client.get("/metrics")).text
    assert "driftwatch_role_up" in text
    assert "driftwatch_outbox_depth" not in text
    assert "driftwatch_overdue_seconds" not in text


async def test_without_a_database_the_process_says_so_and_no_more(away: Services, lines: io.StringIO) -> None:
    async with asking(create_health_app(away, installation=True)) as client:
        ready = await client.get("/readyz")
        assert ready.status_code == 503
        assert ready.json() == {"status": "not-ready", "checks": {"database": "cannot be used (OperationalError)"}}
        assert (await client.get("/healthz")).status_code == 200
        text = (await client.get("/metrics")).text
    assert "driftwatch_role_up" in text
    assert "driftwatch_servers" not in text
    said = lines.getvalue()
    assert "127.0.0.1" in said  # the log has what strangers are not told
    assert "hunter2" not in said


async def poll_due(services: Services, query: Callable[..., Any]) -> list[int]:
    await query("UPDATE profile_state SET next_due_at = now() - interval '7 seconds'")
    async with services.db.transaction() as session:
        batches = await store.claim_due(session, limit=100)
    for token, ids in batches.items():
        await poll.run(services, HostLimits(), token, ids)
    return [profile for ids in batches.values() for profile in ids]


class Figures:
    """Samples of /metrics by name and labels; what a test adds is the difference."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        self._samples = {(s.name, *sorted(s.labels.items())): s.value for f in families for s in f.samples}

    def __call__(self, name: str, **labels: str) -> float:
        return self._samples.get((name, *sorted(labels.items())), 0.0)


async def test_polls_are_counted_with_their_lateness(
    services: Services, shop: Shop, query: Callable[..., Any], free_url: str
) -> None:
    async with asking(create_health_app(services, installation=True)) as client:

        async def figures() -> Figures:
            return Figures((await client.get("/metrics")).text)

        await register(services, ServerSpec(shop.url, interval_seconds=60), actor="test")
        await poll_due(services, query)  # the confirming look of the first polls
        before = await figures()
        polled = await poll_due(services, query)
        after = await figures()
        await query("UPDATE server SET url = :url, detected_at = now()", url=free_url)
        await query("UPDATE profile_state SET session = NULL")
        await poll_due(services, query)
        failed = await figures()
        (code,) = {row["state"] for row in await query("SELECT state FROM profile_state")}

    def more(name: str, **labels: str) -> float:
        return after(name, **labels) - before(name, **labels)

    assert len(polled) == 2
    assert more("driftwatch_polls_total", outcome="unchanged") == 2
    assert more("driftwatch_poll_seconds_count") == 2
    assert more("driftwatch_poll_lateness_seconds_count") == 2
    assert more("driftwatch_poll_lateness_seconds_sum") >= 14  # two polls, due seven seconds ago
    assert after("driftwatch_servers", state="active") == 1
    assert after("driftwatch_profiles", state="ok") == 2
    name, labels = "driftwatch_polls_total", {"outcome": code}
    assert code not in ("ok", "new")
    assert failed(name, **labels) - after(name, **labels) == 2
    assert failed("driftwatch_profiles", state=code) == 2


async def test_what_waits_too_long_is_shown(services: Services, shop: Shop, query: Callable[..., Any]) -> None:
    await register(services, ServerSpec(shop.url, interval_seconds=60), actor="test")
    await query("UPDATE profile_state SET next_due_at = now() - interval '300 seconds'")
    async with asking(create_health_app(services, installation=True)) as client:
        figures = Figures((await client.get("/metrics")).text)
    assert figures("driftwatch_overdue_seconds") >= 300


def entries(lines: io.StringIO, event: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [entry for entry in found if entry["event"] == event]


async def test_a_request_id_leads_to_a_line_without_the_secret_in_the_path(
    services: Services, lines: io.StringIO
) -> None:
    async with asking(create_app(services)) as client:
        answer = await client.get("/login/a-secret-that-works-once")
        await client.get("/healthz")
    requests = entries(lines, "request")
    assert [(entry["request_id"], entry["route"]) for entry in requests] == [
        (answer.headers["x-request-id"], "/login/{secret}")
    ]
    assert "a-secret-that-works-once" not in lines.getvalue()


async def test_lines_of_a_poll_carry_the_profile_and_not_its_credential(
    services: Services, shop: Shop, query: Callable[..., Any], lines: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ServerSpec(shop.url, interval_seconds=60, headers={"X-Key": "hunter2"})
    await register(services, spec, actor="test")

    def looking(*given: Any, **named: Any) -> Any:
        structlog.get_logger("driftwatch.capture").info("looking")
        return take(*given, **named)

    monkeypatch.setattr(poll, "take", looking)
    await query("UPDATE profile_state SET fingerprint = NULL")
    polled = await poll_due(services, query)
    assert sorted(entry["profile"] for entry in entries(lines, "looking")) == sorted(polled)
    assert not re.search("hunter2", lines.getvalue())
