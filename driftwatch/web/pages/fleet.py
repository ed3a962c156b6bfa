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
from driftwatch.web.pages.models import FleetRow, ProfileLine, Watched
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
class _Told:
    """What a line says of a server's state."""

    state: State
    why: str
    standing: Standing
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


def standing(servers: Sequence[Watched], alerts: Sequence[AlertView]) -> list[tuple[int, Standing]]:
    """How every server (by id) stands, in the order of the table."""
    return [(one.id, how) for one, how in in_order(servers, alerts)]


def in_order(servers: Sequence[Watched], alerts: Sequence[AlertView]) -> list[tuple[Watched, Standing]]:
    """How every server stands, in the order of the table."""
    open_drift = {alert.server_id for alert in alerts if _open_drift(alert)}
    stands = [(one, _stand(one.id in open_drift, one.state, one.failing, one.unsettled)) for one in servers]
    return sorted(stands, key=lambda item: place(*item))


def place(server: Watched, stand: Standing) -> tuple[int, str]:
    """Where a server stands in the order of the table."""
    return _ORDER[stand], server.name


def tally(stands: Sequence[Standing]) -> Tally:
    """Count how servers stand."""
    return Tally(len(stands), stands.count("fine"), stands.count("blind"), stands.count("needs"))


def last_poll(servers: Sequence[Watched]) -> datetime | None:
    """When anything was polled last."""
    return max((one.last_poll_at for one in servers if one.last_poll_at), default=None)


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
    others = alert.tools - 1
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
    told = _told(row, alerts, now)
    last = row.last_change
    quiet = told.standing != "needs"
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
        spark=spark.draw(row.weeks, blind_weeks=1 if told.standing == "blind" else 0),
        state=told.state,
        why=told.why,
        standing=told.standing,
        tags=row.server.tags,
        owner=row.server.owner,
        fix=told.fix,
    )


def _tools(profiles: Sequence[ProfileLine]) -> str:
    counts = [profile.tool_count for profile in profiles if profile.tool_count is not None]
    return str(max(counts)) if counts else "–"


def _open_drift(alert: AlertView) -> bool:
    return alert.kind == "drift" and alert.state == "open"


def _stand(open_drift: bool, state: str, failing: bool, unsettled: bool) -> Standing:
    if open_drift:
        return "needs"
    return "blind" if state == "paused" or failing or unsettled else "fine"


def _told(row: FleetRow, alerts: Sequence[AlertView], now: datetime) -> _Told:
    failing = [profile for profile in row.profiles if profile.failing]
    open_drift = [alert for alert in alerts if _open_drift(alert)]
    restless = list(dict.fromkeys(tool or ITSELF for profile in row.profiles for tool in profile.unsettled))
    how = _stand(bool(open_drift), row.server.state, bool(failing), bool(restless))
    if how == "needs":
        return _needs_you(open_drift, now)
    if how == "blind":
        return _blind(row, failing, restless, now)
    polled = [profile.last_poll_at for profile in row.profiles if profile.last_poll_at]
    if not polled:
        return _Told(State("pending", "pending", "first look"), "waits for its first poll", "fine")
    handled = [f"acknowledged by {a.handled_by}" for a in alerts if a.state == "acknowledged" and a.handled_by]
    why = " · ".join([times.ago(max(polled), now), *handled[:1]])
    return _Told(State("compatible", "compatible", "fine", quiet=True), why, "fine")


def _blind(row: FleetRow, failing: Sequence[ProfileLine], restless: list[str], now: datetime) -> _Told:
    here = f"/servers/{row.server.id}"
    if row.server.state == "paused":
        return _Told(State("unknown", "paused", "not watched"), "paused", "blind", (here, "resume"))
    if not failing:
        why = f"{words.listed(restless)} {'does' if len(restless) == 1 else 'do'} not hold still"
        return _Told(State("undecided", "undecided", "unsettled"), why, "blind", (f"{here}#h-find", "see why"))
    problem = poll_problem(failing[0], now)
    if len(failing) == len(row.profiles):
        return _Told(State("unknown", "unknown", "not watched"), problem, "blind", (here, "see why"))
    why = f"{words.clients(failing[0].era)}: {problem}"
    return _Told(State("unknown", "unknown", "partly watched"), why, "blind", (here, "see why"))


def _needs_you(alerts: Sequence[AlertView], now: datetime) -> _Told:
    first = lead(alerts[0])
    state = words.verdict(first.verdict if first else None)
    since = min(alert.opened_at for alert in alerts)
    others = sum(alert.tools for alert in alerts) - 1
    named = f"{first.tool}{f' and {others} more' if others > 0 else ''}" if first else "a change"
    return _Told(State(state.tone, state.glyph, "needs you"), f"{named}, since {times.when(since, now)}", "needs")
