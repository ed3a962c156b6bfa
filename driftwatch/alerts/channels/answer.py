"""What a channel answered to one attempt, in the outbox's four words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from driftwatch.alerts.message import Message

#: delivered; transient: try again later; message-permanent: this message will never be taken;
#: channel-permanent: nothing will ever be taken until a person repairs the channel
Outcome = Literal["delivered", "transient", "message-permanent", "channel-permanent"]
Form = Literal["full", "minimal"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of an attempt. ``error``: a stable word or the exception; ``retry_after``: seconds, as asked."""

    outcome: Outcome
    status: int | None = None
    body: str | None = None
    error: str | None = None
    retry_after: float | None = None


class Transport(Protocol):
    """Sends messages to channels of one kind; shared by all of them and never raises for a bad answer."""

    async def send(self, config: bytes, message: Message, *, delivery_id: str, form: Form) -> Answer:
        """Render and send a message once. ``config`` is the channel's opened secret."""

    async def close(self) -> None:
        """Close what is shared."""
