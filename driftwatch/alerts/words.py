"""The sentences of a message: what changed, how it is proved, what to do, was it announced. Pure.

Voice (pages.md): what happened, to whom it matters, what to do; never blame. Text between backticks is shown as code.
Everything may hold text from watched servers: each channel makes it safe for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from driftwatch.history.views import ChangeView, PartView

#: what clients of an era are called in front of people
CLIENTS: Final[Mapping[str, str]] = {"modern": "2026-07-28", "legacy": "2025-11-25"}

_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    "invalid": ("⊘", "invalid definition"),
    "tool-removed": ("✕", "removal"),
    "silent-break": ("✕", "breaking change"),
    "unknown-break": ("✕", "breaking change"),
    "announced-break": ("✕", "breaking change"),
    "undecided": ("?", "change, not decided"),
    "less-safe-hint": ("!", "change to a less safe hint"),
    "silent-output-change": ("✓", "output change"),
}
_LABELS: Final[Mapping[str, str]] = {
    "invalid": "invalid",
    "tool-removed": "gone",
    "silent-break": "breaking",
    "unknown-break": "breaking",
    "announced-break": "breaking",
    "undecided": "undecided",
    "less-safe-hint": "with a less safe hint",
    "silent-output-change": "with another output",
}
#: lines of the policy that say that something breaks
BREAKS: Final = frozenset({"silent-break", "unknown-break", "announced-break"})
_KINDS: Final[Mapping[str, str]] = {"added": "is new", "removed": "is gone", "restored": "is back"}
_PARTS: Final[Mapping[str, str]] = {
    "input": "the arguments changed",
    "output": "the result changed",
    "annotations": "the hints changed",
    "text": "the description changed",
    "meta": "the metadata changed",
}
_LEVELS: Final = ("breaking", "warning", "info", "annotation")
_SUBJECT: Final = re.compile(r"`([^`]{1,120})`")
_LONGEST_NAME: Final = 120


def headline(line: str, announcement: str | None) -> str:
    """The title of an alert without its subject, for example ``🔇✕ Silent breaking change``."""
    glyph, noun = _NOUNS.get(line, ("!", "change"))
    if announcement == "silent":
        return f"🔇{glyph} Silent {noun}"
    if announcement == "announced":
        return f"▲{glyph} Announced {noun}"
    return f"◌{glyph} {noun.capitalize()}, announcement unknown"


def verdict_glyph(line: str) -> str:
    """The glyph of a policy line."""
    return _NOUNS.get(line, ("!", ""))[0]


def label(line: str) -> str:
    """What a policy line calls the tools it matched, after a number: ``107 breaking``."""
    return _LABELS.get(line, "changed")


def code(name: str) -> str:
    """A name as code, shortened where it would drown the sentence."""
    return f"`{short(name.replace('`', chr(0x2019)))}`"


def short(name: str, limit: int = _LONGEST_NAME) -> str:
    """The text, cut with an ellipsis when it is longer than ``limit`` characters."""
    return name if len(name) <= limit else name[: limit - 1] + "…"


def sentences(change: ChangeView) -> list[str]:
    """What changed, worst first, each one sentence without its full stop. Never empty."""
    if change.kind in _KINDS:
        return [f"{code(change.tool)} {_KINDS[change.kind]}"]
    findings = sorted((f for p in change.parts for f in p.findings), key=lambda f: _level(f.level))
    found = list(dict.fromkeys(f.message.rstrip(".") for f in findings if f.message))
    open_ones = [
        f"{_PARTS[p.part]}, and we could not prove that it breaks nobody"
        for p in change.parts
        if p.verdict == "undecided" and p.part in _PARTS
    ]
    others = [_PARTS[p.part] for p in change.parts if p.part in _PARTS]
    return [*open_ones, *found] or others or ["the definition changed"]


def _level(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else len(_LEVELS)


def versions(change: ChangeView) -> str:
    """``v3 → v4``, with words where a side is missing."""
    old = "absent" if change.from_version is None else f"v{change.from_version}"
    new = "gone" if change.to_version is None else f"v{change.to_version}"
    return f"{old} → {new}"


def window(start: datetime, end: datetime) -> str:
    """``between 14:02 and 14:07 UTC``; seconds where the minute is the same, days where the day is not."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    style = "%d %b %H:%M"
    if start.date() == end.date():
        style = "%H:%M:%S" if (end - start).total_seconds() < 120 else "%H:%M"
    return f"between {start:{style}} and {end:{style}} UTC"


def since(start: datetime, end: datetime) -> str:
    """When clients that saw the new contract can have started at the earliest: the end of the window.

    ``14:07 UTC``; with the day where the window began on another one.
    """
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    return f"{end:%H:%M} UTC" if start.date() == end.date() else day(end)


def proof(change: ChangeView) -> tuple[str, str | None] | None:
    """The witness: an introduction and the value as JSON (None when the witness is an absent result)."""
    part = _proving_part(change)
    if part is None or part.witness is None:
        return None
    holder = "a client" if change.from_version is None else f"a client that cached v{change.from_version}"
    if part.witness.get("absent"):
        return f"{holder.capitalize()} refuses a result without structuredContent", None
    value = json.dumps(part.witness.get("value"), ensure_ascii=False, separators=(",", ":"))
    if part.part == "input":
        return f"{holder.capitalize()} may send this, and the server now refuses it:", value
    return f"{holder.capitalize()} refuses:", value


