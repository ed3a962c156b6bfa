"""What the fake Slack keeps: messages and dialogs that Slack would show, and what broke a limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """A message that Slack would show. ``body`` is the payload as it reads now; ``ts`` names it as Slack does.

    ``thread``: the ts of the message it replies to. ``edits``: how often it was updated. ``app``: an app posted it.
    """

    ts: str
    channel: str
    at: datetime
    size: int
    body: Mapping[str, Any]
    thread: str | None = None
    edits: int = 0
    app: bool = False

    @property
    def delivery_id(self) -> str | None:
        """The sender's own id, from the message's metadata."""
        metadata = self.body.get("metadata")
        payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
        found = payload.get("delivery_id") if isinstance(payload, dict) else None
        return None if found is None else str(found)

    @property
    def buttons(self) -> dict[str, Mapping[str, Any]]:
        """Its buttons by their text."""
        return {str(b["text"]["text"]): b for b in self._elements() if b.get("type") == "button"}

    def _elements(self) -> Iterator[Mapping[str, Any]]:
        for block in self.body.get("blocks") or []:
            if block.get("type") == "actions":
                yield from block["elements"]

    def as_json(self) -> dict[str, Any]:
        """The payload with what Slack knows about it."""
        return {
            "text": "",
            "blocks": [],
            **self.body,
            "ts": self.ts,
            "thread_ts": self.thread,
            "edits": self.edits,
            "channel": self.channel,
            "received_at": self.at.isoformat(),
            "delivery_id": self.delivery_id,
        }


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog that an app opened. ``view`` as it was sent."""

    id: str
    view: Mapping[str, Any]

    def unfilled(self, filled: Mapping[str, str]) -> list[str]:
        """The fields that Slack would not let anybody leave empty."""
        inputs = [block for block in self.view["blocks"] if block.get("type") == "input"]
        return [str(b["block_id"]) for b in inputs if not b.get("optional") and not filled.get(str(b["block_id"]))]


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that broke a limit. ``error`` is Slack's word, ``why`` is for people."""

    at: str
    channel: str
    error: str
    why: str
