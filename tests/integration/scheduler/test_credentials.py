"""Polls and streams of a server that demands tokens: they are kept, renewed, refused, and never shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from builders.authority import AuthorityProcess

from driftwatch.app import Services
from driftwatch.scheduler import store
from driftwatch.scheduler.hosts import HostLimits
from driftwatch.scheduler.poll import run
from driftwatch.scheduler.streams.role import run_listener
from driftwatch.servers import changes
from driftwatch.servers.credential import Bearer, Credential
from driftwatch.servers.errors import CredentialNeededError, UnwatchableError
from driftwatch.servers.model import ServerPatch, ServerSpec
from driftwatch.servers.register import register
from driftwatch.servers.sealed import open_token, seal_token
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]
PATIENCE = 90.0


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Four requests stand behind a token, and a busy machine may take its time for each."""
    return settings.model_copy(update={"poll_timeout_seconds": 60.0})


async def watch(services: Services, authority: AuthorityProcess, credential: Credential | None) -> int:
    spec = ServerSpec(authority.mcp, credential=credential, eras=frozenset({Era.MODERN}), interval_seconds=60)
    registered = await register(services, spec, actor="test")
    assert registered.server_id is not None
    return registered.server_id


async def poll(services: Services, query: Query) -> dict[str, Any]:
    """Poll once; the state of the profile after it."""
    await query("UPDATE profile_state SET next_due_at = now() WHERE next_due_at IS NOT NULL")
    async with services.db.transaction() as session:
        batches = await store.claim_due(session, limit=10)
    for token, ids in batches.items():
        await run(services, HostLimits(), token, ids)
    [state] = await query(
        "SELECT s.* FROM profile_state s JOIN profile p ON p.id = s.profile_id WHERE p.closed_at IS NULL"
    )
    return state


async def kept(query: Query) -> dict[str, Any]:
    [row] = await query("SELECT * FROM credential")
    return row


@pytest.mark.parametrize("way", ["secret", "key"])
async def test_a_grant_is_kept_sealed_with_the_token_of_the_first_look(
    services: Services, authority: AuthorityProcess, query: Query, way: str
) -> None:
    grant = authority.secret("tools:read") if way == "secret" else authority.key("tools:read")
    await watch(services, authority, grant)
    row = await kept(query)
    assert row["kind"] == ("client-secret" if way == "secret" else "private-key-jwt")
    [token] = authority.seen()["valid"]
    everything = str(await query("SELECT * FROM credential")) + str(await query("SELECT * FROM audit_log"))
    for secret in (token, "s3cr3t", "PRIVATE KEY"):
        assert secret not in everything
    assert row["renewed_at"] is not None
    assert row["token_expires_at"] > row["renewed_at"]
    assert row["granted_scopes"] == ["tools:read"]
    [profile] = await query("SELECT * FROM profile")
    assert profile["scopes"] == ["tools:read"]
    requests = len(authority.seen()["tokens"])
    assert (await poll(services, query))["state"] == "ok"
    assert (await poll(services, query))["state"] == "ok"
    assert len(authority.seen()["tokens"]) == requests  # one token for all of them


