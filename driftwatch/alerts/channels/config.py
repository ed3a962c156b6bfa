"""What a channel's sealed configuration holds, by kind. Pure."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from driftwatch.alerts.notice import SLACK_APP, SLACK_WEBHOOK, WEBHOOK
from driftwatch.errors import InputError

_SECRET_BYTES: Final = 32
_CONVERSATION: Final = re.compile(r"[CGD][A-Z0-9]{2,20}")
_TOKEN: Final = re.compile(r"xoxb-[\w-]{1,300}")


class AppConfig(msgspec.Struct, frozen=True):
    """A Slack app's bot token and the id of the conversation it posts to."""

    token: str
    conversation: str


class HookConfig(msgspec.Struct, frozen=True):
    """A receiver of signed events. The secret before the last rotation signs too until ``previous_until``."""

    url: str
    secret: str
    previous: str | None = None
    previous_until: datetime | None = None


def new_secret() -> str:
    """A signing secret as Standard Webhooks spells it."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def read(kind: str, given: Mapping[str, Any]) -> bytes:
    """The configuration to seal, from what a person gave. Raises InputError that names the missing field."""
    if kind == SLACK_WEBHOOK:
        return _text(given, "url").encode()
    if kind == SLACK_APP:
        token, conversation = _text(given, "token"), _text(given, "conversation")
        if not _TOKEN.fullmatch(token):
            raise InputError("A bot token begins with xoxb-.", hint="Copy it from Slack: OAuth & Permissions.")
        if not _CONVERSATION.fullmatch(conversation):
            raise InputError(
                "The conversation is given by its id, for example C0123456789.",
                hint="In Slack, open the channel's details; the id stands at the end.",
            )
        return msgspec.json.encode(AppConfig(token, conversation))
    if kind == WEBHOOK:
        secret = given.get("secret") or new_secret()
        return msgspec.json.encode(HookConfig(_text(given, "url"), _checked_secret(str(secret))))
    raise InputError(f"There is no channel of kind {kind!r}.", hint="Choose slack-webhook, slack-app or webhook.")


def secret_of(kind: str, config: bytes) -> str | None:
    """The secret a receiver needs, shown once when it was made."""
    return msgspec.json.decode(config, type=HookConfig).secret if kind == WEBHOOK else None


def rotated(config: bytes, *, until: datetime) -> bytes:
    """A webhook's configuration with a new secret; the old one goes on signing until then."""
    old = msgspec.json.decode(config, type=HookConfig)
    return msgspec.json.encode(HookConfig(old.url, new_secret(), old.secret, until))


def url_of(kind: str, config: bytes) -> str | None:
    """Where a channel's messages go, None for Slack's own API."""
    if kind == SLACK_WEBHOOK:
        return config.decode()
    return msgspec.json.decode(config, type=HookConfig).url if kind == WEBHOOK else None


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name!r} is missing.", hint="See the kinds of channels in the API description.")
    return value.strip()


def _checked_secret(secret: str) -> str:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not 24 <= len(key) <= 64:
        raise InputError(
            "A signing secret is whsec_ and 24 to 64 bytes in base64.", hint="Leave it out to have one made."
        )
    return "whsec_" + base64.b64encode(key).decode()
