"""Was it announced: the answer as a sentence, the evidence as facts and as a small time line. Pure.

The page shows the evidence, not only the word, and says what we saw, never what we suppose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from driftwatch.announcement.guide import how_to_announce
from driftwatch.history.views import ChangeView, JudgementView
from driftwatch.web.pages import times
from driftwatch.web.pages.timeline import Timeline, draw, moments, streams

_UNHEARD: Final = {
    "off": "we held no change stream",
    "limit": "the server refused another subscription",
    "ok": "our change stream did not cover the whole window",
    "cannot-deliver": "the server offers no stream",
}


@dataclass(frozen=True, slots=True)
class Announced:
    """The third question answered: a sentence, facts (label, words), the drawing, a closing note, and what to do."""

    sentence: str
    facts: tuple[tuple[str, str], ...]
    timeline: Timeline
    note: str
    help: str | None


def explain(change: ChangeView, now: datetime) -> Announced:
    """The answer for one change as of ``now`` (the database's clock)."""
    evidence = change.judgement.evidence if change.judgement else {}
    return Announced(
        sentence=sentence(change),
        facts=tuple(_facts(change, evidence)),
        timeline=draw(change, evidence, now, description=sentence(change)),
        note=_note(change.judgement),
        help=how_to_announce(change.announcement, change.announcement_reason),
    )


def sentence(change: ChangeView) -> str:
    """The answer in words: it begins with Yes, No, We cannot know, or Not yet."""
    judgement = change.judgement
    evidence = judgement.evidence if judgement else {}
    answer = change.announcement
    if answer == "announced":
        return _announced(judgement, evidence)
    if answer == "silent":
        return _silent(change.announcement_reason, evidence)
    if answer == "unknown":
        return _unknown(judgement, evidence)
    return "Not judged yet: a list_changed may still be on its way, and we wait for it."


def _announced(judgement: JudgementView | None, evidence: Mapping[str, Any]) -> str:
    arrived = moments(evidence, "notifications")
    at = f" at {times.clock(arrived[0], seconds=True)} UTC" if arrived else ""
    extra = ", although the server does not declare listChanged" if judgement and judgement.fact == "undeclared" else ""
    return f"Yes. A list_changed arrived{at}{extra}."


def _silent(reason: str | None, evidence: Mapping[str, Any]) -> str:
    declared = bool(evidence.get("declared", reason not in ("not-declared",)))
    if reason == "restart":
        seen = moments(evidence, "restarts")
        at = f" at {times.clock(seen[0], seconds=True)} UTC" if seen else ""
        if not declared:
            return f"No. The server restarted{at} and declares no listChanged, so its clients heard nothing."
        if evidence.get("listening") == "cannot-deliver":
            return f"No. The server restarted{at} and offers no stream on which a list_changed could arrive."
        return (
            f"No. The server restarted{at} and no list_changed came: not before, when our subscription was live and "
            "acknowledged, and not after."
        )
    if reason == "not-declared":
        return "No. The server declares no listChanged, so its clients cannot hear of changes. No restart was seen."
    if reason == "cannot-deliver":
        return "No. The server declares listChanged but offers no stream on which a list_changed could arrive."
    return "No. No list_changed arrived on our live, acknowledged subscription."


def _unknown(judgement: JudgementView | None, evidence: Mapping[str, Any]) -> str:
    why = _UNHEARD.get(str(evidence.get("listening", "off")), _UNHEARD["off"])
    restarted = " A restart was seen." if judgement and judgement.fact == "restarted" else ""
    return f"We cannot know. The server declares listChanged, and {why}.{restarted} So we do not call it silent."


def _facts(change: ChangeView, evidence: Mapping[str, Any]) -> list[tuple[str, str]]:
    first, last, _ = times.between(*change.window)
    facts = [
        (
            "window",
            f"{first} last poll that saw the old contract – {last} first poll that saw the new one",
        )
    ]
    if "declared" in evidence:
        declares = "declares listChanged" if evidence["declared"] else "does not declare listChanged"
        facts.append(("server", declares))
        if evidence["declared"]:
            facts.append(("listening", _listening(evidence)))
    arrived = moments(evidence, "notifications")
    facts.append(("notified", ", ".join(times.clock(t, seconds=True) for t in arrived[:5]) or "none arrived"))
    facts.append(("restart", _restarts(evidence)))
    facts.extend(_server_facts(change.facts))
    return facts


def _listening(evidence: Mapping[str, Any]) -> str:
    held = streams(evidence)
    if not held:
        return _UNHEARD.get(str(evidence.get("listening", "off")), "no")
    return "; ".join(
        f"from {times.clock(first, seconds=True)} to {times.clock(last, seconds=True)}" for first, last in held[:5]
    )


def _restarts(evidence: Mapping[str, Any]) -> str:
    seen = moments(evidence, "restarts")
    kinds = evidence.get("restart_kinds")
    named = (
        f", {', '.join(str(kind).replace('-', ' ') for kind in kinds[:3])}" if isinstance(kinds, list) and kinds else ""
    )
    return f"seen at {times.clock(seen[0], seconds=True)}{named}" if seen else "none seen"


def _server_facts(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    out = []
    if facts.get("version_not_bumped"):
        version = facts.get("server_version")
        still = f"still {version}, " if isinstance(version, str) else ""
        out.append(("version", f"{still}not bumped (weak evidence)"))
    if facts.get("within_ttl"):
        out.append(("ttl", _stale(facts)))
    if facts.get("dialect_changed"):
        out.append(("dialect", "the schema names another dialect than before"))
    return out


def _stale(facts: Mapping[str, Any]) -> str:
    """How long a client that honours the old list's ttlMs goes on with it."""
    ttl_ms, until = facts.get("ttl_ms"), facts.get("stale_until")
    fresh = f" for {times.duration(ttl_ms / 1000)}" if isinstance(ttl_ms, (int, float)) else ""
    moment = datetime.fromisoformat(until) if isinstance(until, str) else None
    then = f", until {times.day(moment, year=False)} {times.clock(moment)} if it asked when we did" if moment else ""
    shared = (
        "; cacheScope is public, so shared caches may serve it as well" if facts.get("cache_scope") == "public" else ""
    )
    return f"the old list was to be kept{fresh}: a client that honours ttlMs stays stale{then}{shared}"


def _note(judgement: JudgementView | None) -> str:
    if judgement is None:
        return "Nothing has been judged yet."
    return f"Rule {judgement.rule} of 7 decided, at {times.clock(judgement.at, seconds=True)} UTC."
