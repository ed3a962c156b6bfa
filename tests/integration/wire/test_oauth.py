from __future__ import annotations

import pytest
from builders.authority import AuthorityProcess, pem
from integration.wire.hostile import HostileServer
from starlette.responses import JSONResponse, Response

from driftwatch.settings import Settings
from driftwatch.wire.challenge import Challenge
from driftwatch.wire.client import WireClient
from driftwatch.wire.eras import detect
from driftwatch.wire.errors import ForbiddenServerError, NoTokenError, TokenRefusedError, UnauthorizedError
from driftwatch.wire.facts import Era, Target
from driftwatch.wire.grants import ClientSecret, Grant
from driftwatch.wire.oauth import obtain
from driftwatch.wire.walk import walk


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Four requests stand behind a token, and a busy machine may take its time for each."""
    return settings.model_copy(update={"poll_timeout_seconds": 60.0})


def grants(authority: AuthorityProcess) -> dict[str, Grant]:
    return {
        "client_secret_basic": authority.secret(),
        "client_secret_post": authority.secret(method="client_secret_post"),
        "private_key_jwt": authority.key(),
    }


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "private_key_jwt"])
async def test_each_way_to_prove_who_asks_brings_a_token_that_lists_the_tools(
    client: WireClient, authority: AuthorityProcess, method: str
) -> None:
    before = client.clock.now()
    token = await obtain(client, authority.mcp, grants(authority)[method])
    asked = authority.seen()["tokens"][-1]
    assert asked == {"method": method, "scope": "tools:read", "resource": authority.mcp}
    assert token.scopes == ("tools:read",)
    assert token.expires_at is not None
    assert before <= token.obtained_at <= client.clock.now()
    assert (token.expires_at - token.obtained_at).total_seconds() == 3600
    target = Target(authority.mcp, {"Authorization": "Bearer older"}, token.value)
    found = await detect(client, target)
    assert found.problems == {}
    for facts in found.found.values():
        assert len((await walk(client, target, facts)).tools) == 1


async def test_a_server_that_refuses_says_what_it_wants(client: WireClient, authority: AuthorityProcess) -> None:
    found = await detect(client, Target(authority.mcp))
    error = found.problems[Era.MODERN]
    assert isinstance(error, UnauthorizedError)
    assert error.challenge is not None
    assert error.challenge.error == "invalid_token"
    assert error.challenge.resource_metadata is not None
    assert error.challenge.resource_metadata in (error.hint or "")
    authority.behave(scopes="other")
    token = await obtain(client, authority.mcp, authority.secret())
    refused = (await detect(client, Target(authority.mcp, token=token.value))).problems[Era.MODERN]
    assert isinstance(refused, ForbiddenServerError)
    assert refused.challenge is not None
    assert refused.challenge.error == "insufficient_scope"


async def test_our_scopes_are_asked_for_whatever_the_server_names(
    client: WireClient, authority: AuthorityProcess
) -> None:
    challenge = Challenge("Bearer", scope="everything")
    assert (await obtain(client, authority.mcp, authority.secret("mine", "too"), challenge)).scopes == ("mine", "too")
    assert (await obtain(client, authority.mcp, authority.secret(), challenge)).scopes == ("everything",)


async def test_a_token_without_an_end_has_none(client: WireClient, authority: AuthorityProcess) -> None:
    authority.behave(life=None)
    assert (await obtain(client, authority.mcp, authority.secret())).expires_at is None


async def test_a_refused_credential_is_told_in_the_authorization_servers_words(
    client: WireClient, authority: AuthorityProcess
) -> None:
    for wrong in (authority.secret(client_secret="wrong"), authority.key(private_key=pem()[0])):
        with pytest.raises(TokenRefusedError) as caught:
            await obtain(client, authority.mcp, wrong)
        assert caught.value.oauth_error == "invalid_client"
        assert "invalid_client: unknown <client>" in caught.value.message
        assert "wrong" not in str(caught.value.message)


@pytest.mark.parametrize(
    ("option", "words"),
    [("fail", "answered 503"), ("nonsense", "cannot be sent in a header"), ("redirect", "elsewhere.invalid")],
)
async def test_an_authorization_server_out_of_order_is_no_refusal(
    client: WireClient, authority: AuthorityProcess, option: str, words: str
) -> None:
    authority.behave(token=option)
    with pytest.raises(NoTokenError, match=words):
        await obtain(client, authority.mcp, authority.secret())


async def test_a_secret_goes_only_to_its_own_issuer(client: WireClient, authority: AuthorityProcess) -> None:
    before = len(authority.seen()["tokens"])
    with pytest.raises(NoTokenError, match="mismatch"):
        await obtain(client, authority.mcp, authority.secret(issuer="http://127.0.0.1:1/other"))
    authority.behave(issuer="http://127.0.0.1:1/other")
    with pytest.raises(NoTokenError, match="mismatch"):
        await obtain(client, authority.mcp, authority.secret())
    assert len(authority.seen()["tokens"]) == before


@pytest.mark.parametrize("host", ["169.254.169.254", "10.0.0.1", "[::1]"])
async def test_metadata_in_guarded_space_is_not_fetched(
    client: WireClient, authority: AuthorityProcess, host: str
) -> None:
    """The challenge's URL is hostile; the well-known place of the server itself is asked instead."""
    challenge = Challenge("Bearer", resource_metadata=f"http://{host}/latest/meta-data")
    assert (await obtain(client, authority.mcp, authority.secret("tools:read"), challenge)).scopes == ("tools:read",)


async def test_an_issuer_in_guarded_space_is_told_as_such(client: WireClient, hostile: HostileServer) -> None:
    issuer = "http://10.0.0.1"
    played = hostile.play(lambda call: JSONResponse({"resource": played.url, "authorization_servers": [issuer]}))
    with pytest.raises(NoTokenError, match="not a public address") as caught:
        await obtain(
            client, played.url, ClientSecret(issuer, "us", "x"), Challenge("Bearer", resource_metadata=played.url)
        )
    assert "DRIFTWATCH_ALLOW_NETWORKS" in (caught.value.hint or "")


async def test_proxies_of_the_environment_are_ignored(
    client: WireClient, authority: AuthorityProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert await obtain(client, authority.mcp, authority.key())


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b'{"resource": "http://x", "authorization_servers": ["http://["]}',
        b"\xff",
        b"null",
        b'"' + b"x" * 300_000 + b'"',
    ],
    ids=["open", "deep", "no-url", "no-utf8", "null", "large"],
)
async def test_hostile_metadata_is_a_named_failure(client: WireClient, hostile: HostileServer, body: bytes) -> None:
    played = hostile.play(lambda call: Response(body, media_type="application/json"))
    grant = ClientSecret("https://auth.example.com", "us", "x")
    with pytest.raises(NoTokenError):
        await obtain(client, played.url, grant, Challenge("Bearer", resource_metadata=played.url))
