"""Slack's incoming webhooks through slack-sdk: they take a message and answer ``ok``, nothing more."""

from __future__ import annotations

from slack_sdk.webhook.async_client import AsyncWebhookClient

from driftwatch.alerts.channels.answer import Answer, Sending
from driftwatch.alerts.channels.slack import answers, blocks
from driftwatch.alerts.channels.slack.session import FAILURES, MUTE, RedirectedError, SlackSession, failed
from driftwatch.errors import InputError


class SlackWebhooks:
    """The transport of every channel of kind ``slack-webhook``."""

    def __init__(self, session: SlackSession) -> None:
        self._session = session

    async def send(self, config: bytes, sending: Sending) -> Answer:
        """POST a message to the webhook URL in ``config``, once. Retries belong to the outbox."""
        url = config.decode()
        try:
            self._session.check(url)
        except InputError as error:
            return Answer("channel-permanent", error="blocked-host", body=error.message)
        client = AsyncWebhookClient(url, session=self._session.open(), retry_handlers=[], logger=MUTE)
        client.proxy = None  # the constructor takes one from the environment
        body = blocks.render(sending.message, delivery_id=sending.delivery_id, form=sending.form)
        try:
            response = await client.send_dict(body)
        except (RedirectedError, *FAILURES) as error:
            return failed(error)
        return answers.read(response.status_code, response.body, response.headers.get("Retry-After"))

    async def close(self) -> None:
        """Close the shared session."""
        await self._session.close()
