"""The channel that comes from a setting: DRIFTWATCH_SLACK_WEBHOOK_URL."""

from __future__ import annotations

from typing import Final, Protocol

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import channel_store as store
from driftwatch.alerts.notice import SLACK_WEBHOOK
from driftwatch.alerts.tables import Channel
from driftwatch.errors import DriftwatchError
from driftwatch.settings import Settings

NAME: Final = "slack"
UNSET: Final = "DRIFTWATCH_SLACK_WEBHOOK_URL is not set any more"


class Box(Protocol):
    """Seals and opens a channel's configuration (see servers.secrets.SecretBox)."""

    def seal(self, plain: bytes) -> tuple[bytes, str]:
        """The ciphertext and the id of the key."""

    def open(self, ciphertext: bytes) -> bytes:
        """The plain bytes."""


async def ensure_default_channel(session: AsyncSession, settings: Settings, secrets: Box) -> Channel | None:
    """Make the default channel what the setting says; called when a process starts.

    A new URL replaces the stored one and puts the channel back into service. Without a URL the channel, if there is
    one, is disabled. None: there is no channel, so alerts open but nobody is told.
    """
    channel = await store.channel_named(session, NAME)
    if settings.slack_webhook_url is None:
        if channel is not None and channel.state == "enabled":
            channel.state, channel.disabled_reason = "disabled", UNSET
            store.audit(session, "channel.disabled", NAME, after={"reason": UNSET})
        return channel
    url = settings.slack_webhook_url.get_secret_value().strip().encode()
    if channel is None:
        return await store.add_channel(session, NAME, SLACK_WEBHOOK, secrets.seal(url)[0])
    if _opened(secrets, channel.config) != url:
        channel.config = secrets.seal(url)[0]
        channel.state, channel.disabled_reason = "enabled", None
        store.audit(session, "channel.replaced", NAME, after=None)
    elif channel.disabled_reason == UNSET:
        channel.state, channel.disabled_reason = "enabled", None
        store.audit(session, "channel.enabled", NAME, after=None)
    return channel


def _opened(secrets: Box, config: bytes) -> bytes | None:
    try:
        return secrets.open(config)
    except DriftwatchError:
        return None
