"""What is to be told, before it is split into deliveries: one call to a channel each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from driftwatch.alerts.message import Message
from driftwatch.alerts.routes import Facts

#: post: a message of its own; reply, broadcast: into the alert's thread; update: the alert's first message anew
Action = Literal["post", "reply", "broadcast", "update"]

WEBHOOK: Final = "webhook"
SLACK_WEBHOOK: Final = "slack-webhook"
SLACK_APP: Final = "slack-app"
#: the event of a judgement that was put right
AMENDED: Final = "drift.amended"
KINDS: Final = (SLACK_WEBHOOK, SLACK_APP, WEBHOOK)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened, as channels may tell it.

    ``group`` names it: a second notice of the same group adds nothing. Messages of one ``ordering`` reach a channel in
    order. ``loud``: people must hear of it; else only channels that edit or collect events take it. ``parent``: how
    the alert's first message reads now. ``thread``: what follows below a new first message. ``data``: the typed event.
    """

    event: str
    group: str
    ordering: str
    message: Message
    facts: Facts
    alert_id: int | None = None
    server_id: int | None = None
    loud: bool = True
    rising: bool = False
    parent: Message | None = None
    thread: tuple[Message, ...] = ()
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """One delivery. ``key`` tells the parcels of one notice for one channel apart; the first has none."""

    action: Action
    message: Message
    key: str = ""


def parcels(kind: str, notice: Notice, *, has_parent: bool) -> tuple[Parcel, ...]:
    """What one channel is sent. ``has_parent``: it was sent the alert's first message before."""
    if kind == WEBHOOK:
        return (Parcel("post", notice.message),)
    if kind == SLACK_APP and notice.alert_id is not None:
        return _threaded(notice, has_parent=has_parent)
    return (Parcel("post", notice.message),) if notice.loud else ()


def _threaded(notice: Notice, *, has_parent: bool) -> tuple[Parcel, ...]:
    if has_parent:
        updates = () if notice.parent is None else (Parcel("update", notice.parent, ":parent"),)
        if notice.event == AMENDED:
            return updates  # later evidence edits what was said, it says nothing more
        return (Parcel("broadcast" if notice.rising else "reply", notice.message), *updates)
    if not notice.loud:
        return ()
    first = Parcel("post", notice.parent or notice.message)
    return (first, *(Parcel("reply", message, f":{number}") for number, message in enumerate(notice.thread, 1)))
