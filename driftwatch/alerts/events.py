"""The typed, versioned events that webhooks send. Pure. docs/webhooks holds their JSON Schemas; a test compares.

Within a version fields are only added. Titles, tool names and sentences may hold text from watched servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from driftwatch.alerts import words
from driftwatch.alerts.channels.answer import Sending
from driftwatch.alerts.message import Message, Told
from driftwatch.announcement.guide import how_to_announce
from driftwatch.safe_text import safe_text

VERSION: Final = 1


class ServerData(msgspec.Struct, frozen=True):
    """The server an event is about."""

    id: int
    name: str
    owner: str | None
    tags: tuple[str, ...]


class AlertData(msgspec.Struct, frozen=True):
    """The alert as it is after the event. ``kind``: drift or not-watching."""

    id: int
    kind: str
    state: str
    severity: str
    title: str
    url: str


class ChangeData(msgspec.Struct, frozen=True):
    """A change the alert tells of. ``line``: the policy line that decided; ``sentences``: what changed, in words.

    ``announcement_help``: where it says what the server's author can do, for a change that was not announced.
    """

    id: int
    tool: str
    era: str
    kind: str
    from_version: int | None
    to_version: int | None
    verdict: str | None
    via: str | None
    part: str | None
    announcement: str | None
    announcement_reason: str | None
    outcome: str
    line: str
    window_start: datetime
    window_end: datetime
    sentences: tuple[str, ...]
    url: str
    announcement_help: str | None = None


class Drift(msgspec.Struct, frozen=True):
    """Something that happened to a drift alert. ``actor``: who did it; driftwatch itself where no person did."""

    server: ServerData
    alert: AlertData
    changes: tuple[ChangeData, ...]
    actor: str
    reason: str | None = None


class BlindData(msgspec.Struct, frozen=True):
    """A server that cannot be watched, or can be again. ``code``: why not, for example unauthorized."""

    id: int
    name: str
    owner: str | None
    code: str
    since: datetime
    says: str


class NotWatching(msgspec.Struct, frozen=True):
    """Servers that cannot be watched any more, or that can be watched again."""

    servers: tuple[BlindData, ...]


class Summary(msgspec.Struct, frozen=True):
    """What changed and needed nobody at once: the day's, or a server's that had too much to tell in an hour."""

    title: str
    text: str
    url: str | None


EVENTS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "drift.opened": Drift,
    "drift.updated": Drift,
    "drift.reopened": Drift,
    "drift.amended": Drift,
    "drift.reminded": Drift,
    "drift.acknowledged": Drift,
    "drift.accepted": Drift,
    "drift.muted": Drift,
    "drift.settled": Drift,
    "drift.reverted": Drift,
    "drift.told": Drift,
    "drift.digest": Summary,
    "not-watching": NotWatching,
    "still-not-watching": NotWatching,
    "watching-again": NotWatching,
    "summary": Summary,
    "test": Summary,
}


def change_data(told: Told, public_url: str) -> ChangeData:
    """A change with what the policy said about it."""
    change = told.change
    guide = how_to_announce(change.announcement, change.announcement_reason)
    return ChangeData(
        id=change.id,
        tool=change.tool,
        era=change.era,
        kind=change.kind,
        from_version=change.from_version,
        to_version=change.to_version,
        verdict=change.verdict,
        via=change.via,
        part=change.part,
        announcement=change.announcement,
        announcement_reason=change.announcement_reason,
        outcome=told.outcome,
        line=told.line,
        window_start=change.window[0],
        window_end=change.window[1],
        sentences=tuple(words.sentences(change)),
        url=f"{public_url}/changes/{change.id}",
        announcement_help=None if guide is None else f"{public_url}{guide}",
    )


def to_data(event: msgspec.Struct) -> dict[str, Any]:
    """The event as it is stored in the outbox."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    return built


def summary_of(message: Message) -> dict[str, Any]:
    """A message as data, for events that are nothing but words."""
    text = "\n".join(paragraph.text for paragraph in message.paragraphs)
    return to_data(Summary(message.title, text, message.links[0].url if message.links else None))


def body_of(sending: Sending, now: datetime) -> dict[str, Any]:
    """The body of a webhook. ``timestamp``: of this attempt; the event's own times are in its data."""
    data = summary_of(sending.message) if sending.data is None else sending.data
    return {"type": sending.event, "version": VERSION, "timestamp": now.isoformat(), "data": _storable(data)}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of every event's body, by type."""
    return {name: _schema(name, data) for name, data in EVENTS.items()}


def _schema(name: str, data: type[msgspec.Struct]) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components([data], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}, version {VERSION}",
        "type": "object",
        "required": ["type", "version", "timestamp", "data"],
        "properties": {
            "type": {"const": name},
            "version": {"const": VERSION},
            "timestamp": {"type": "string", "format": "date-time"},
            "data": schema,
        },
        "$defs": components,
    }


def _storable(value: Any) -> Any:
    """Text without lone surrogates: they cannot be sent as UTF-8, and ASCII escapes of them break receivers."""
    if isinstance(value, str):
        return value if value.isprintable() else safe_text(value)
    if isinstance(value, Mapping):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_storable(item) for item in value]
    return value
