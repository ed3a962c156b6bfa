"""What pages say about verdicts, announcements and polls: the words of pages.md, each state with glyph and colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class State:
    """A state as it is shown: ``tone`` picks the colour (is-…), ``glyph`` the sprite, ``word`` is always there too.

    ``quiet`` states are grey: colour is for what needs a person.
    """

    tone: str
    glyph: str
    word: str
    quiet: bool = False


_VERDICTS: Final[Mapping[str, State]] = {
    "breaking": State("breaking", "breaking", "breaking"),
    "compatible": State("compatible", "compatible", "compatible"),
    "undecided": State("undecided", "undecided", "undecided"),
    "invalid": State("invalid", "invalid", "invalid"),
}
#: a break that only keys nobody declared, or numbers beyond 2^53, can show: true, and rarely of interest
_STRICT: Final = State("note", "note", "strict break", quiet=True)
_WAITING: Final = State("pending", "pending", "being checked")

_ANNOUNCED: Final[Mapping[str, State]] = {
    "announced": State("compatible", "announced", "announced"),
    "silent": State("undecided", "silent", "silent"),
    "unknown": State("unknown", "unknown", "unknown"),
    "pending": State("pending", "pending", "pending"),
}
_REASONS: Final[Mapping[str, str]] = {
    "restart": "restart",
    "not-declared": "not declared",
    "cannot-deliver": "cannot deliver",
    "not-delivered": "not delivered",
}

_LEVELS: Final[Mapping[str, State]] = {
    "breaking": State("breaking", "breaking", "breaking"),
    "warning": State("undecided", "note", "check"),
    "info": State("compatible", "compatible", "compatible"),
    "annotation": State("note", "note", "note"),
}

_ALERTS: Final[Mapping[str, State]] = {
    "open": State("breaking", "breaking", "open"),
    "acknowledged": State("pending", "pending", "acknowledged"),
    "accepted": State("compatible", "compatible", "accepted", quiet=True),
    "settled": State("compatible", "compatible", "settled", quiet=True),
    "reverted": State("compatible", "compatible", "reverted", quiet=True),
    "resolved": State("compatible", "compatible", "resolved", quiet=True),
}

_DELIVERIES: Final[Mapping[str, State]] = {
    "delivered": State("compatible", "compatible", "delivered"),
    "queued": State("pending", "pending", "waiting"),
    "leased": State("pending", "pending", "being sent"),
    "dead": State("breaking", "breaking", "not delivered"),
}

_KINDS: Final[Mapping[str, str]] = {"added": "is new", "removed": "is gone", "restored": "is back"}

#: what may let us in: (name, hint) by kind, as forms offer them; ``keep`` only where there may be one already
CREDENTIALS: Final[Mapping[str, tuple[str, str]]] = {
    "keep": ("As it is", "What is stored stays, at the same origin."),
    "none": ("None", "The server answers everybody."),
    "headers": ("A header", "An API key, or whatever else it wants. More than one: use the API."),
    "bearer": ("A bearer token", "One that somebody renews by hand."),
    "basic": ("User name and password", "HTTP Basic."),
    "client-secret": ("OAuth, client secret", "Access tokens are asked for and renewed by themselves."),
    "private-key-jwt": ("OAuth, private key", "The same; the client signs instead of sending a secret."),
}

_FAILURES: Final[Mapping[str, str]] = {
    "unauthorized": "unauthorized",
    "forbidden": "forbidden",
    "token-refused": "credential refused",
    "no-token": "no access token",
    "not-found": "nothing at this URL",
    "timeout": "timed out",
    "unreachable": "unreachable",
    "refused": "connection refused",
    "rate-limited": "rate limited",
    "server-error": "server error",
    "too-large": "answer too large",
    "too-deep": "answer nested too deep",
    "too-many-pages": "too many pages",
    "not-mcp": "not MCP",
    "bad-json": "not JSON",
    "incomplete-walk": "incomplete list",
    "repeated-cursor": "pages repeat",
    "session-lost": "session lost",
    "tls-failed": "certificate refused",
    "bad-target": "address cannot be used",
    "rpc-error": "answered with an error",
    "unsupported-version": "no protocol version in common",
    "era-not-spoken": "does not speak this protocol",
    "too-many-tools": "too many tools",
    "bad-result": "not a tool list",
    "blocked-address": "private address",
    "redirected": "redirected elsewhere",
    "compressed": "compressed answer",
    "not-serving-tools": "serves no tools",
    "history-quota": "history is full",
    "no-snapshots": "no snapshots pushed",
    "command-failed": "command cannot be started",
    "process-exited": "command ended",
}

#: what clients of an era are called in front of people
CLIENTS: Final[Mapping[str, str]] = {"modern": "2026-07-28 clients", "legacy": "2025-11-25 clients"}


def verdict(outcome: str | None, via: str | None = None, *, quiet: bool = False) -> State:
    """The state of a verdict; None is a change that is still being checked. ``via`` is what a break needs."""
    state = _STRICT if is_strict(outcome, via) else _VERDICTS.get(outcome or "", _WAITING)
    return State(state.tone, state.glyph, state.word, quiet) if quiet else state


def is_strict(outcome: str | None, via: str | None) -> bool:
    """True for a break that only undeclared keys or unsafe numbers show."""
    return outcome == "breaking" and via in ("undeclared-key", "unsafe-number")


def calm(outcome: str | None, via: str | None = None) -> State:
    """The state of a verdict in lists: what needs nobody is grey."""
    return verdict(outcome, via, quiet=outcome == "compatible" or is_strict(outcome, via))


def announcement(answer: str | None, reason: str | None = None) -> State:
    """The state of an announcement, the reason in words behind it: ``silent: not declared``."""
    state = _ANNOUNCED.get(answer or "pending", _ANNOUNCED["pending"])
    if answer == "silent" and reason:
        return State(state.tone, state.glyph, f"silent: {_REASONS.get(reason, reason)}")
    if answer == "pending":
        return State(state.tone, state.glyph, "announcement pending")
    if answer == "unknown":
        return State(state.tone, state.glyph, "announcement unknown")
    return state


def level(name: str) -> State:
    """The state of a finding's level."""
    return _LEVELS.get(name, _LEVELS["annotation"])


