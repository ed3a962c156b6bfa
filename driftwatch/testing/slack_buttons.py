"""Presses a button the way Slack does: a signed form with one JSON field."""

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
    from driftwatch.testing.slack_received import Received


@dataclass(frozen=True, slots=True)
class User:
    """Who presses."""

    id: str = "U0MEI"
    name: str = "mei"


MEI: Final = User()


def interaction(message: Received, button: Mapping[str, Any], user: User) -> dict[str, Any]:
    """What Slack sends when a button is pressed, as far as an app needs it."""
    return {
        "type": "block_actions",
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": "T0"},
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


async def press(
    message: Received, button: Mapping[str, Any], url: str, secret: str, *, user: User, age: float
) -> tuple[int, str]:
    """POST the signed interaction; the status and body of the answer."""
    body = urlencode({"payload": json.dumps(interaction(message, button, user))})
    stamp = str(int(time.time() - age))
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body) or "",
    }
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.post(url, content=body, headers=headers)
        return answer.status_code, answer.text
