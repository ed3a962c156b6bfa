"""A fake Slack, and what deliveries need of the services."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from builders.world import Services, World
from cryptography.fernet import Fernet

from driftwatch.alerts.default_channel import ensure_default_channel
from driftwatch.db.engine import Database
from driftwatch.servers.secrets import SecretBox
from driftwatch.settings import Settings
from driftwatch.testing.fake_slack import FakeSlack, serve


@pytest.fixture
def fake() -> FakeSlack:
    return FakeSlack()


@pytest.fixture
async def slack_url(fake: FakeSlack) -> AsyncIterator[str]:
    async with serve(fake) as url:
        yield url


@pytest.fixture
def services(db: Database, slack_url: str) -> Services:
    settings = Settings.model_validate(
        {"slack_webhook_url": slack_url, "slack_allow_hosts": ("127.0.0.1",), "base_url": "https://drift.example"}
    )
    return Services(db, settings, SecretBox([Fernet.generate_key()]))


@pytest.fixture
async def quiet_world(services: Services) -> World:
    """A world without any channel."""
    return World(services)


@pytest.fixture
async def world(services: Services) -> World:
    """A world with the default channel."""
    async with services.db.transaction() as session:
        await ensure_default_channel(session, services.settings, services.secrets)
    return World(services)
