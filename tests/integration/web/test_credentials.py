"""Credentials from outside: every kind through API and pages, write-only, with what to do when they are refused."""

from __future__ import annotations

import html as markup
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx2
import pytest
from builders.authority import CLIENT_ID, CLIENT_SECRET, AuthorityProcess
from integration.web.test_api import client_with, problem

from driftwatch.app import Services
from driftwatch.settings import Settings

pytestmark = pytest.mark.postgres

Query = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Four requests stand behind a token, and a busy machine may take its time for each."""
    return settings.model_copy(update={"poll_timeout_seconds": 60.0})


@pytest.fixture
async def writer(services: Services) -> AsyncIterator[httpx2.AsyncClient]:
    async with await client_with(services, "write") as client:
        yield client


def secret_of(authority: AuthorityProcess, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "client-secret",
        "issuer": authority.issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        **fields,
    }


def key_of(authority: AuthorityProcess) -> dict[str, Any]:
    grant = {"kind": "private-key-jwt", "issuer": authority.issuer, "client_id": CLIENT_ID, "algorithm": "ES256"}
    return {**grant, "private_key": authority.private_key}


def said(failure: dict[str, Any]) -> dict[str, str]:
    return {name: value for name, value in failure["challenge"].items() if value is not None}


async def test_each_grant_watches_a_guarded_server_and_is_never_answered(
    writer: httpx2.AsyncClient, authority: AuthorityProcess
) -> None:
    for number, credential in enumerate([secret_of(authority, scopes=["tools:read"]), key_of(authority)]):
        body = {"url": authority.mcp, "name": f"guarded-{number}", "credential": credential}
        dry = await writer.post("/servers?dry_run=true", json=body)
        assert len(dry.json()["eras"]) == 2
        answer = await writer.post("/servers", json=body)
        assert answer.status_code == 201, answer.text
        shown = answer.json()["server"]["credential"]
        assert (shown["kind"], shown["state"], shown["client_id"]) == (credential["kind"], "ok", CLIENT_ID)
        assert shown["renewed_at"] < shown["expires_at"]
        assert shown["granted_scopes"] == ["tools:read"]
        for text in (answer.text, (await writer.get("/servers")).text):
            assert CLIENT_SECRET not in text
            assert "PRIVATE KEY" not in text


async def test_what_a_guarded_server_wants_is_answered(writer: httpx2.AsyncClient, authority: AuthorityProcess) -> None:
    refused = problem(await writer.post("/servers", json={"url": authority.mcp}), 422, "unauthorized")
    assert refused["challenge"]["error"] == "invalid_token"
    assert refused["challenge"]["resource_metadata"].startswith(authority.mcp.removesuffix("/mcp"))
    forced = await writer.post("/servers?force=true", json={"url": authority.mcp})
    assert said(forced.json()["problems"]["modern"]) == refused["challenge"]
    server = forced.json()["server"]["id"]
    profile = (await writer.get(f"/servers/{server}")).json()["profiles"][0]
    assert said(profile["last_error"]) == refused["challenge"]
    assert "names the authorization server" in profile["last_error"]["hint"]
    patched = await writer.patch(f"/servers/{server}", json={"credential": secret_of(authority)})
    assert patched.json()["credential"]["kind"] == "client-secret"
    batch = await writer.post("/servers/batch", json=[{"url": authority.mcp}])
    assert said(batch.json()[0]["problem"]) == refused["challenge"]


async def test_simple_kinds_are_kept_moved_and_removed(writer: httpx2.AsyncClient, free_url: str, query: Query) -> None:
    kinds = [
        {"kind": "bearer", "token": "planted-secret"},
        {"kind": "basic", "username": "mei", "password": "planted-secret"},
        {"kind": "headers", "headers": {"X-Key": "planted-secret"}},
    ]
    for number, credential in enumerate(kinds):
        body = {"url": free_url, "name": f"s{number}", "credential": credential}
        answer = await writer.post("/servers?force=true", json=body)
        assert answer.status_code == 201, answer.text
        assert "planted-secret" not in answer.text
        assert answer.json()["server"]["credential"]["kind"] == credential["kind"]
        server = answer.json()["server"]["id"]
        moved = {"url": "https://other.example.com/mcp"}
        problem(await writer.patch(f"/servers/{server}", json=moved), 422, "credential-needed")
        assert (await writer.patch(f"/servers/{server}", json={**moved, "credential": credential})).status_code == 200
        removed = await writer.patch(f"/servers/{server}", json={"credential": None})
        assert removed.json()["credential"] is None
    assert "planted-secret" not in str(await query("SELECT before, after FROM audit_log"))


async def test_wrong_credentials_are_named_without_their_secret(
    writer: httpx2.AsyncClient, authority: AuthorityProcess, free_url: str
) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"kind": "bearer", "token": "planted secret"}, "token"),
        ({"kind": "basic", "username": "a:b", "password": "planted secret"}, "username"),
        ({"kind": "basic", "username": "a", "password": "planted secret\n"}, "password"),
        (secret_of(authority, issuer="ftp://planted secret"), "issuer"),
        (secret_of(authority, issuer="https://auth.example.com?x"), "issuer"),
        (secret_of(authority, scopes=["a b"]), "scopes"),
        (key_of(authority) | {"private_key": "planted secret"}, "private_key"),
        (key_of(authority) | {"algorithm": "RS256"}, "private_key"),
        (key_of(authority) | {"algorithm": "ES384"}, "private_key"),
        ({"kind": "headers", "headers": {"Host": "planted secret"}}, "Host"),
    ]
    for credential, field in wrong:
        answer = await writer.post("/servers?force=true", json={"url": free_url, "credential": credential})
        assert field in problem(answer, 422, "bad-server")["detail"]
        assert "planted secret" not in answer.text.replace(str(credential.get("issuer")), "")
    both = {"url": free_url, "headers": {"X": "1"}, "credential": {"kind": "bearer", "token": "x"}}
    problem(await writer.post("/servers?force=true", json=both), 422, "bad-server")
    for body in ({"kind": "bearer"}, {"kind": "what"}, {"kind": "bearer", "token": "x", "more": 1}):
        assert (await writer.post("/servers", json={"url": free_url, "credential": body})).status_code == 422


async def test_an_import_carries_credentials(writer: httpx2.AsyncClient, authority: AuthorityProcess) -> None:
    servers = {"guarded": {"url": authority.mcp, "credential": secret_of(authority)}}
    answer = await writer.post("/servers/import", json={"content": json.dumps({"mcpServers": servers})})
    assert answer.json()[0]["status"] == "registered"


async def test_pages_register_and_renew_a_grant(visitor: Any, authority: AuthorityProcess) -> None:
    form = {
        "url": authority.mcp,
        "kind": "private-key-jwt",
        "issuer": authority.issuer,
        "client_id": CLIENT_ID,
        "private_key": authority.private_key.replace("\n", "\r\n"),
        "algorithm": "ES256",
        "scopes": "tools:read",
    }
    refused = await visitor.post("/servers/preview", {"url": authority.mcp}, status=422)
    assert "names the authorization server" in refused
    wrong = await visitor.post("/servers/preview", {**form, "client_id": "nobody"}, status=422)
    assert "Credential refused:" in wrong
    assert f'value="{authority.issuer}"' in wrong
    found = await visitor.post("/servers/preview", form)
    assert "OAuth, private key in Authorization, encrypted" in found
    sealed = re.search(r'name="sealed" value="([^"]+)"', found)
    assert sealed
    page = await visitor.post("/servers", {"url": authority.mcp, "sealed": sealed[1], "name": "guarded"})
    text = markup.unescape(page)
    assert "OAuth client credentials by private key, driftwatch · access token renewed" in text
    assert "PRIVATE KEY-----\n" not in text
    path = re.search(r'action="(/servers/\d+)/credential"', page)
    assert path
    kept = await visitor.post(f"{path[1]}/credential", {"url": authority.mcp, "kind": "keep"})
    assert "Saved." in kept
    elsewhere = {"url": "https://other.example.com/mcp", "kind": "keep"}
    assert "another origin" in await visitor.post(f"{path[1]}/credential", elsewhere, status=422)
    other = {**form, "kind": "client-secret", "client_secret": CLIENT_SECRET}
    assert "OAuth client credentials by secret" in await visitor.post(f"{path[1]}/credential", other)
    gone = await visitor.post(f"{path[1]}/credential", {"url": authority.mcp, "kind": "none"})
    assert "none set" in gone