def _proving_part(change: ChangeView) -> PartView | None:
    worst = change.worst
    if worst is not None and worst.witness is not None:
        return worst
    return next((p for p in change.parts if p.verdict == "breaking" and p.witness is not None), None)


def do(change: ChangeView, line: str, owner: str | None, gone: Sequence[str] = (), *, tools: int = 1) -> str:
    """What to do now, for the person who got the message about the worst change of some tools.

    ``gone``: all the tools that went with this one.
    """
    started = since(*change.window)
    new = f"v{change.to_version}"
    someone = owner or "the people who run it"
    if line == "tool-removed":
        hint = change.facts.get("rename_hint")
        perhaps = f" (it may be called {code(str(hint['tool']))} now)" if isinstance(hint, Mapping) else ""
        calls = f"{code(change.tool)}{perhaps}" if len(gone) < 2 else listed([code(name) for name in gone])
        it = "it" if len(gone) < 2 else "them"
        return f"find what calls {calls}; clients started before {started} still offer {it}."
    if line == "invalid":
        what, it = ("the definition", "it") if tools == 1 else ("the definitions", "them")
        return f"ask {someone} to repair {what}; clients on the official SDKs refuse {it} until then."
    if line == "undecided":
        return f"compare the two versions and treat {new} as breaking until someone accepts it."
    if line == "less-safe-hint":
        return "check approval rules that rely on this hint."
    if line == "silent-output-change":
        return f"nothing declared breaks by this; clients started before {started} do not know {new} yet."
    part = _proving_part(change)
    if part is not None and part.part == "input":
        return f"restart clients started before {started}, so that they send what {new} asks for."
    field = _field(change)
    check = f"; check code that reads {code(field)}" if field else ""
    return f"restart clients started before {started}, so that they read {new}{check}."


def _field(change: ChangeView) -> str | None:
    found = next((f for p in change.parts for f in p.findings if f.level == "breaking"), None)
    match = _SUBJECT.search(found.message) if found else None
    return match[1] if match else None


def evidence(change: ChangeView) -> str:
    """Whether it was announced and how we know, in one line that blames nobody."""
    judgement = change.judgement
    facts: Mapping[str, Any] = judgement.evidence if judgement else {}
    restarted = _first_moment(facts.get("restarts"))
    at = f" at {restarted}" if restarted else ""
    if change.announcement == "announced":
        heard = _first_moment(facts.get("notifications"))
        undeclared = ", although listChanged is not declared" if judgement and judgement.fact == "undeclared" else ""
        return f"announced: list_changed{f' at {heard}' if heard else ''}{undeclared}"
    if change.announcement == "silent":
        reasons = {
            "restart": f"restarted{at}, no list_changed",
            "not-declared": "the server declares no listChanged",
            "cannot-deliver": "the server declares listChanged, but we found no stream that could carry it",
            "not-delivered": "no list_changed arrived on our live, acknowledged subscription",
        }
        return f"not announced: {reasons.get(change.announcement_reason or '', 'no list_changed arrived')}"
    restart = f" (restarted{at})" if judgement and judgement.fact == "restarted" else ""
    return f"we could not hear whether it was announced{restart}"


def _first_moment(values: Any) -> str | None:
    """The first time in a piece of stored evidence (seconds or ISO 8601, alone or under ``at``), as ``14:04``."""
    first = next(iter(values), None) if isinstance(values, (list, tuple)) else None
    if isinstance(first, Mapping):
        first = first.get("at")
    if isinstance(first, str):
        first = datetime.fromisoformat(first)
    elif isinstance(first, (int, float)):
        first = datetime.fromtimestamp(first, tz=UTC)
    return f"{first.astimezone(UTC):%H:%M}" if isinstance(first, datetime) else None


def server_version(change: ChangeView) -> str | None:
    """``version still 2.3.1`` when the server's own version did not move with the change."""
    if not change.facts.get("version_not_bumped"):
        return None
    version = change.facts.get("server_version")
    return f"version still {short(str(version), 40)}" if version else "version not bumped"


def seen_by(eras: Iterable[str]) -> str:
    """``seen by 2026-07-28 and 2025-11-25 clients``."""
    seen = set(eras)
    names = [CLIENTS[era] for era in CLIENTS if era in seen]
    return f"seen by {' and '.join(names)} clients" if names else "seen by every client"


def sentence(text: str) -> str:
    """The text with a capital and a full stop; names in backticks keep their spelling."""
    return f"{text[:1].upper()}{text[1:]}." if text else text


def listed(names: Sequence[str], *, most: int = 3) -> str:
    """``a``, ``a and b``, ``a, b, c and 9 more``."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    *first, last = [*names[:most], *more]
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """``1 tool``, ``13 tools``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def span(seconds: float) -> str:
    """``40 min``, ``24 h``, ``3 d``: the largest unit that says it."""
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} d"


def day(at: datetime) -> str:
    """``30 Nov 09:12 UTC``."""
    return f"{at.astimezone(UTC):%d %b %H:%M} UTC"


def owner(name: str | None) -> str:
    """Whom to talk to."""
    return f"owner {name}" if name else "no owner set"
