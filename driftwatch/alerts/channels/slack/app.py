"""A Slack app's bot token: messages with buttons, threads below them, and the first message edited as things go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import aiohttp
import msgspec
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from driftwatch.alerts.channels.answer import Answer, Sending, Thread
from driftwatch.alerts.channels.config import AppConfig
from driftwatch.alerts.channels.slack import answers, blocks
from driftwatch.alerts.channels.slack.session import FAILURES, MUTE, RedirectedError, SlackSession, failed
from driftwatch.errors import InputError

#: how many of the channel's newest messages are looked through for our own delivery id
_LOOKED_AT: Final = 200


class SlackApps:
    """The transport of every channel of kind ``slack-app``. ``api_url`` ends with a slash."""

    def __init__(self, session: SlackSession, api_url: str) -> None:
        self._session = session
        self._api_url = api_url

    async def send(self, config: bytes, sending: Sending) -> Answer:
        """Post, reply or edit, once. Retries belong to the outbox.

        A repeated attempt first looks whether the one before arrived: a worker may have died before it could say so.
        """

        async def attempt(client: AsyncWebClient, app: AppConfig) -> Answer:
            found = await self._arrived(client, app, sending) if sending.attempt > 1 else None
            return found or await self._send(client, app, sending)

        return await self._asked(config, attempt)

    async def open_dialog(self, config: bytes, trigger: str, view: Mapping[str, Any]) -> Answer:
        """Open a dialog for whoever pressed a button; Slack takes ``trigger`` for three seconds after the press."""

        async def attempt(client: AsyncWebClient, app: AppConfig) -> Answer:
            response = await client.views_open(trigger_id=trigger, view=dict(view))
            return Answer("delivered", status=response.status_code)

        return await self._asked(config, attempt)

    async def _asked(self, config: bytes, attempt: Callable[[AsyncWebClient, AppConfig], Awaitable[Answer]]) -> Answer:
        app = msgspec.json.decode(config, type=AppConfig)
        try:
            self._session.check(self._api_url)
        except InputError as error:
            return Answer("channel-permanent", error="blocked-host", body=error.message)
        client = AsyncWebClient(
            token=app.token, base_url=self._api_url, session=self._session.open(), retry_handlers=[], logger=MUTE
        )
        client.proxy = None  # the constructor takes one from the environment
        try:
            return await attempt(client, app)
        except SlackApiError as error:
            return _refused(error)
        except (RedirectedError, *FAILURES) as error:
            return failed(error)

    async def close(self) -> None:
        """Close the shared session."""
        await self._session.close()

    async def _send(self, client: AsyncWebClient, app: AppConfig, sending: Sending) -> Answer:
        body = blocks.render(sending.message, delivery_id=sending.delivery_id, form=sending.form, buttons=True)
        thread = sending.thread
        if thread is not None and sending.action == "update":
            for name in ("unfurl_links", "unfurl_media", "metadata"):  # the message keeps the id it was posted under
                body.pop(name)
            body.setdefault("blocks", [])
            response = await client.chat_update(channel=thread.conversation, ts=thread.ts, **body)
        elif thread is not None and sending.action in {"reply", "broadcast"}:
            broadcast = sending.action == "broadcast"
            response = await client.chat_postMessage(
                channel=thread.conversation, thread_ts=thread.ts, reply_broadcast=broadcast, **body
            )
        else:  # also a reply whose first message never arrived: it stands on its own rather than nowhere
            response = await client.chat_postMessage(channel=app.conversation, **body)
            thread = Thread(str(response.get("channel")), str(response.get("ts")))
        return Answer("delivered", status=response.status_code, body=_shown(response.data), thread=thread)

    async def _arrived(self, client: AsyncWebClient, app: AppConfig, sending: Sending) -> Answer | None:
        """The answer of an earlier attempt that was taken, found by our id in the messages' metadata."""
        if sending.action == "update":
            return None  # to edit twice changes nothing
        thread = sending.thread
        try:
            if thread is None:
                # history wants the conversation's id; a name was resolved when the channel was made
                found = await client.conversations_history(
                    channel=app.conversation, include_all_metadata=True, limit=_LOOKED_AT
                )
            else:
                found = await client.conversations_replies(
                    channel=thread.conversation, ts=thread.ts, include_all_metadata=True, limit=1000
                )
        except SlackApiError as error:
            if _word(error) in {"missing_scope", "not_in_channel", "thread_not_found"}:
                return None  # the app may not look: better twice than never
            raise
        for message in found.get("messages") or []:
            if _delivery_id(message) == sending.delivery_id:
                place = thread or Thread(str(found.get("channel") or app.conversation), str(message.get("ts")))
                return Answer("delivered", status=200, body="found: it arrived before", thread=place)
        return None


def _delivery_id(message: Any) -> str | None:
    metadata = message.get("metadata") if isinstance(message, dict) else None
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    found = payload.get("delivery_id") if isinstance(payload, dict) else None
    return None if found is None else str(found)


def _refused(error: SlackApiError) -> Answer:
    response = error.response
    if isinstance(response, aiohttp.ClientResponse):  # the SDK's error for an answer that is no JSON: no words of Slack
        return answers.read(response.status, "", response.headers.get("Retry-After"))
    word = msgspec.json.encode({"ok": False, "error": response.get("error")}).decode()
    return answers.read(response.status_code, word, response.headers.get("Retry-After"))


def _word(error: SlackApiError) -> str:
    return "" if isinstance(error.response, aiohttp.ClientResponse) else str(error.response.get("error"))


def _shown(data: Any) -> str:
    """What is kept of an answer: not the message it repeats."""
    kept = {key: data.get(key) for key in ("ok", "channel", "ts")} if isinstance(data, dict) else {}
    return msgspec.json.encode(kept).decode()
