"""The pages of what nobody needs to hear, and of the policy: what is sent there holds, and is in the audit log."""

from __future__ import annotations

import re
from typing import Any

from driftwatch.alerts import blindness


async def rows(visitor: Any, query: str) -> list[tuple[Any, ...]]:
    async with visitor.world.services.db.engine.connect() as connection:
        return [tuple(row) for row in await connection.exec_driver_sql(query)]


async def audited(visitor: Any, action: str) -> list[str]:
    found = await rows(visitor, f"SELECT actor FROM audit_log WHERE action = '{action}' AND request_id IS NOT NULL")
    return [str(actor) for (actor,) in found]


async def test_a_maintenance_window_is_planned_and_called_off(visitor: Any) -> None:
    page = await visitor.get("/settings/quiet")
    assert '<option value="tag:vendor"' in page
    window = {"scope": "tag:vendor", "starts_at": "2090-01-01T10:00", "ends_at": "2090-01-01T12:30", "reason": "move"}
    page = await visitor.post("/settings/quiet/maintenance", window)
    assert "tag vendor" in page
    assert 'datetime="2090-01-01T12:30:00Z"' in page
    assert len(await audited(visitor, "maintenance.add")) == 1
    (number,) = re.findall(r"/settings/quiet/maintenance/(\d+)/end", page)
    assert "tag vendor" not in await visitor.post(f"/settings/quiet/maintenance/{number}/end", {})
    assert len(await audited(visitor, "maintenance.end")) == 1


async def test_a_window_that_makes_no_sense_is_refused_in_words(visitor: Any) -> None:
    window = {"scope": "all", "starts_at": "2090-01-01T10:00", "ends_at": "2090-01-01T12:30"}
    for wrong, status in (
        ({"starts_at": "yesterday"}, 422),
        ({"ends_at": "2090-01-01T09:00"}, 422),
        ({"scope": "planet:earth"}, 422),
        ({"scope": "server:99999999999999999999"}, 422),
        ({"scope": "server:4096"}, 404),
    ):
        page = await visitor.post("/settings/quiet/maintenance", {**window, **wrong}, status=status)
        assert "<h1" in page
    assert await rows(visitor, "SELECT 1 FROM maintenance_window") == []


async def test_a_server_and_a_tool_are_muted(visitor: Any) -> None:
    server = visitor.world.servers["orders"]
    page = await visitor.post(
        "/settings/quiet/mutes", {"server": server, "tool": "get_order", "hours": 24, "reason": "known"}
    )
    assert "orders</a> / get_order" in page
    assert await rows(visitor, "SELECT server_id, tool, reason FROM mute") == [(server, "get_order", "known")]
    assert len(await audited(visitor, "mute.add")) == 1
    await visitor.post("/settings/quiet/mutes", {"server": server, "hours": 24 * 365}, status=422)


async def test_findings_are_ignored_by_rule_and_pointer(visitor: Any) -> None:
    what = {"server": "", "rule": "output-null-added", "pointer": "/properties/status", "days": 30, "reason": "agreed"}
    page = await visitor.post("/settings/quiet/ignores", what)
    assert "/properties/status" in page
    assert "agreed" in page
    query = "SELECT server_id, tool, rule, pointer, expires_at > now() + interval '29 days' FROM ignore_rule"
    assert await rows(visitor, query) == [(None, None, "output-null-added", "/properties/status", True)]
    assert len(await audited(visitor, "ignore.add")) == 1
    await visitor.post("/settings/quiet/ignores", {"days": 30, "reason": "everything"}, status=422)
    await visitor.post("/settings/quiet/ignores", {"days": 30, "rule": "tool-added", "reason": " "}, status=422)


async def test_a_line_of_the_policy_is_changed_where_it_is_wanted_and_taken_back(visitor: Any) -> None:
    page = await visitor.get("/settings/policy?scope=tag:vendor")
    assert "As it holds for tag vendor" in page
    assert then(page, "silent-output-change") == "alert:notice"
    page = await visitor.post(
        "/settings/policy", {"line": "silent-output-change", "then": "summary", "scope": "tag:vendor"}
    )
    assert "As it holds for tag vendor" in page
    assert then(page, "silent-output-change") == "summary"
    assert "changed for the tag vendor by admin" in page
    page = await visitor.get(f"/settings/policy?scope=server:{visitor.world.servers['orders']}")
    assert then(page, "silent-output-change") == "summary", "orders has the tag vendor"
    assert then(await visitor.get("/settings/policy"), "silent-output-change") == "alert:notice"
    assert len(await audited(visitor, "policy.change")) == 1
    (number,) = re.findall(r"/settings/policy/(\d+)/restore", page)
    page = await visitor.post(f"/settings/policy/{number}/restore", {})
    assert "the default policy holds everywhere" in page
    assert len(await audited(visitor, "policy.restore")) == 1


async def test_a_line_that_is_none_is_refused(visitor: Any) -> None:
    for wrong in ({"line": "no-line"}, {"then": "alert"}, {"then": "summary:critical"}, {"then": "shout"}):
        given = {"line": "silent-break", "then": "summary", "scope": "all"}
        await visitor.post("/settings/policy", {**given, **wrong}, status=422)
    assert await rows(visitor, "SELECT 1 FROM policy_change") == []


async def test_a_form_without_its_token_changes_nothing(visitor: Any) -> None:
    for path in ("/settings/quiet/maintenance", "/settings/quiet/mutes", "/settings/quiet/ignores", "/settings/policy"):
        await visitor.post(path, {"csrf": "guessed", "scope": "all"}, status=403)


def then(page: str, line: str) -> str:
    """What a line of the policy does, as its list shows it."""
    found = re.search(rf'id="then-{line}".*?value="([\w:]+)" selected', page)
    assert found is not None
    return found[1]


async def test_a_server_that_is_not_watched_is_acknowledged_on_its_page(visitor: Any) -> None:
    services, server = visitor.world.services, visitor.world.servers["billing"]
    async with services.db.transaction() as session:
        (alert,) = await blindness.raise_blind(session, services.settings)
    page = await visitor.get(f"/servers/{server}")
    assert f'action="/alerts/{alert}/acknowledge"' in page
    assert "#payments-alerts · 0 of 1 delivered" in page
    page = await visitor.post(f"/alerts/{alert}/acknowledge", {})
    assert "no reminder comes any more" in page
    assert f'action="/alerts/{alert}/acknowledge"' not in page
    assert len(await audited(visitor, "alert.acknowledge")) == 1
