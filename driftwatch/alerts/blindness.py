"""Servers we cannot watch: told when it lasts, grouped in one message, reminded of if wanted, told when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import and_, func, select
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import quiet_store, states, store, words
from driftwatch.alerts.dispatch import dispatch
from driftwatch.alerts.events import BlindData, NotWatching, to_data
from driftwatch.alerts.message import Message
from driftwatch.alerts.notice import Notice
from driftwatch.alerts.notices import Blind, blind_message, blind_title, still_blind_message, watching_message
from driftwatch.alerts.quiet_store import in_maintenance
from driftwatch.alerts.read import delivery_group
from driftwatch.alerts.routes import Facts
from driftwatch.alerts.tables import Alert, AlertEvent
from driftwatch.db.stored import row_id
from driftwatch.scheduler.tables import ProfileState
from driftwatch.servers.tables import Profile, Server
from driftwatch.settings import Settings

#: one failed poll proves little
_POLLS: Final = 3
_ORDERING: Final = "not-watching"


async def raise_blind(session: AsyncSession, settings: Settings) -> list[int]:
    """Open alerts for servers that could not be polled for long enough, close those that can be again; their ids.

    Long enough: ``not_watching_seconds`` and three polls, whichever is longer. One process at a time may do this.
    """
    opened = await _raise(session, settings, await _newly_blind(session, settings))
    return [*opened, *await _resolve(session, settings)]


async def _raise(session: AsyncSession, settings: Settings, blind: Sequence[Blind]) -> list[int]:
    alerts = []
    for server in blind:
        alert = Alert(kind="not-watching", server_id=server.server_id, severity="warning", title=blind_title([server]))
        alerts.append(await store.add_alert(session, alert))
    if alerts:
        message = blind_message(blind, settings.public_url)
        await _announce(session, alerts, "opened", "not-watching", message, [_detail(b) for b in blind], blind)
    return alerts


async def _resolve(session: AsyncSession, settings: Settings) -> list[int]:
    closed, told, back = [], [], []
    for alert, server in await _over(session):
        states.check(alert.kind, alert.state, "resolved")
        alert.state, alert.closed_at = "resolved", await store.now(session)
        closed.append(row_id(alert.id))
        if server.state == "active":
            told.append(row_id(alert.id))
            back.append(await _as_it_was(session, alert, server))
        else:
            await store.add_event(session, closed[-1], "resolved", reason=f"the server is {server.state}")
    if told:
        message = watching_message(back, settings.public_url)
        await _announce(session, told, "resolved", "watching-again", message, [{} for _ in told], back)
    return closed


async def remind_blind(session: AsyncSession, settings: Settings) -> list[int]:
    """Remind, in one message, of servers that are still not watched and that nobody acknowledged; their alerts.

    Nothing while the setting is 0; a server that is muted or in maintenance is left out.
    """
    if not settings.reminder_hours:
        return []
    now = await store.now(session)
    due: list[tuple[int, Blind]] = []
    for alert, server in await _to_remind(session, before=now - timedelta(hours=settings.reminder_hours)):
        mutes = await quiet_store.mutes_on(session, alert.server_id, alert_id=row_id(alert.id), tools=())
        if mutes is None:
            due.append((row_id(alert.id), await _as_it_was(session, alert, server)))
    if due:
        blind = [server for _, server in due]
        age = words.span((now - min(server.since for server in blind)).total_seconds())
        message = still_blind_message(blind, age, settings.public_url)
        alerts = [alert for alert, _ in due]
        await _announce(session, alerts, "reminded", "still-not-watching", message, [{} for _ in due], blind)
    return [alert for alert, _ in due]


async def _to_remind(session: AsyncSession, *, before: datetime) -> list[tuple[Alert, Server]]:
    """Open alerts of which nobody was reminded or told after ``before``, locked."""
    heard = select(AlertEvent).where(
        col(AlertEvent.alert_id) == col(Alert.id),
        col(AlertEvent.kind).in_(("opened", "reminded")),
        col(AlertEvent.at) > before,
    )
    query = (
        select(Alert, Server)
        .join(Server, col(Server.id) == Alert.server_id)
        .where(
            col(Alert.kind) == "not-watching",
            col(Alert.state) == "open",
            col(Server.state) == "active",
            ~heard.correlate(Alert).exists(),
            ~in_maintenance(),
        )
        .order_by(col(Alert.id))
        .with_for_update(of=Alert)
    )
    return [(alert, server) for alert, server in (await session.execute(query)).all()]


async def _announce(
    session: AsyncSession,
    alerts: Sequence[int],
    kind: str,
    event: str,
    message: Message,
    details: Sequence[Mapping[str, Any]],
    servers: Sequence[Blind],
) -> None:
    """One event for each alert, one message for all: the first event names the group that the others refer to."""
    group: str | None = None
    for alert_id, detail in zip(alerts, details, strict=True):
        shared = {} if group is None else {"delivery": group}
        added = await store.add_event(session, alert_id, kind, detail={**detail, **shared})
        group = group or delivery_group(added)
    if group is not None:
        alone = alerts[0] if len(alerts) == 1 else None
        await dispatch(
            session,
            Notice(
                event=event,
                group=group,
                ordering=_ORDERING,
                message=message,
                facts=await _facts(session, servers, event),
                alert_id=alone,
                data=to_data(NotWatching(tuple(_data(server) for server in servers))),
            ),
        )


async def _facts(session: AsyncSession, blind: Sequence[Blind], event: str) -> Facts:
    """What routes match on; of several servers what they have in common, and every tag."""
    query = select(Server).where(col(Server.id).in_([b.server_id for b in blind])).order_by(col(Server.id))
    servers = (await session.scalars(query)).all()
    names, owners = {s.name for s in servers}, {s.owner for s in servers}
    return Facts(
        kind="not-watching",
        event=event,
        severity="warning",
        server=names.pop() if len(names) == 1 else None,
        tags=tuple(sorted({tag for s in servers for tag in s.tags})),
        owner=owners.pop() if len(owners) == 1 else None,
    )


def _data(blind: Blind) -> BlindData:
    return BlindData(blind.server_id, blind.server, blind.owner, blind.code, blind.since, blind.says)


async def _newly_blind(session: AsyncSession, settings: Settings) -> list[Blind]:
    """Active servers with a profile that has failed for long enough, without an open alert about it."""
    longest = func.greatest(settings.not_watching_seconds, _POLLS * col(Server.interval_seconds))
    told = select(col(Alert.server_id)).where(col(Alert.kind) == "not-watching", col(Alert.closed_at).is_(None))
    query = (
        select(ProfileState, col(Profile.era), Server)
        .join(Profile, col(Profile.id) == ProfileState.profile_id)
        .join(Server, col(Server.id) == Profile.server_id)
        .where(
            col(Server.state) == "active",
            col(Profile.closed_at).is_(None),
            col(ProfileState.failures) >= _POLLS,
            col(ProfileState.failing_since) <= func.clock_timestamp() - store.interval(longest),
            col(Server.id).not_in(told),
            ~in_maintenance(),
        )
        .order_by(col(Server.id), col(ProfileState.failing_since))
    )
    rows = [tuple(row) for row in (await session.execute(query)).all()]
    return [_blind(list(group)) for _, group in groupby(rows, key=lambda row: row[2].id)]


def _blind(rows: Sequence[tuple[ProfileState, str, Server]]) -> Blind:
    state, _, server = rows[0]
    error = state.last_error if isinstance(state.last_error, dict) else {}
    if state.failing_since is None:
        raise TypeError("a failing profile has a time since when")
    return Blind(
        server=server.name,
        server_id=row_id(server.id),
        owner=server.owner,
        since=state.failing_since,
        code=state.state,
        says=str(error.get("message") or state.state),
        last_good=state.last_complete_sent_at,
        eras=tuple(sorted({era for _, era, _ in rows})),
    )


async def _over(session: AsyncSession) -> list[tuple[Alert, Server]]:
    """Open alerts whose server can be polled again in every open profile, or is not to be watched any more."""
    failing = (
        select(col(Profile.server_id))
        .join(ProfileState, col(ProfileState.profile_id) == Profile.id)
        .where(col(Profile.closed_at).is_(None), col(ProfileState.failures) > 0)
    )
    over = and_(col(Server.state) == "active", col(Server.id).in_(failing)).self_group()
    query = (
        select(Alert, Server)
        .join(Server, col(Server.id) == Alert.server_id)
        .where(col(Alert.kind) == "not-watching", col(Alert.closed_at).is_(None), ~over)
        .order_by(col(Alert.id))
        .with_for_update(of=Alert)
    )
    return [(alert, server) for alert, server in (await session.execute(query)).all()]


async def _as_it_was(session: AsyncSession, alert: Alert, server: Server) -> Blind:
    """What people were told when the alert opened."""
    event = await store.first_event(session, row_id(alert.id))
    told = event.detail if event is not None and isinstance(event.detail, dict) else {}
    since = told.get("since")
    opened = datetime.fromisoformat(since) if isinstance(since, str) else alert.opened_at
    if opened is None:
        raise TypeError("a stored alert has a time")
    code, says = str(told.get("code", "not watched")), str(told.get("says", ""))
    last_good = datetime.fromisoformat(told["last_good"]) if told.get("last_good") else None
    return Blind(server.name, alert.server_id, server.owner, opened, code, says, last_good)


def _detail(blind: Blind) -> dict[str, str | None]:
    last_good = None if blind.last_good is None else blind.last_good.isoformat()
    return {"code": blind.code, "since": blind.since.isoformat(), "says": blind.says[:2000], "last_good": last_good}
