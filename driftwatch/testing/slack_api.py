"""The part of Slack's web API that an app which posts alerts uses, as the fake answers it.

    chat.postMessage, chat.update, conversations.history, conversations.replies, views.open, auth.test

A token is any ``xoxb-…``; one that contains ``revoked`` is answered with token_revoked. A conversation is any id; one
that contains ``GONE`` is answered with channel_not_found. A press hands out a trigger, which opens one dialog.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableSequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from driftwatch.testing import slack_limits
from driftwatch.testing.slack_received import Dialog, Received, Refused

_TICKS: Final = count(1)
#: what an update may replace
_EDITABLE: Final = ("text", "blocks", "metadata")


class WebApi:
    """Answers calls over the fake's inbox. ``trigger_seconds``: how long a trigger opens a dialog."""

    def __init__(
        self,
        messages: MutableSequence[Received],
        refused: MutableSequence[Refused],
        dialogs: MutableSequence[Dialog],
        *,
        trigger_seconds: float,
    ) -> None:
        self._messages = messages
        self._refused = refused
        self._dialogs = dialogs
        self._trigger_seconds = trigger_seconds
        self._triggers = dict[str, float]()

    def trigger(self) -> str:
        """What comes with a press and opens one dialog."""
        name = f"{next(_TICKS)}.T0.{time.time_ns():x}"
        self._triggers[name] = time.monotonic()
        return name

    def call(self, method: str, token: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Slack's answer: ``{"ok": true, …}`` or ``{"ok": false, "error": …}``."""
        if not token.startswith("xoxb-"):
            return _no("not_authed" if not token else "invalid_auth")
        if "revoked" in token:
            return _no("token_revoked")
        if method == "auth.test":
            return {"ok": True, "team": "Fake", "user": "driftwatch", "bot_id": "B0"}
        if method == "views.open":
            return self._open(given)
        channel = str(given.get("channel") or "")
        if not channel or "GONE" in channel:
            return _no("channel_not_found")
        calls = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
        }
        found = calls.get(method)
        return _no("unknown_method") if found is None else found(channel, given)

    def _post(self, channel: str, given: Mapping[str, Any]) -> dict[str, Any]:
        thread = given.get("thread_ts")
        if thread is not None and self._at(channel, str(thread)) is None:
            return _no("thread_not_found")
        refusal = self._refusal(channel, given)
        if refusal is not None:
            return refusal
        now = datetime.now(UTC)
        # two messages of one moment have different names, as with Slack
        ts = f"{int(time.time())}.{next(_TICKS) % 1_000_000:06d}"
        size = slack_limits.characters(given.get("blocks") or [])
        body = {key: value for key, value in given.items() if key not in {"channel", "token"}}
        self._messages.append(
            Received(ts, channel, now, size, body, thread=None if thread is None else str(thread), app=True)
        )
        return {"ok": True, "channel": channel, "ts": ts, "message": {"text": given.get("text", ""), "ts": ts}}

    def _update(self, channel: str, given: Mapping[str, Any]) -> dict[str, Any]:
        ts = str(given.get("ts"))
        index = self._at(channel, ts)
        if index is None:
            return _no("message_not_found")
        refusal = self._refusal(channel, given)
        if refusal is not None:
            return refusal
        old = self._messages[index]
        body = {**old.body, **{key: given[key] for key in _EDITABLE if key in given}}
        size = slack_limits.characters(body.get("blocks") or [])
        self._messages[index] = replace(old, body=body, size=size, edits=old.edits + 1)
        return {"ok": True, "channel": channel, "ts": ts, "text": str(body.get("text", ""))}

    def _history(self, channel: str, given: Mapping[str, Any]) -> dict[str, Any]:
        limit = int(given.get("limit") or 100)
        found = [m for m in reversed(self._messages) if m.channel == channel and m.thread is None][:limit]
        return {"ok": True, "messages": [_shown(m, given) for m in found], "has_more": False}

    def _replies(self, channel: str, given: Mapping[str, Any]) -> dict[str, Any]:
        ts = str(given.get("ts"))
        if self._at(channel, ts) is None:
            return _no("thread_not_found")
        found = [m for m in self._messages if m.channel == channel and ts in {m.ts, m.thread}]
        return {"ok": True, "messages": [_shown(m, given) for m in found], "has_more": False}

    def _open(self, given: Mapping[str, Any]) -> dict[str, Any]:
        handed_out = self._triggers.pop(str(given.get("trigger_id")), None)
        if handed_out is None:
            return _no("invalid_trigger_id")
        if time.monotonic() - handed_out > self._trigger_seconds:
            return _no("expired_trigger_id")
        view = given.get("view")
        found = slack_limits.refusal_of_view(view)
        if found is not None or not isinstance(view, Mapping):
            error, why = found or ("invalid_arguments", "no view")
            self._refused.append(Refused(datetime.now(UTC).isoformat(), "a dialog", error, why))
            return _no(error)
        dialog = Dialog(f"V{next(_TICKS)}", dict(view))
        self._dialogs.append(dialog)
        return {"ok": True, "view": {**view, "id": dialog.id, "hash": dialog.id}}

    def _at(self, channel: str, ts: str) -> int | None:
        found = (i for i, m in enumerate(self._messages) if (m.channel, m.ts) == (channel, ts))
        return next(found, None)

    def _refusal(self, channel: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
        found = slack_limits.refusal({key: value for key, value in given.items() if key != "channel"})
        if found is None:
            return None
        error, why = found
        self._refused.append(Refused(datetime.now(UTC).isoformat(), channel, error, why))
        return _no(error)


def _shown(message: Received, given: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"type": "message", "text": message.body.get("text", ""), "ts": message.ts}
    wants = str(given.get("include_all_metadata", "")).lower() in {"true", "1"}
    if message.thread is not None:
        shown["thread_ts"] = message.thread
    return shown | ({"metadata": message.body["metadata"]} if wants and "metadata" in message.body else {})


def _no(error: str) -> dict[str, Any]:
    return {"ok": False, "error": error}