async def test_a_dry_run_stores_nothing_and_a_refusal_names_itself(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    spec = ServerSpec(authority.mcp, credential=authority.secret())
    seen = await register(services, spec, actor="test", dry_run=True)
    assert {era.era for era in seen.found} == set(Era)
    assert await query("SELECT 1 FROM credential") == []
    for wrong, code in ((authority.secret(client_secret="x"), "token-refused"), (Bearer("x"), "unauthorized")):
        with pytest.raises(UnwatchableError) as caught:
            await watch(services, authority, wrong)
        assert caught.value.code == code


async def test_a_token_about_to_end_is_renewed_before_the_poll(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    await watch(services, authority, authority.secret())
    await query("UPDATE credential SET renewed_at = now() - interval '1 day'")
    first = await kept(query)
    authority.behave(life=100_000)
    token = open_token(services.secrets, first["token"])
    assert token is not None
    now = services.clock.now()
    over = replace(token, obtained_at=now - timedelta(hours=1), expires_at=now + timedelta(seconds=50))
    await query("UPDATE credential SET token = :token", token=seal_token(services.secrets, over))
    assert (await poll(services, query))["state"] == "ok"
    second = await kept(query)
    assert second["token"] != first["token"]
    assert second["renewed_at"] > first["renewed_at"]
    assert (second["token_expires_at"] - second["renewed_at"]).total_seconds() > 90_000


async def test_a_revoked_token_is_replaced_within_the_poll(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    await watch(services, authority, authority.key())
    authority.revoke()
    state = await poll(services, query)
    assert (state["state"], state["failures"]) == ("ok", 0)
    assert len(authority.seen()["valid"]) == 1


async def test_a_refused_renewal_is_told_and_healed_by_a_new_credential(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    server = await watch(services, authority, authority.secret())
    profiles = await query("SELECT id FROM profile")
    authority.revoke()
    authority.behave(token="refuse")
    state = await poll(services, query)
    assert state["state"] == "token-refused"
    row = await kept(query)
    assert '"token-refused"' in row["failure"]
    since = row["failed_at"]
    await poll(services, query)
    assert (await kept(query))["failed_at"] == since
    authority.behave(token="grant")
    await changes.patch(services, server, ServerPatch(credential=authority.secret()), actor="mei")
    row = await kept(query)
    assert (row["failure"], row["failed_at"], row["token"]) == (None, None, None)
    assert (await poll(services, query))["state"] == "ok"
    assert await query("SELECT id FROM profile") == profiles  # a rotated secret keeps the profiles


async def test_an_authorization_server_out_of_order_does_not_end_a_good_token(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    await watch(services, authority, authority.secret())
    authority.behave(token="fail")
    assert (await poll(services, query))["state"] == "ok"
    authority.revoke()
    assert (await poll(services, query))["state"] == "no-token"


async def test_too_few_rights_are_told_with_the_scope_that_is_wanted(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    authority.behave(scopes="other")
    with pytest.raises(UnwatchableError) as caught:
        await watch(services, authority, authority.secret("other"))
    assert caught.value.code == "forbidden"
    assert "too few rights" in (caught.value.hint or "")


async def test_another_client_or_other_scopes_are_another_view(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    server = await watch(services, authority, authority.secret())
    await changes.patch(services, server, ServerPatch(credential=authority.secret("tools:read")), actor="mei")
    [old, new] = await query("SELECT id, closed_at, scopes, succeeds_profile_id FROM profile ORDER BY id")
    assert old["closed_at"] is not None
    assert (new["succeeds_profile_id"], new["scopes"]) == (old["id"], ["tools:read"])
    assert (await poll(services, query))["state"] == "ok"


async def test_another_origin_asks_for_the_grant_again(
    services: Services, authority: AuthorityProcess, query: Query, free_url: str
) -> None:
    server = await watch(services, authority, authority.secret())
    with pytest.raises(CredentialNeededError):
        await changes.patch(services, server, ServerPatch(url=free_url), actor="mei")
    await changes.patch(services, server, ServerPatch(url=free_url, credential=None), actor="mei")
    assert await query("SELECT 1 FROM credential") == []


async def test_streams_use_the_credential_and_what_renews_it(
    services: Services, authority: AuthorityProcess, query: Query
) -> None:
    """The stream opens with the kept token; one renewed by a poll does not end it."""
    await watch(services, authority, authority.secret())
    listener = asyncio.create_task(run_listener(services))
    try:
        [stream] = await until(query, "SELECT id FROM stream_interval WHERE ended_by = 'open'")
        await query("UPDATE credential SET token = NULL")
        assert (await poll(services, query))["state"] == "ok"
        authority.publish()
        await until(query, "SELECT 1 FROM notification WHERE source = 'stream'")
        assert await query("SELECT id FROM stream_interval") == [stream]
    finally:
        listener.cancel()
        await asyncio.wait({listener})


async def until(query: Query, statement: str) -> list[dict[str, Any]]:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if rows := await query(statement):
            return rows
        await asyncio.sleep(0.1)
    raise AssertionError(f"no rows: {statement}")
