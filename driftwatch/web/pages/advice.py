"""What to do about a conformance finding, and how the credential of a server stands. Pure words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from driftwatch.servers.credential_state import REFUSED, CredentialView
from driftwatch.web.pages import times, words
from driftwatch.web.pages.models import ProfileLine, ServerLine
from driftwatch.web.pages.words import State

#: rule → what the people who run the server can do (docs/conformance.md repeats it)
TODO: Final[Mapping[str, str]] = {
    "hidden-characters": "Read the marked place before a model does; ask the owner to remove what is hidden.",
    "unknown-dialect": "Mark the schema 2020-12, or leave $schema out: that means 2020-12.",
    "old-dialect-output": "Mark the output 2020-12: clients that validate results know little else.",
    "draft-07-output": "Mark the output 2020-12, or leave $schema out.",
    "boolean-property": "Write {} for true; TypeScript 1 clients then keep the list.",
    "remote-ref": "Move the referred schema into $defs: clients do not fetch it either.",
    "duplicate-keys": "Send each key once: parsers disagree about which one counts.",
    "duplicate-tool": "List each tool once.",
    "unusable-entry": "Give every entry of the list a name of 1 to 256 characters.",
    "shared-schema-id": "Give each schema its own $id: some clients keep validators by it.",
    "volatile": "Leave a default that changes by itself out of the schema; driftwatch tells nobody about it meanwhile.",
    "invalid-definition": "Mend the definition; the message says where.",
    "version-is-the-sdks": "Report the server's own version, so that a deploy can be told from an SDK update.",
    "no-server-version": "Set the version of serverInfo at every deploy.",
    "tools-undeclared": "Declare the tools capability.",
    "cache-hints": "Send resultType, ttlMs (a whole number from 0) and cacheScope (public or private) with every page.",
    "declared-undeliverable": "Offer the stream, or leave listChanged out: clients wait for what cannot come.",
    "unstable-order": "List tools in a fixed order: clients cache what they put into a prompt.",
    "replicas-differ": "Bring every replica to the same release.",
    "repeated-cursor": "Give each page a cursor of its own, and the last page none.",
    "too-many-pages": "Send more tools a page.",
    "incomplete-walk": "Answer every page of tools/list, with resultType complete.",
    "bad-result": "Answer tools/list with an object that holds an array of tools.",
    "bad-json": "Send JSON as RFC 8259 has it: no NaN, no Infinity.",
}
_BOTH_LOSE: Final = "Python and TypeScript clients lose the whole list."
_UNCOMPILED: Final = (
    "TypeScript 1 clients lose the whole list, TypeScript 2 clients the tool; Python clients fail at the call."
)
#: what each client does with a definition that is refused (tests/acceptance/test_lists.py asks them)
_LOST: Final[Mapping[str, str]] = {
    "output-schema-invalid": _UNCOMPILED,
    "output-ref-unresolved": _UNCOMPILED,
    "output-ref-endless": _UNCOMPILED,
    "output-root-not-object": "TypeScript clients and the Python SDK 2 lose the whole list.",
    "input-schema-invalid": (
        "TypeScript clients lose the whole list where `properties` is no object or `required` no array; Python clients"
        " keep it."
    ),
    "sdk-refuses": "Python clients lose the whole list.",
    "x-mcp-header-invalid": "Python and TypeScript clients drop the tool: to them it looks removed.",
    "conflicting-duplicates": "Clients list both; which schema they validate by is chance.",
}


_KINDS: Final[Mapping[str, str]] = {
    "bearer": "A bearer token",
    "basic": "User name and password",
    "client-secret": "OAuth client credentials by secret",
    "private-key-jwt": "OAuth client credentials by private key",
}


def todo(rule: str) -> str:
    """One sentence for the people who run the server; empty where there is nothing to say."""
    return TODO.get(rule, "")


def lost(code: str, scope: str) -> str:
    """Which clients lose what by a definition they refuse, as a sentence. ``scope``: tool or list."""
    return _LOST.get(code, _BOTH_LOSE if scope == "list" else "Clients that read the definition cannot use the tool.")


def credential(server: ServerLine, profiles: Sequence[ProfileLine], now: datetime) -> tuple[State, str]:
    """Whether a credential is set, and what the server made of it when it was last asked."""
    refused = next((profile for profile in profiles if profile.state in REFUSED), None)
    if server.credential is not None:
        return _of_set(server.credential, refused, now)
    if refused is not None:
        since = f" since {times.when(refused.failing_since, now)}" if refused.failing_since else ""
        return State("unknown", "unknown", "missing"), f"None is set, and the server wants one{since}."
    answered = any(profile.state == "ok" for profile in profiles)
    said = "The server answers without one." if answered else "The server has not answered yet."
    return State("compatible", "compatible", "none set", quiet=True), said


def _of_set(view: CredentialView, refused: ProfileLine | None, now: datetime) -> tuple[State, str]:
    what, failure = _described(view), (view.failure or {}).get("message")
    why = f" {failure}" if isinstance(failure, str) else ""
    if view.state == "refused":
        since = view.failed_at or (refused.failing_since if refused else None)
        told = f"{what}, refused since {times.when(since, now)}" if since else f"{what}, refused"
        return State("unknown", "unknown", "refused"), f"{told}: renew it below.{why}"
    if view.state == "expired":
        return State("unknown", "unknown", "expired"), f"{what}. Its access token ended and no new one came.{why}"
    word = "accepted" if view.state == "ok" else "set"
    return State(
        "compatible", "compatible", word, quiet=True
    ), f"{what}{_token(view, now)}. Stored sealed, never shown."


def _described(view: CredentialView) -> str:
    if view.kind in _KINDS:
        name = view.fields.get("username") or view.fields.get("client_id")
        return f"{_KINDS[view.kind]}, {name}" if name else _KINDS[view.kind]
    return f"{words.count(len(view.header_names), 'secret header')}: {', '.join(view.header_names)}"


def _token(view: CredentialView, now: datetime) -> str:
    if view.renewed_at is None:
        return ""
    ends = f", ends {times.ahead(view.expires_at, now)}" if view.expires_at else ", without an end"
    scopes = f", scopes {' '.join(view.granted_scopes)}" if view.granted_scopes else ""
    return f" · access token renewed {times.ago(view.renewed_at, now)}{ends}{scopes}"
