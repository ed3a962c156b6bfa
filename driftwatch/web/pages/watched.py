"""A server's page: who sees it, can it announce, its tools, how its polls go. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from driftwatch.alerts.transitive import Against
from driftwatch.alerts.views import AlertView, BaselineView, DeliveryView
from driftwatch.announcement.guide import how_to_announce
from driftwatch.history.views import ToolView
from driftwatch.web.pages import fleet, times, words
from driftwatch.web.pages.models import ProfileLine
from driftwatch.web.pages.words import State

MAX_TOOLS: Final = 100
_NONE: Final[Mapping[int, Against]] = {}


@dataclass(frozen=True, slots=True)
class Seen:
    """One kind of client: how its polls go and whether a change could be announced to it."""

    clients: str
    state: State
    detail: str
    hint: str | None
    announces: str
    guide: str | None
    names_itself: str


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool by name over all kinds of clients. ``versions``: (tool id, era, version number or None for absent)."""

    name: str
    versions: tuple[tuple[int, str, int | None], ...]
    output: str
    invalid: bool
    last: State | None
    last_href: str
    baseline: str
    baseline_href: str
    since: State | None

    @property
    def shown(self) -> tuple[tuple[int, str, int | None], ...]:
        """The versions, one where every kind of client sees the same number."""
        same = len({number for _, _, number in self.versions}) == 1
        return self.versions[:1] if same else self.versions


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert of this server and who was told. ``here``: it has no page of its own and can be acknowledged here."""

    id: int
    opened_at: datetime
    title: str
    state: State
    told: str
    here: bool = False


_UNHELD: Final = {"limit": ", because it holds no more subscriptions", "off": " at the moment"}


def seen_by(profiles: Sequence[ProfileLine], now: datetime, *, paused: bool) -> list[Seen]:
    """One entry per kind of client."""
    return [_seen(profile, now, paused=paused) for profile in profiles]


def tool_rows(
    lines: Iterable[ToolView],
    baselines: Mapping[int, BaselineView],
    now: datetime,
    against: Mapping[int, Against] = _NONE,
) -> list[ToolRow]:
    """The tools by name, those that are not what was accepted before the others.

    ``against``: how the baseline stands against what a tool's last change led to, by the change's id.
    """
    by_name: dict[str, list[ToolView]] = {}
    for line in lines:
        by_name.setdefault(line.name, []).append(line)
    rows = [_tool_row(name, group, baselines, now, against) for name, group in by_name.items()]
    return sorted(rows, key=lambda row: not row.baseline_href)


def summary(rows: Sequence[ToolRow]) -> str:
    """``14 tools, 9 declare outputs; 1 gone``."""
    present = [row for row in rows if any(number is not None for _, _, number in row.versions)]
    outputs = sum(1 for row in present if row.output == "declared")
    gone = len(rows) - len(present)
    tail = f" · {gone} gone" if gone else ""
    if not present:
        return f"none now{tail}"
    return f"{words.count(len(present), 'tool')}, of which {outputs or 'none'} declare outputs{tail}"


def alert_rows(alerts: Sequence[AlertView], told: Mapping[int, Sequence[DeliveryView]]) -> list[AlertRow]:
    """The alerts with the channels they went to; ``told``: the deliveries of each."""
    return [
        AlertRow(
            a.id,
            a.opened_at,
            words.plain_title(a.title),
            words.alert(a.state, a.severity),
            _told(told.get(a.id, ()), a),
            here=a.kind == "not-watching" and a.state == "open",
        )
        for a in alerts
    ]


def _told(deliveries: Sequence[DeliveryView], alert: AlertView) -> str:
    handled = f" · {alert.state} by {alert.handled_by}" if alert.handled_by else ""
    if not deliveries:
        return f"nobody yet{handled}"
    channels = ", ".join(dict.fromkeys(d.channel for d in deliveries))
    done = sum(1 for d in deliveries if d.state == "delivered")
    return f"{channels} · {done} of {len(deliveries)} delivered{handled}"


def _seen(profile: ProfileLine, now: datetime, *, paused: bool) -> Seen:
    state, detail, hint = _polling(profile, now, paused=paused)
    return Seen(
        clients=words.clients(profile.era),
        state=state,
        detail=detail,
        hint=hint,
        announces=_announces(profile, now),
        guide=how_to_announce("silent", _mute(profile)) if _mute(profile) else None,
        names_itself=_names_itself(profile),
    )


def _polling(profile: ProfileLine, now: datetime, *, paused: bool) -> tuple[State, str, str | None]:
    if paused:
        return State("unknown", "paused", "paused"), "not polled until you resume", None
    if profile.failing:
        hint = profile.last_error.get("hint") if profile.last_error else None
        return (
            State("unknown", "unknown", "not watched"),
            fleet.poll_problem(profile, now),
            hint if isinstance(hint, str) else None,
        )
    if profile.last_poll_at is None:
        return State("pending", "pending", "first look"), "waits for its first poll", None
    due = f", next {times.ahead(profile.next_due_at, now)}" if profile.next_due_at else ""
    took = f", {profile.duration_ms:.0f} ms" if profile.duration_ms is not None else ""
    tools = words.count(profile.tool_count or 0, "tool")
    last = times.ago(profile.last_poll_at, now)
    return State("compatible", "compatible", "fine", quiet=True), f"{tools}, {last}{took}{due}", _cached(profile)


def _cached(profile: ProfileLine) -> str | None:
    """How long clients may go on with an old list, where the server says so."""
    if not profile.ttl_ms:
        return None
    shared = ", shared caches as well" if profile.cache_scope == "public" else ""
    kept = times.duration(profile.ttl_ms / 1000)
    return f"Clients may keep the list for {kept}{shared}: so long they may miss a change."


def _mute(profile: ProfileLine) -> str | None:
    """Why a change could not be announced, where that is known already."""
    if profile.list_changed_declared is False:
        return "not-declared"
    hearing = profile.hearing
    return "cannot-deliver" if hearing is not None and hearing.state == "cannot-deliver" else None


def _announces(profile: ProfileLine, now: datetime) -> str:
    if profile.list_changed_declared is None:
        return "not known yet"
    if _mute(profile) == "not-declared":
        return "No. It declares no listChanged, so its clients cannot hear of changes."
    hearing = profile.hearing
    if _mute(profile) == "cannot-deliver":
        return "No. It declares listChanged, but offers no stream on which a list_changed could arrive."
    if hearing is None or hearing.since is None:
        why = _UNHELD.get("" if hearing is None else hearing.state, "")
        return f"It declares listChanged. We hold no stream{why}: a change without a notice is unknown, never silent."
    told = words.count(hearing.notifications, "notification")
    vain = f", {hearing.unanswered} without a change" if hearing.unanswered else ""
    noisy = "; it notifies more often than it changes" if hearing.noisy else ""
    since, gaps = times.age(hearing.since, now), words.count(hearing.gaps, "gap")
    return f"It declares listChanged. We have held a stream for {since} · {gaps} · {told} in 90 d{vain}{noisy}."


def _names_itself(profile: ProfileLine) -> str:
    info = profile.server_info or {}
    named = " ".join(str(info[key])[:100] for key in ("name", "version") if info.get(key))
    version = f"protocol {profile.protocol_version}" if profile.protocol_version else ""
    return " · ".join(part for part in (named, version) if part) or "not known yet"


def _tool_row(
    name: str,
    group: Sequence[ToolView],
    baselines: Mapping[int, BaselineView],
    now: datetime,
    against: Mapping[int, Against],
) -> ToolRow:
    changed = [tool for tool in group if tool.last_change_id is not None]
    newest = max(changed, key=lambda tool: tool.last_change_id or 0, default=None)
    baseline, href, since = _baseline(group, baselines, against)
    return ToolRow(
        name=name,
        versions=tuple((tool.id, tool.era, tool.version) for tool in group),
        output="declared" if any(tool.declares_output for tool in group) else "not declared",
        invalid=any(tool.invalid for tool in group),
        last=_last(newest, now) if newest else None,
        last_href=f"/changes/{newest.last_change_id}" if newest else "",
        baseline=baseline,
        baseline_href=href,
        since=since,
    )


def _last(tool: ToolView, now: datetime) -> State:
    verdict = words.calm(tool.last_verdict, tool.last_via)
    text = times.age(tool.last_change_at, now) if tool.last_change_at else verdict.word
    return State(verdict.tone, verdict.glyph, text, verdict.quiet)


def _baseline(
    group: Sequence[ToolView], baselines: Mapping[int, BaselineView], against: Mapping[int, Against]
) -> tuple[str, str, State | None]:
    for tool in group:
        accepted = baselines.get(tool.id)
        if accepted is not None and accepted.version_id != tool.version_id:
            was = "absent" if accepted.number is None else f"v{accepted.number}"
            now = "gone" if tool.version is None else f"v{tool.version}"
            return f"{was} → {now}", f"/tools/{tool.id}?from=baseline", _since(tool, accepted, against)
    return "same", "", None


def _since(tool: ToolView, accepted: BaselineView, against: Mapping[int, Against]) -> State | None:
    """The verdict of baseline -> current, where it is known: the last change's own, or one kept beside it."""
    if tool.last_from_id == accepted.version_id:
        return words.calm(tool.last_verdict, tool.last_via)
    kept = against.get(tool.last_change_id or 0)
    return words.calm(kept.verdict, kept.via) if kept and kept.version_id == accepted.version_id else None