def alert(name: str, severity: str | None = None) -> State:
    """The state of an alert; an open one takes the colour of its severity."""
    state = _ALERTS.get(name, State("note", "note", name))
    if name == "open" and severity in ("warning", "notice"):
        return State("undecided", "note", "open")
    return state


def delivery(name: str) -> State:
    """The state of a delivery."""
    return _DELIVERIES.get(name, State("note", "note", name))


def headline_state(outcome: str | None, answer: str | None) -> State:
    """The pill of the overview: ``silent breaking``, ``breaking``, ``invalid``."""
    state = verdict(outcome)
    if answer != "silent" or outcome == "invalid":
        return state
    return State(state.tone, state.glyph, f"silent {state.word}")


def kind(name: str) -> str:
    """What a presence change says about the tool: ``is gone``."""
    return _KINDS.get(name, "changed")


def plain_title(title: str) -> str:
    """An alert's title without the signs that stand before it in Slack."""
    start = next((i for i, char in enumerate(title) if char.isalnum() or char in "`<"), 0)
    return title[start:]


def failure(code: str) -> str:
    """A poll state in words: ``unauthorized``, ``connection refused``; an unlisted code is spelled out."""
    return _FAILURES.get(code, code.replace("-", " "))


def clients(era: str) -> str:
    """Who sees a profile: ``2026-07-28 clients``."""
    return CLIENTS.get(era, f"{era} clients")


def every(seconds: int) -> str:
    """An interval as it was chosen: ``30 s``, ``5 min``, ``90 s``, ``1 h``."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds % length == 0:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 tool``, ``14 tools``, ``no tools``."""
    if number == 0:
        return f"no {plural or noun + 's'}"
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def listed(names: list[str], cap: int = 3) -> str:
    """``a, b and c``; beyond the cap ``a, b, c and 10 more``."""
    if len(names) > cap:
        return f"{', '.join(names[:cap])} and {len(names) - cap} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
