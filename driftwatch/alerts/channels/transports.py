"""One transport per kind of channel, shared by all channels of the kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from driftwatch.alerts.channels.answer import Transport
from driftwatch.alerts.channels.slack.app import SlackApps
from driftwatch.alerts.channels.slack.session import SlackSession
from driftwatch.alerts.channels.slack.webhook import SlackWebhooks
from driftwatch.alerts.channels.webhook.transport import Webhooks
from driftwatch.alerts.notice import SLACK_APP, SLACK_WEBHOOK, WEBHOOK
from driftwatch.settings import Settings
from driftwatch.wire.client import WireClient


class _WallClock:
    """Webhooks are signed with the wall clock: the receiver compares it with its own."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@asynccontextmanager
async def open_transports(settings: Settings) -> AsyncIterator[Mapping[str, Transport]]:
    """The transports, by kind, closed at the end."""
    slack = SlackSession(settings)
    try:
        async with WireClient(settings, _WallClock()) as wire:
            yield {
                SLACK_WEBHOOK: SlackWebhooks(slack),
                SLACK_APP: SlackApps(slack, settings.slack_api_url),
                WEBHOOK: Webhooks(wire),
            }
    finally:
        await slack.close()
