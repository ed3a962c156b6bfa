from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from driftwatch.app import Services
from driftwatch.servers.errors import BadServerError, NameTakenError, UnwatchableError
from driftwatch.servers.model import ServerSpec
from driftwatch.servers.register import register, register_many
from driftwatch.testing.shop import Shop
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres


async def rows(services: Services, statement: str, **parameters: object) -> list[dict[str, Any]]:
    async with services.db.engine.begin() as connection:
        return [dict(row) for row in (await connection.execute(text(statement), parameters)).mappings()]


async def test_a_registration_finds_both_eras_and_keeps_a_baseline(services: Services, shop: Shop) -> None:
    spec = ServerSpec(shop.url, headers={"X-Key": "s3cr3t"}, tags=("demo",), owner="mei")
    registered = await register(services, spec, actor="test")
    assert registered.name == "127.0.0.1"
    assert {era.era for era in registered.found} == {Era.MODERN, Era.LEGACY}
    for era in registered.found:
        assert [tool.name for tool in era.tools][:2] == ["get_order", "list_orders"]
        assert era.outputs_declared == 6
        assert not era.list_changed_declared or era.era is Era.LEGACY
    states = await rows(services, "SELECT * FROM profile_state ORDER BY profile_id")
    assert [s["state"] for s in states] == ["ok", "ok"]
    assert all(s["tool_count"] == 6 and s["next_due_at"] is not None and s["fingerprint"] for s in states)
    assert all(s["claim_token"] is None for s in states)
    [versions] = await rows(services, "SELECT count(*) n FROM tool_version WHERE number = 1")
    assert versions["n"] == 12
    assert await rows(services, "SELECT 1 FROM change") == []
    [credential] = await rows(services, "SELECT header_names, ciphertext FROM credential")
    assert credential["header_names"] == ["X-Key"]
    assert b"s3cr3t" not in credential["ciphertext"]
    [server] = await rows(services, "SELECT detected_at, interval_seconds, owner FROM server")
    assert server["detected_at"] is not None
    assert (server["interval_seconds"], server["owner"]) == (300, "mei")
    [audit] = await rows(services, "SELECT actor, action, after FROM audit_log")
    assert (audit["actor"], audit["action"]) == ("test", "register")
    assert "s3cr3t" not in audit["after"]


async def test_a_legacy_session_is_kept_encrypted(services: Services, shop: Shop) -> None:
    await register(services, ServerSpec(shop.url, eras=frozenset({Era.LEGACY})), actor="test")
    [state] = await rows(services, "SELECT session FROM profile_state")
    assert b'"protocol_version": "2025' in services.secrets.open(state["session"])


async def test_a_dry_run_answers_the_same_and_stores_nothing(services: Services, shop: Shop) -> None:
    dry = await register(services, ServerSpec(shop.url), actor="test", dry_run=True)
    assert dry.server_id is None
    for table in ("server", "profile", "blob", "audit_log"):
        assert await rows(services, f"SELECT 1 FROM {table}") == []
    wet = await register(services, ServerSpec(shop.url), actor="test")
    assert {e.era: (e.tools, e.findings) for e in dry.found} == {e.era: (e.tools, e.findings) for e in wet.found}


async def test_nobody_there_is_a_refusal_with_the_wires_code(services: Services, free_url: str) -> None:
    with pytest.raises(UnwatchableError) as refusal:
        await register(services, ServerSpec(free_url), actor="test")
    assert (refusal.value.code, refusal.value.status) == ("refused", 422)


async def test_private_space_is_refused(services: Services) -> None:
    with pytest.raises(UnwatchableError) as refusal:
        await register(services, ServerSpec("http://10.1.2.3:8000/mcp"), actor="test")
    assert refusal.value.code == "blocked-address"
    assert await rows(services, "SELECT 1 FROM server") == []


async def test_force_keeps_a_server_that_cannot_be_read_yet(services: Services, free_url: str) -> None:
    registered = await register(services, ServerSpec(free_url, name="later"), actor="test", force=True)
    assert registered.found == ()
    assert registered.problems[Era.MODERN].code == "refused"
    states = await rows(services, "SELECT state, failures, next_due_at > now() AS later FROM profile_state")
    assert states == [{"state": "refused", "failures": 1, "later": True}] * 2


async def test_names_are_unique_and_default_ones_are_numbered(services: Services, shop: Shop) -> None:
    specs = [ServerSpec(shop.url), ServerSpec(shop.url), ServerSpec(shop.url, name="mine"), ServerSpec("nonsense")]
    outcomes = await register_many(services, specs, actor="test")
    names = {outcome.registered.name for outcome in outcomes if outcome.registered}
    assert names == {"127.0.0.1", "127.0.0.1-2", "mine"}
    assert isinstance(outcomes[3].error, BadServerError)
    with pytest.raises(NameTakenError):
        await register(services, ServerSpec(shop.url, name="mine"), actor="test", dry_run=True)


async def test_chosen_eras_are_the_only_ones_looked_for(services: Services, shop: Shop) -> None:
    registered = await register(services, ServerSpec(shop.url, eras=frozenset({Era.MODERN})), actor="test")
    assert [era.era for era in registered.found] == [Era.MODERN]
    assert await rows(services, "SELECT era FROM profile") == [{"era": "modern"}]


async def test_many_registrations_at_once_all_get_a_name(services: Services, shop: Shop) -> None:
    outcomes = await register_many(services, [ServerSpec(shop.url) for _ in range(6)], actor="test")
    assert [outcome.error for outcome in outcomes] == [None] * 6
    names = {outcome.registered.name for outcome in outcomes if outcome.registered}
    assert names == {"127.0.0.1", *(f"127.0.0.1-{n}" for n in range(2, 7))}
