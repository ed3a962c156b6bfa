"""Where Slack says that a button was pressed or a dialog sent: checked, left to a job, and answered at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import parse_qs

import structlog
from fastapi import APIRouter, Request, Response
from slack_sdk.signature import SignatureVerifier

from driftwatch.alerts.channels.slack.dialog import ACCEPT_DIALOG, origin_of, reason_in
from driftwatch.errors import InputError
from driftwatch.safe_text import safe_text
from driftwatch.scheduler.enqueue import defer_press
from driftwatch.web.auth.dependencies import services_of

log = structlog.get_logger(__name__)

router = APIRouter(include_in_schema=False)

Press = dict[str, str | int]

MAX_BODY: Final = 64 * 1024
#: ids are numbers of ours that fit a bigint
_LONGEST_ID: Final = 18


class UnsignedError(InputError):
    """The request was not signed by the Slack app whose signing secret is set."""

    code = "bad-signature"
    status = 401


class TooLargeError(InputError):
    """More than Slack ever sends."""

    code = "too-large"
    status = 413


@router.post("/slack/interactions")
async def interactions(request: Request) -> Response:
    """Answered with an empty 200 well within Slack's three seconds; what was pressed is done by a worker."""
    services = services_of(request)
    body = await _body(request)
    secret = services.settings.slack_signing_secret
    if secret is None or not signed(secret.get_secret_value(), body, request.headers):
        raise UnsignedError("the signature is missing, old or wrong", hint="set DRIFTWATCH_SLACK_SIGNING_SECRET")
    async with services.db.transaction() as session:
        for press in presses(_payload(body)):
            await defer_press(session, press)
    return Response()


def signed(secret: str, body: bytes, headers: Mapping[str, str]) -> bool:
    """Whether Slack signed this lately. The verifier raises on what is malformed: that is not signed either."""
    stamp, signature = headers.get("x-slack-request-timestamp"), headers.get("x-slack-signature")
    try:
        return SignatureVerifier(secret).is_valid(body, stamp, signature)
    except (ValueError, TypeError, OverflowError):
        return False


def presses(payload: Any) -> list[Press]:
    """The buttons pressed and dialogs sent, as jobs carry them; none for anything else Slack may say."""
    if not isinstance(payload, dict):
        return []
    if payload.get("type") == "block_actions":
        return _pressed(payload)
    return _sent(payload) if payload.get("type") == "view_submission" else []


def _pressed(payload: Mapping[str, Any]) -> list[Press]:
    place = payload.get("container") or {}
    found = [a for a in payload.get("actions") or [] if isinstance(a, dict) and _is_id(a.get("value"))]
    return [
        {
            "action": str(action.get("action_id")),
            "alert": int(action["value"]),
            "conversation": str(place.get("channel_id")),
            "ts": str(place.get("message_ts")),
            "trigger": str(payload.get("trigger_id")),
            **_who(payload),
            "id": _press_id(place, payload.get("user"), action.get("action_id"), action.get("action_ts")),
        }
        for action in found
    ]


def _sent(payload: Mapping[str, Any]) -> list[Press]:
    view = payload.get("view") or {}
    origin = origin_of(view) if view.get("callback_id") == ACCEPT_DIALOG else None
    if origin is None:
        return []
    # no column holds characters that nobody can see
    reason = safe_text(reason_in(view), keep_newlines=False)
    return [
        {
            **asdict(origin),
            "action": ACCEPT_DIALOG,
            "reason": reason,
            **_who(payload),
            "id": _press_id(view.get("id"), payload.get("user"), ACCEPT_DIALOG, view.get("hash")),
        }
    ]


def _who(payload: Mapping[str, Any]) -> Press:
    user = payload.get("user") or {}
    name = str(user.get("username") or user.get("name") or user.get("id"))
    return {"user": str(user.get("id")), "name": safe_text(name, keep_newlines=False)}


def _press_id(*parts: Any) -> str:
    """The same for the same press, however often Slack sends it."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST_ID


async def _body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY:
            raise TooLargeError("this is more than Slack sends")
    return body


def _payload(body: bytes) -> Any:
    try:
        return json.loads(parse_qs(body.decode())["payload"][0])
    except (ValueError, KeyError, RecursionError):
        return None
