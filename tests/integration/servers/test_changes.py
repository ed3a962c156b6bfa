from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from driftwatch.app import Services
from driftwatch.servers import changes, purge
from driftwatch.servers.errors import BadServerError, CredentialNeededError, NameTakenError, ServerNotFoundError
from driftwatch.servers.model import ServerPatch, ServerSpec
from driftwatch.servers.register import register
from driftwatch.testing.shop import Shop
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
async def watched(services: Services, shop: Shop) -> int:
    """A registered server with a credential."""
    registered = await register(services, ServerSpec(shop.url, headers={"X-Key": "one"}), actor="test")
    assert registered.server_id is not None
    return registered.server_id


async def open_profiles(query: Query) -> list[dict[str, Any]]:
    return await query("SELECT id, era, succeeds_profile_id FROM profile WHERE closed_at IS NULL ORDER BY id")


async def test_fields_change_and_the_rest_stays(services: Services, watched: int, query: Query) -> None:
    change = ServerPatch(name="orders", interval_seconds=60, tags=("prod",), owner="mei", mode="pinned", listen="off")
    await changes.patch(services, watched, change, actor="mei")
    await changes.patch(services, watched, ServerPatch(owner=None), actor="mei")
    [row] = await query("SELECT name, interval_seconds, tags, owner, mode, listen, url FROM server")
    assert row["name"] == "orders"
    assert (row["interval_seconds"], row["tags"], row["owner"]) == (60, ["prod"], None)
    assert (row["mode"], row["listen"]) == ("pinned", "off")
    audit = await query("SELECT actor, action, before, after FROM audit_log ORDER BY id")
    assert [entry["action"] for entry in audit] == ["register", "edit", "edit"]
    assert '"owner": "mei"' in audit[2]["before"]
    assert '"owner": null' in audit[2]["after"]


async def test_wrong_fields_change_nothing(services: Services, watched: int, query: Query) -> None:
    with pytest.raises(BadServerError):
        await changes.patch(services, watched, ServerPatch(interval_seconds=0), actor="mei")
    with pytest.raises(ServerNotFoundError):
        await changes.patch(services, watched + 1, ServerPatch(owner="x"), actor="mei")
    assert await query("SELECT 1 FROM audit_log WHERE action = 'edit'") == []


async def test_a_taken_name_is_refused(services: Services, shop: Shop, watched: int) -> None:
    await register(services, ServerSpec(shop.url, name="taken"), actor="test")
    with pytest.raises(NameTakenError):
        await changes.patch(services, watched, ServerPatch(name="taken"), actor="mei")


async def test_a_rotated_secret_keeps_the_profiles(services: Services, watched: int, query: Query) -> None:
    before = await open_profiles(query)
    [old] = await query("SELECT ciphertext FROM credential")
    await changes.patch(services, watched, ServerPatch(headers={"X-Key": "two"}), actor="mei")
    [new] = await query("SELECT ciphertext FROM credential")
    assert services.secrets.open(new["ciphertext"]) == b'{"X-Key": "two"}'
    assert old != new
    assert await open_profiles(query) == before


async def test_another_origin_needs_the_credential_again(
    services: Services, watched: int, query: Query, free_url: str
) -> None:
    with pytest.raises(CredentialNeededError):
        await changes.patch(services, watched, ServerPatch(url=free_url), actor="mei")
    before = await open_profiles(query)
    await changes.patch(services, watched, ServerPatch(url=free_url, headers={"X-Key": "one"}), actor="mei")
    after = await open_profiles(query)
    assert [p["succeeds_profile_id"] for p in after] == [p["id"] for p in before]
    [host] = await query(
        "SELECT DISTINCT host FROM profile_state s JOIN profile p ON p.id = s.profile_id WHERE p.closed_at IS NULL"
    )
    assert host["host"] in free_url
    assert await query("SELECT 1 FROM server WHERE detected_at IS NOT NULL") == []


async def test_removing_the_credential_is_another_view(services: Services, watched: int, query: Query) -> None:
    before = await open_profiles(query)
    await changes.patch(services, watched, ServerPatch(headers={}), actor="mei")
    assert await query("SELECT 1 FROM credential") == []
    assert [p["succeeds_profile_id"] for p in await open_profiles(query)] == [p["id"] for p in before]


async def test_choosing_eras_closes_and_opens_profiles(services: Services, watched: int, query: Query) -> None:
    await changes.patch(services, watched, ServerPatch(eras=frozenset({Era.MODERN})), actor="mei")
    assert [p["era"] for p in await open_profiles(query)] == ["modern"]
    assert await query("SELECT 1 FROM profile_state WHERE session IS NOT NULL") == []
    await changes.patch(services, watched, ServerPatch(eras=None), actor="mei")
    assert sorted(p["era"] for p in await open_profiles(query)) == ["legacy", "modern"]


