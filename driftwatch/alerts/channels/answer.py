"""What a channel answered to one attempt, in the outbox's four words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from driftwatch.alerts.message import Message
from driftwatch.alerts.notice import Action

#: delivered; transient: try again later; message-permanent: this message will never be taken;
#: channel-permanent: nothing will ever be taken until a person repairs the channel
Outcome = Literal["delivered", "transient", "message-permanent", "channel-permanent"]
Form = Literal["full", "minimal"]


@dataclass(frozen=True, slots=True)
class Thread:
    """Where an alert's first message stands in a channel that can edit it and thread below it."""

    conversation: str
    ts: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of an attempt. ``error``: a stable word or the exception; ``retry_after``: seconds, as asked.

    ``thread``: where a new first message of an alert stands.
    """

    outcome: Outcome
    status: int | None = None
    body: str | None = None
    error: str | None = None
    retry_after: float | None = None
    thread: Thread | None = None


@dataclass(frozen=True, slots=True)
class Sending:
    """One attempt of a delivery. ``delivery_id`` is the same for every attempt; ``attempt`` counts from 1.

    ``data`` is the typed event for channels that take data; ``thread`` where the alert's first message stands, if any.
    """

    message: Message
    delivery_id: str
    event: str = "test"
    form: Form = "full"
    action: Action = "post"
    data: Mapping[str, Any] | None = None
    thread: Thread | None = None
    attempt: int = 1


class Transport(Protocol):
    """Sends messages to channels of one kind; shared by all of them and never raises for a bad answer."""

    async def send(self, config: bytes, sending: Sending) -> Answer:
        """Render and send a message once. ``config`` is the channel's opened secret."""

    async def close(self) -> None:
        """Close what is shared."""
