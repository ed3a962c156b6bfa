"""The overview: what needs you first, then every server in one line. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from driftwatch.alerts import words as alert_words
from driftwatch.alerts.views import AlertChange, AlertView
from driftwatch.history.views import ChangeView
from driftwatch.web.pages import spark, story, times, words
from driftwatch.web.pages.models import FleetRow, ProfileLine
from driftwatch.web.pages.words import State

Standing = Literal["needs", "blind", "fine"]

#: how the doubt that is about no tool is called
ITSELF: Final = "what it says of itself"
_ORDER: Final[Mapping[Standing, int]] = {"needs": 0, "blind": 1, "fine": 2}
_RANK: Final = {"invalid": 4, "breaking": 3, "undecided": 2, "compatible": 1}


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs a person: an open alert. ``what`` and ``why`` are sentences, names in backticks."""

    state: State
    server: str
    server_href: str
    tool: str | None
    tool_href: str | None
    what: str
    why: str
    since: datetime
    href: str


@dataclass(frozen=True, slots=True)
class Line:
    """One server of the table. ``fix`` is a link (href, word) to what can be done about its state."""

    id: int
    name: str
    tools: str
    seen: str
    last: State | None
    last_href: str
    spark: spark.Spark
    state: State
    why: str
    standing: Standing
    tags: tuple[str, ...]
    owner: str | None
    fix: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many servers stand how."""

    servers: int
    fine: int
    blind: int
    needs: int


def needs(alerts: Sequence[AlertView], changes: Mapping[int, ChangeView]) -> list[Need]:
    """Open alerts as lines; ``changes`` holds the worst change of each, by change id, where it is loaded."""
    return [_need(alert, changes) for alert in alerts if alert.state == "open"]


def lead(alert: AlertView) -> AlertChange | None:
    """The change that speaks for an alert: an alerting one before a quiet one, the worst verdict first."""
    return max(
        alert.changes, key=lambda c: (c.outcome == "alert", _RANK.get(c.verdict or "", 0), -c.change_id), default=None
    )


def lines(rows: Sequence[FleetRow], alerts: Sequence[AlertView], now: datetime) -> list[Line]:
    """Every server, those that need someone first, then those nobody watches, then by name."""
    by_server: dict[int, list[AlertView]] = {}
    for alert in alerts:
        by_server.setdefault(alert.server_id, []).append(alert)
    built = [_line(row, by_server.get(row.server.id, []), now) for row in rows]
    return sorted(built, key=lambda line: (_ORDER[line.standing], line.name))


def standing(rows: Sequence[FleetRow], alerts: Sequence[AlertView], now: datetime) -> list[tuple[FleetRow, Standing]]:
    """How every server stands, in the order of the table; costs little, so that only shown lines are drawn."""
    by_server: dict[int, list[AlertView]] = {}
    for alert in alerts:
        by_server.setdefault(alert.server_id, []).append(alert)
    stands = [(row, _standing(row, by_server.get(row.server.id, []), now)[2]) for row in rows]
    return sorted(stands, key=lambda item: (_ORDER[item[1]], item[0].server.name))


def tally(stands: Sequence[Standing]) -> Tally:
    """Count how servers stand."""
    return Tally(len(stands), stands.count("fine"), stands.count("blind"), stands.count("needs"))


def last_poll(rows: Sequence[FleetRow]) -> datetime | None:
    """When anything was polled last."""
    return max((p.last_poll_at for row in rows for p in row.profiles if p.last_poll_at), default=None)


def poll_problem(profile: ProfileLine, now: datetime) -> str:
    """Why a profile cannot be read: ``unauthorized since 09:12: the server wants a credential``."""
    since = f" since {times.when(profile.failing_since, now)}" if profile.failing_since else ""
    message = profile.last_error.get("message") if profile.last_error else None
    return f"{words.failure(profile.state)}{since}{f': {message}' if isinstance(message, str) else ''}"


def _need(alert: AlertView, changes: Mapping[int, ChangeView]) -> Need:
    server_href = f"/servers/{alert.server_id}"
    if alert.kind != "drift":
        return Need(
            State("unknown", "unknown", "not watched"),
            alert.server,
            server_href,
            None,
            None,
            words.plain_title(alert.title),
            "We see nothing of it until this is put right.",
            alert.opened_at,
            server_href,
        )
    first = lead(alert)
    change = changes.get(first.change_id) if first else None
    state = words.headline_state(first.verdict if first else None, first.announcement if first else None)
    others = len({c.tool for c in alert.changes if c.outcome == "alert"}) - 1
    what = story.headline(change) if change else words.plain_title(alert.title)
    return Need(
        state=state,
        server=alert.server,
        server_href=server_href,
        tool=first.tool if first else None,
        tool_href=f"/tools/{first.tool_id}" if first else None,
        what=f"{what}, and {words.count(others, 'more tool')}" if others > 0 else what,
        why=_sentence(alert_words.evidence(change)) if change else "",
        since=alert.opened_at,
        href=f"/alerts/{alert.id}",
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _line(row: FleetRow, alerts: Sequence[AlertView], now: datetime) -> Line:
    state, why, standing, fix = _standing(row, alerts, now)
    last = row.last_change
    quiet = standing != "needs"
    shown = None
    if last is not None:
        verdict = words.verdict(last.verdict, last.via, quiet=quiet)
        shown = State(verdict.tone, verdict.glyph, times.age(last.at, now), quiet)
    return Line(
        id=row.server.id,
        name=row.server.name,
        tools=_tools(row.profiles),
        seen=", ".join(dict.fromkeys(profile.era for profile in row.profiles)) or "nobody yet",
        last=shown,
        last_href=f"/changes/{last.id}" if last else "",
        spark=spark.draw(row.weeks, blind_weeks=1 if standing == "blind" else 0),
        state=state,
        why=why,
        standing=standing,
        tags=row.server.tags,
        owner=row.server.owner,
        fix=fix,
    )


def _tools(profiles: Sequence[ProfileLine]) -> str:
    counts = [profile.tool_count for profile in profiles if profile.tool_count is not None]
    return str(max(counts)) if counts else "–"


def _standing(
    row: FleetRow, alerts: Sequence[AlertView], now: datetime
) -> tuple[State, str, Standing, tuple[str, str] | None]:
    here = f"/servers/{row.server.id}"
    open_drift = [alert for alert in alerts if alert.kind == "drift" and alert.state == "open"]
    if open_drift:
        return _needs_you(open_drift, now)
    if row.server.state == "paused":
        return State("unknown", "paused", "not watched"), "paused", "blind", (here, "resume")
    failing = [profile for profile in row.profiles if profile.failing]
    if failing and len(failing) == len(row.profiles):
        return State("unknown", "unknown", "not watched"), poll_problem(failing[0], now), "blind", (here, "see why")
    if failing:
        why = f"{words.clients(failing[0].era)}: {poll_problem(failing[0], now)}"
        return State("unknown", "unknown", "partly watched"), why, "blind", (here, "see why")
    polled = [profile.last_poll_at for profile in row.profiles if profile.last_poll_at]
    if not polled:
        return State("pending", "pending", "first look"), "waits for its first poll", "fine", None
    if restless := list(dict.fromkeys(tool or ITSELF for profile in row.profiles for tool in profile.unsettled)):
        why = f"{words.listed(restless)} {'does' if len(restless) == 1 else 'do'} not hold still"
        state = State("undecided", "undecided", "unsettled")
        return state, why, "blind", (f"{here}#h-find", "see why")
    handled = [f"acknowledged by {a.handled_by}" for a in alerts if a.state == "acknowledged" and a.handled_by]
    why = " · ".join([times.ago(max(polled), now), *handled[:1]])
    return State("compatible", "compatible", "fine", quiet=True), why, "fine", None


def _needs_you(alerts: Sequence[AlertView], now: datetime) -> tuple[State, str, Standing, None]:
    first = lead(alerts[0])
    state = words.verdict(first.verdict if first else None)
    tools = list(dict.fromkeys(c.tool for alert in alerts for c in alert.changes if c.outcome == "alert"))
    since = min(alert.opened_at for alert in alerts)
    named = words.listed(tools, cap=1) if tools else "a change"
    return State(state.tone, state.glyph, "needs you"), f"{named}, since {times.when(since, now)}", "needs", None