async def test_a_chosen_era_is_watched_even_where_it_was_not_found(
    services: Services, watched: int, query: Query
) -> None:
    await query("UPDATE server SET detection = NULL")
    await changes.patch(services, watched, ServerPatch(eras=frozenset({Era.MODERN})), actor="mei")
    await changes.patch(services, watched, ServerPatch(eras=frozenset({Era.LEGACY})), actor="mei")
    assert [p["era"] for p in await open_profiles(query)] == ["legacy"]
    await changes.patch(services, watched, ServerPatch(eras=None), actor="mei")
    assert [p["era"] for p in await open_profiles(query)] == ["legacy"]


async def test_pause_and_resume(services: Services, watched: int, query: Query) -> None:
    due = "SELECT count(*) FILTER (WHERE next_due_at <= now()) AS due, count(next_due_at) AS timed FROM profile_state"
    await changes.pause(services, watched, actor="mei")
    assert await query(due) == [{"due": 0, "timed": 0}]
    with pytest.raises(changes.PausedError):
        await changes.check_now(services, watched, actor="mei")
    await changes.patch(services, watched, ServerPatch(interval_seconds=20), actor="mei")
    assert await query(due) == [{"due": 0, "timed": 0}]
    await changes.resume(services, watched, actor="mei")
    await changes.resume(services, watched, actor="mei")
    assert await query(due) == [{"due": 2, "timed": 2}]
    actions = await query("SELECT action FROM audit_log ORDER BY id")
    assert [a["action"] for a in actions] == ["register", "pause", "edit", "resume"]


async def test_check_now_makes_every_profile_due(services: Services, watched: int, query: Query) -> None:
    await changes.check_now(services, watched, actor="mei")
    rows = await query("SELECT due_reason, next_due_at <= now() AS due FROM profile_state")
    assert rows == [{"due_reason": "check-now", "due": True}] * 2


async def test_deleting_wipes_secrets_at_once_and_the_rest_later(
    services: Services, shop: Shop, watched: int, query: Query
) -> None:
    kept = await register(services, ServerSpec(shop.url, name="kept"), actor="test")
    await changes.patch(services, watched, ServerPatch(headers={}), actor="mei")  # leaves closed profiles behind
    await changes.patch(services, watched, ServerPatch(headers={"X-Key": "three"}), actor="mei")
    [name] = await query("SELECT name FROM server WHERE id = :id", id=watched)
    await changes.delete(services, watched, actor="mei")
    assert await query("SELECT 1 FROM credential") == []
    ours = "profile_id IN (SELECT id FROM profile WHERE server_id = :id)"
    [left] = await query(f"SELECT count(session) s, count(next_due_at) d FROM profile_state WHERE {ours}", id=watched)
    assert left == {"s": 0, "d": 0}
    with pytest.raises(ServerNotFoundError):
        await changes.delete(services, watched, actor="mei")
    again = await register(services, ServerSpec(shop.url, name=name["name"]), actor="test")
    assert await purge.purge_deleted(services.db, piece=5) == [watched]
    servers = await query("SELECT id FROM server ORDER BY id")
    assert [row["id"] for row in servers] == [kept.server_id, again.server_id]
    [orphans] = await query(
        "SELECT count(*) n FROM blob WHERE sha256 NOT IN (SELECT definition_sha FROM tool_version) "
        "AND sha256 NOT IN (SELECT verbatim_sha FROM tool_version WHERE verbatim_sha IS NOT NULL)"
    )
    assert orphans["n"] == 0
    assert await query("SELECT 1 FROM audit_log WHERE action = 'delete'") != []


async def test_deleting_ends_the_kept_session_on_the_server(services: Services, shop: Shop, watched: int) -> None:
    held = shop._server.session_manager._server_instances
    assert len(held) == 1
    await changes.delete(services, watched, actor="mei")
    assert len(held) == 0


async def test_the_purge_knows_every_table_below_a_server(services: Services, query: Query) -> None:
    keys = await query(
        "SELECT c.conrelid::regclass::text AS child, c.confrelid::regclass::text AS parent FROM pg_constraint c "
        "WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.conrelid <> c.confrelid"
    )
    order = [table.strip('"') for table, _ in purge.ROWS]
    below = {"server"}
    while grown := {k["child"] for k in keys if k["parent"] in below} - below:
        below |= grown
    assert set(order) == below
    late = [
        (k["child"], k["parent"])
        for k in keys
        if k["child"] in below and k["parent"] in below and order.index(k["child"]) > order.index(k["parent"])
    ]
    assert late == []


async def test_the_purge_finds_every_reference_by_an_index(services: Services, query: Query) -> None:
    """Without one, each deleted row would read a whole table."""
    unindexed = await query(
        "SELECT c.conrelid::regclass::text AS child, a.attname::text AS by FROM pg_constraint c "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
        "WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND NOT EXISTS "
        "(SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1])"
    )
    # few rows, or never deleted with a server
    small = {("profile", "credential_id"), ("profile", "succeeds_profile_id")}
    assert {(key["child"], key["by"]) for key in unindexed} == small
