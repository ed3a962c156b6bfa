"""Is this a registration we can keep? Says what is wrong in words; touches neither network nor database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from driftwatch.errors import WireError
from driftwatch.safe_text import has_hidden
from driftwatch.servers.check_credential import check_credential
from driftwatch.servers.credential import Headers
from driftwatch.servers.errors import BadServerError
from driftwatch.servers.model import ServerPatch, ServerSpec, Unset
from driftwatch.settings import Settings
from driftwatch.wire.facts import Era
from driftwatch.wire.urls import checked_url

MAX_NAME: Final = 200
MAX_TAGS: Final = 50
MAX_HEADERS: Final = 50
MAX_HEADER: Final = 8192
LONGEST_INTERVAL: Final = 86_400

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
_TAG = re.compile(r"[\w.:/-]{1,64}")
#: headers that belong to the protocol or to the connection
_OURS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def check(spec: ServerSpec | ServerPatch, settings: Settings) -> None:
    """Raise BadServerError for the first field that is wrong."""
    absent = _MAY_BE_NONE | (_HAS_DEFAULT if isinstance(spec, ServerSpec) else frozenset())
    for name, rule in _RULES.items():
        value = getattr(spec, name)
        if not (isinstance(value, Unset) or (value is None and name in absent)):
            rule(value, settings)
    if isinstance(spec.credential, Unset) or spec.credential is None:
        return
    if spec.headers and not isinstance(spec.headers, Unset):
        raise BadServerError("headers, credential: give one of the two.", hint="headers is a credential of that kind.")


def check_pushed(spec: ServerSpec, settings: Settings) -> None:
    """The same for a server that nobody reaches: a name instead of a URL."""
    _name(spec.name, settings)
    if spec.interval_seconds is not None:
        _interval(spec.interval_seconds, settings)
    for name in ("tags", "owner", "mode"):
        if (value := getattr(spec, name)) is not None:
            _RULES[name](value, settings)


def _url(value: Any, settings: Settings) -> None:
    if not isinstance(value, str) or not value:
        raise BadServerError("url: an http or https address is needed.")
    try:
        checked_url(value)
    except WireError as error:
        raise BadServerError(f"url: {error.message}", hint=error.hint) from error


def _name(value: Any, settings: Settings) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise BadServerError(f"name: 1 to {MAX_NAME} characters.")
    if has_hidden(value) or "\n" in value or "\t" in value:
        raise BadServerError("name: contains hidden or control characters.")


def _owner(value: Any, settings: Settings) -> None:
    if not isinstance(value, str) or len(value) > MAX_NAME or has_hidden(value):
        raise BadServerError(f"owner: at most {MAX_NAME} visible characters.")


def _credential(value: Any, settings: Settings) -> None:
    if isinstance(value, Headers):
        _headers(value.headers, settings)
        if not value.headers:
            raise BadServerError("credential: headers: at least one.")
    else:
        check_credential(value)


def _headers(value: Any, settings: Settings) -> None:
    if not isinstance(value, Mapping) or len(value) > MAX_HEADERS:
        raise BadServerError(f"headers: at most {MAX_HEADERS} names with their values.")
    for name, content in value.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise BadServerError("headers: a name is not an HTTP header name.")
        if name.lower() in _OURS:
            raise BadServerError(f"headers: {name} is set by driftwatch itself.")
        if not isinstance(content, str) or len(content) > MAX_HEADER or not _VALUE.fullmatch(content):
            raise BadServerError(f"headers: the value of {name} is empty, too long or not plain ASCII.")


def _interval(value: Any, settings: Settings) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not settings.min_interval_seconds <= value <= LONGEST_INTERVAL:
        raise BadServerError(
            f"interval_seconds: whole seconds from {settings.min_interval_seconds:g} to {LONGEST_INTERVAL}.",
            hint="DRIFTWATCH_MIN_INTERVAL_SECONDS is the lower bound.",
        )


def _eras(value: Any, settings: Settings) -> None:
    if not value or not all(isinstance(era, Era) for era in value):
        raise BadServerError('eras: "auto", or a list of "legacy" and "modern".')


def _tags(value: Any, settings: Settings) -> None:
    if len(value) > MAX_TAGS or not all(isinstance(tag, str) and _TAG.fullmatch(tag) for tag in value):
        raise BadServerError(f"tags: at most {MAX_TAGS}, each 1 to 64 letters, digits or any of . : / _ -")


def _listen(value: Any, settings: Settings) -> None:
    if value not in {"auto", "off"}:
        raise BadServerError('listen: "auto" or "off".')


def _mode(value: Any, settings: Settings) -> None:
    if value not in {"follow", "pinned"}:
        raise BadServerError('mode: "follow" or "pinned".')


_MAY_BE_NONE: Final = frozenset({"owner", "eras", "credential"})
_HAS_DEFAULT: Final = frozenset({"name", "interval_seconds"})
_RULES: Final = {
    "url": _url,
    "name": _name,
    "headers": _headers,
    "credential": _credential,
    "interval_seconds": _interval,
    "eras": _eras,
    "tags": _tags,
    "owner": _owner,
    "listen": _listen,
    "mode": _mode,
}
