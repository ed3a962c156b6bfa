"""What to do about a conformance finding, and how the credential of a server stands. Pure words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from driftwatch.web.pages import times, words
from driftwatch.web.pages.models import ProfileLine, ServerLine
from driftwatch.web.pages.words import State

_TODO: Final[Mapping[str, str]] = {
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
    "invalid-definition": "Clients lose this tool, or the whole list. Mend the definition; the message says where.",
    "version-is-the-sdks": "Report the server's own version, so that a deploy can be told from an SDK update.",
}
_ASKS: Final = ("unauthorized", "forbidden")


def todo(rule: str) -> str:
    """One sentence for the people who run the server; empty where there is nothing to say."""
    return _TODO.get(rule, "")


def credential(server: ServerLine, profiles: Sequence[ProfileLine], now: datetime) -> tuple[State, str]:
    """Whether a credential is set, and what the server made of it when it was last asked."""
    headers = ", ".join(server.header_names)
    refused = next((profile for profile in profiles if profile.state in _ASKS), None)
    if refused is not None:
        since = f" since {times.when(refused.failing_since, now)}" if refused.failing_since else ""
        if headers:
            return State("unknown", "unknown", "refused"), f"{headers} is set, and refused{since}: renew it below."
        return State("unknown", "unknown", "missing"), f"None is set, and the server wants one{since}."
    answered = any(profile.state == "ok" for profile in profiles)
    if headers:
        state = State("compatible", "compatible", "accepted" if answered else "set", quiet=True)
        return (
            state,
            f"{words.count(len(server.header_names), 'secret header')}: {headers}. Stored sealed, never shown.",
        )
    said = "The server answers without one." if answered else "The server has not answered yet."
    return State("compatible", "compatible", "none set", quiet=True), said
