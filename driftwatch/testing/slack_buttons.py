"""Presses a button and sends a dialog the way Slack does: a signed form with one JSON field."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import httpx2
from slack_sdk.signature import SignatureVerifier

if TYPE_CHECKING:
    from driftwatch.testing.slack_received import Dialog, Received


@dataclass(frozen=True, slots=True)
class User:
    """Who presses."""

    id: str = "U0MEI"
    name: str = "mei"


MEI: Final = User()


def pressed(message: Received, button: Mapping[str, Any], user: User, trigger: str) -> dict[str, Any]:
    """What Slack sends when a button is pressed, as far as an app needs it."""
    return {
        "type": "block_actions",
        "user": _user(user),
        "trigger_id": trigger,
        "team": {"id": "T0", "domain": "fake"},
        "channel": {"id": message.channel, "name": "alerts"},
        "container": {"type": "message", "message_ts": message.ts, "channel_id": message.channel},
        "message": {"ts": message.ts, "text": message.body.get("text", "")},
        "actions": [
            {
                "type": "button",
                "action_id": button.get("action_id"),
                "value": button.get("value"),
                "action_ts": f"{time.time():.6f}",
            }
        ],
    }


def submitted(dialog: Dialog, filled: Mapping[str, str], user: User) -> dict[str, Any]:
    """What Slack sends when a dialog is sent. Raises ValueError where Slack's own window would not let it go."""
    if missing := dialog.unfilled(filled):
        raise ValueError(f"Slack asks for {', '.join(missing)} first")
    inputs = [block for block in dialog.view["blocks"] if block.get("type") == "input"]
    values = {
        block["block_id"]: {
            block["element"]["action_id"]: {
                "type": block["element"]["type"],
                "value": filled.get(block["block_id"]) or None,
            }
        }
        for block in inputs
    }
    view = {**dialog.view, "id": dialog.id, "hash": dialog.id, "state": {"values": values}}
    return {"type": "view_submission", "user": _user(user), "team": {"id": "T0", "domain": "fake"}, "view": view}


def _user(user: User) -> dict[str, str]:
    return {"id": user.id, "username": user.name, "name": user.name, "team_id": "T0"}


async def post(interaction: Mapping[str, Any], url: str, secret: str, *, age: float = 0.0) -> tuple[int, str]:
    """POST a signed interaction; the status and body of the answer. ``age``: seconds since Slack signed it."""
    body = urlencode({"payload": json.dumps(interaction)})
    stamp = str(int(time.time() - age))
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body) or "",
    }
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.post(url, content=body, headers=headers)
        return answer.status_code, answer.text
