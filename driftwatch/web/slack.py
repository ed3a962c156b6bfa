"""Where Slack says that a button was pressed: the signature is checked, a job is left, Slack is answered at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

import structlog
from fastapi import APIRouter, Request, Response
from slack_sdk.signature import SignatureVerifier

from driftwatch.errors import InputError
from driftwatch.scheduler.enqueue import defer_press
from driftwatch.web.auth.dependencies import services_of

log = structlog.get_logger(__name__)

router = APIRouter(include_in_schema=False)

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


def presses(payload: Any) -> list[dict[str, str | int]]:
    """The buttons pressed, as jobs carry them; none for anything else Slack may say."""
    if not isinstance(payload, dict) or payload.get("type") != "block_actions":
        return []
    user, place = payload.get("user") or {}, payload.get("container") or {}
    found = [a for a in payload.get("actions") or [] if isinstance(a, dict) and _is_id(a.get("value"))]
    return [
        {
            "action": str(action.get("action_id")),
            "alert": int(action["value"]),
            "conversation": str(place.get("channel_id")),
            "ts": str(place.get("message_ts")),
            "user": str(user.get("id")),
            "name": str(user.get("username") or user.get("name") or user.get("id")),
            "id": _press_id(payload, action),
        }
        for action in found
        if not action.get("url")
    ]


def _press_id(payload: Mapping[str, Any], action: Mapping[str, Any]) -> str:
    """The same for the same press, however often Slack sends it."""
    parts = [payload.get("container"), payload.get("user"), action.get("action_id"), action.get("action_ts")]
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
