from __future__ import annotations

from dataclasses import replace

from builders.world import Services
from cryptography.fernet import Fernet
from pydantic import SecretStr

from driftwatch.alerts import delivery_read
from driftwatch.alerts.default_channel import UNSET, ensure_default_channel
from driftwatch.servers.secrets import SecretBox

URL = "https://hooks.slack.com/services/T0/B0/s3cret"


def with_url(services: Services, url: str | None) -> Services:
    secret = None if url is None else SecretStr(url)
    return replace(services, settings=services.settings.model_copy(update={"slack_webhook_url": secret}))


async def ensure(services: Services) -> tuple[str, str | None, bytes] | None:
    async with services.db.transaction() as session:
        channel = await ensure_default_channel(session, services.settings, services.secrets)
        return None if channel is None else (channel.state, channel.disabled_reason, channel.config)


async def test_without_a_setting_there_is_no_channel(services: Services) -> None:
    assert await ensure(with_url(services, None)) is None


async def test_the_url_is_stored_sealed_and_kept(services: Services) -> None:
    first = await ensure(with_url(services, URL))
    assert first is not None
    state, reason, config = first
    assert (state, reason) == ("enabled", None)
    assert b"s3cret" not in config
    assert services.secrets.open(config) == URL.encode()
    assert await ensure(with_url(services, URL)) == first


async def test_another_url_replaces_it_and_enables_it(services: Services) -> None:
    await ensure(with_url(services, URL))
    async with services.db.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE channel SET state = 'disabled', disabled_reason = 'no_service'")
    still = await ensure(with_url(services, URL))
    assert still is not None
    assert still[0] == "disabled", "the same URL does not repair a revoked webhook"
    replaced = await ensure(with_url(services, URL + "2"))
    assert replaced is not None
    assert replaced[:2] == ("enabled", None)
    assert services.secrets.open(replaced[2]) == (URL + "2").encode()


async def test_a_setting_that_is_gone_disables_and_one_that_is_back_enables(services: Services) -> None:
    await ensure(with_url(services, URL))
    gone = await ensure(with_url(services, None))
    assert gone is not None
    assert gone[:2] == ("disabled", UNSET)
    back = await ensure(with_url(services, URL))
    assert back is not None
    assert back[:2] == ("enabled", None)


async def test_a_new_key_seals_the_url_again(services: Services) -> None:
    await ensure(with_url(services, URL))
    other = replace(services, secrets=SecretBox([Fernet.generate_key()]))
    sealed = await ensure(with_url(other, URL))
    assert sealed is not None
    assert other.secrets.open(sealed[2]) == URL.encode()


async def test_one_channel_is_listed_without_its_secret(services: Services) -> None:
    await ensure(with_url(services, URL))
    async with services.db.transaction() as session:
        (channel,) = await delivery_read.channels(session)
    assert (channel.name, channel.kind, channel.state, channel.waiting) == ("slack", "slack-webhook", "enabled", 0)
    assert "s3cret" not in repr(channel)
