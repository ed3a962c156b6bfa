"""What people do about alerts and about what they want to hear: one service for the API, pages and Slack's buttons.

Each action and its audit row are one transaction, the caller's.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.alerts import lifecycle, overrides, quiet_store, store, transitive_store
from driftwatch.alerts.quiet_tables import IgnoreRule, MaintenanceWindow, Mute, PolicyChange
from driftwatch.errors import ConflictError, InputError, NotFoundError
from driftwatch.servers.tables import Server
from driftwatch.settings import Settings
from driftwatch.web.auth.store import write_audit

#: a mute that lasts longer is an ignore rule without a reason
LONGEST_MUTE: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class By:
    """Who acts, as the audit log and alerts show it, and the request it came with."""

    actor: str
    request_id: str | None = None


async def acknowledge(
    session: AsyncSession, settings: Settings, by: By, alert_id: int, *, reason: str | None = None
) -> None:
    """See lifecycle.acknowledge."""
    await lifecycle.acknowledge(session, settings, alert_id, actor=by.actor, reason=reason)
    await audit(session, by, "alert.acknowledge", f"alert/{alert_id}", after={"reason": _words(reason)})


async def accept(
    session: AsyncSession,
    settings: Settings,
    by: By,
    alert_id: int,
    *,
    reason: str | None = None,
    tools: Collection[int] | None = None,
) -> None:
    """See lifecycle.accept."""
    await lifecycle.accept(session, settings, alert_id, actor=by.actor, reason=reason, tools=tools)
    after = {"reason": _words(reason)} | ({} if tools is None else {"tools": sorted(tools)})
    await audit(session, by, "alert.accept", f"alert/{alert_id}", after=after)


async def mute_alert(
    session: AsyncSession, settings: Settings, by: By, alert_id: int, *, until: datetime, reason: str | None = None
) -> int:
    """See lifecycle.mute."""
    await _check_end(session, until)
    mute_id = await lifecycle.mute(session, settings, alert_id, actor=by.actor, until=until, reason=reason)
    after = {"alert": alert_id, "until": until.isoformat(), "reason": _words(reason)}
    await audit(session, by, "mute.add", f"mute/{mute_id}", after=after)
    return mute_id


async def mute_server(
    session: AsyncSession,
    by: By,
    server_id: int,
    *,
    until: datetime,
    tool: str | None = None,
    reason: str | None = None,
) -> int:
    """No reminder or repetition of known drift of a server, or one of its tools, until then; a new change ends it.

    Raises NotFoundError, InputError.
    """
    await _check_end(session, until)
    await known_server(session, server_id)
    row = Mute(server_id=server_id, tool=tool, until=until, reason=_words(reason), created_by=by.actor)
    mute_id = await quiet_store.add(session, row)
    after = {"server": server_id, "tool": tool, "until": until.isoformat(), "reason": _words(reason)}
    await audit(session, by, "mute.add", f"mute/{mute_id}", after=after)
    return mute_id


async def end_mute(session: AsyncSession, by: By, mute_id: int) -> None:
    """End a mute now. Raises NotFoundError, ConflictError."""
    row: Mute = await quiet_store.one(session, Mute, mute_id, "mute")
    if row.ended_at is not None or row.until <= await store.now(session):
        raise ConflictError("This mute is over already.")
    row.ended_at, row.ended_by = await store.now(session), by.actor
    await audit(session, by, "mute.end", f"mute/{mute_id}")


async def ignore(
    session: AsyncSession,
    by: By,
    *,
    server_id: int | None,
    tool: str | None,
    rule: str | None,
    pointer: str | None,
    reason: str,
    expires_at: datetime | None = None,
) -> int:
    """Do not alert for what matches, from now on. Fields that are None are open. Raises NotFoundError, InputError."""
    if _words(reason) is None:
        raise InputError("An ignore rule needs a reason.", hint="Say why nobody needs to hear of it.")
    if all(field is None for field in (server_id, tool, rule, pointer)):
        raise InputError("This rule would ignore everything.", hint="Name a server, a tool, a rule or a pointer.")
    if expires_at is not None and expires_at <= await store.now(session):
        raise InputError("The rule would be over at once.", hint="Choose an end in the future, or none.")
    if server_id is not None:
        await known_server(session, server_id)
    row = IgnoreRule(
        server_id=server_id,
        tool=tool,
        rule=rule,
        pointer=pointer,
        reason=reason.strip(),
        expires_at=expires_at,
        created_by=by.actor,
    )
    ignore_id = await quiet_store.add(session, row)
    after = {"server": server_id, "tool": tool, "rule": rule, "pointer": pointer, "reason": reason.strip()}
    after |= {"expires_at": None if expires_at is None else expires_at.isoformat()}
    await audit(session, by, "ignore.add", f"ignore/{ignore_id}", after=after)
    return ignore_id


async def end_ignore(session: AsyncSession, by: By, ignore_id: int) -> None:
    """Hear of it again. Raises NotFoundError, ConflictError."""
    row: IgnoreRule = await quiet_store.one(session, IgnoreRule, ignore_id, "ignore rule")
    if row.ended_at is not None:
        raise ConflictError("This rule is over already.")
    row.ended_at, row.ended_by = await store.now(session), by.actor
    await audit(session, by, "ignore.end", f"ignore/{ignore_id}")


async def maintain(
    session: AsyncSession,
    by: By,
    *,
    starts_at: datetime,
    ends_at: datetime,
    server_id: int | None = None,
    tag: str | None = None,
    reason: str | None = None,
) -> int:
    """Plan a maintenance window: messages wait until it is over. Raises NotFoundError, InputError."""
    if server_id is not None and tag is not None:
        raise InputError("A window is for a server or for a tag, not both.")
    if ends_at <= starts_at or ends_at <= await store.now(session):
        raise InputError(
            "The window ends before it begins, or is over.", hint="Times carry their offset, for example Z."
        )
    if server_id is not None:
        await known_server(session, server_id)
    row = MaintenanceWindow(
        server_id=server_id, tag=tag, starts_at=starts_at, ends_at=ends_at, reason=_words(reason), created_by=by.actor
    )
    window_id = await quiet_store.add(session, row)
    after = {"server": server_id, "tag": tag, "starts_at": starts_at.isoformat(), "ends_at": ends_at.isoformat()}
    await audit(session, by, "maintenance.add", f"maintenance/{window_id}", after=after)
    return window_id


async def end_maintenance(session: AsyncSession, by: By, window_id: int) -> None:
    """End a window now, or call it off. Raises NotFoundError, ConflictError."""
    row: MaintenanceWindow = await quiet_store.one(session, MaintenanceWindow, window_id, "maintenance window")
    now = await store.now(session)
    if row.ends_at <= now:
        raise ConflictError("This window is over already.")
    row.ends_at = now
    row.starts_at = min(row.starts_at, now)
    await audit(session, by, "maintenance.end", f"maintenance/{window_id}")


async def change_line(
    session: AsyncSession,
    by: By,
    *,
    line: str,
    outcome: str,
    severity: str | None,
    server_id: int | None = None,
    tag: str | None = None,
) -> int:
    """Give a line of the policy another outcome or severity for a server, a tag or everything. Raises InputError."""
    overrides.check(line, outcome, severity)
    if server_id is not None and tag is not None:
        raise InputError("A line is changed for a server or for a tag, not both.")
    if server_id is not None:
        await known_server(session, server_id)
    row = await quiet_store.line_change(session, line, server_id, tag)
    before = None if row is None else {"outcome": row.outcome, "severity": row.severity}
    if row is None:
        row = PolicyChange(
            line=line, outcome=outcome, severity=severity, server_id=server_id, tag=tag, created_by=by.actor
        )
    row.outcome, row.severity, row.created_by = outcome, severity, by.actor
    change_id = await quiet_store.add(session, row)
    after = {"line": line, "outcome": outcome, "severity": severity, "server": server_id, "tag": tag}
    await audit(session, by, "policy.change", f"policy/{line}", before=before, after=after)
    return change_id


async def restore_line(session: AsyncSession, by: By, change_id: int) -> None:
    """Take a change of the policy back. Raises NotFoundError."""
    row: PolicyChange = await quiet_store.one(session, PolicyChange, change_id, "policy change")
    before = {"outcome": row.outcome, "severity": row.severity, "server": row.server_id, "tag": row.tag}
    await session.delete(row)
    await audit(session, by, "policy.restore", f"policy/{row.line}", before=before)


async def choose_transitive(session: AsyncSession, by: By, tool_id: int, transitive: bool | None) -> None:
    """Whether a tool is compared with every version since its baseline; None: as its server is. Raises NotFoundError.

    It counts for the tool of that name in every profile of the server, from the next change on.
    """
    server_id, tool = await transitive_store.named(session, tool_id)
    await known_server(session, server_id)
    before = (await transitive_store.choices(session, server_id)).get(tool)
    await transitive_store.choose(session, server_id, tool, transitive)
    told = {"before": {"transitive": before}, "after": {"tool": tool, "transitive": transitive}}
    await audit(session, by, "tool.edit", f"tool/{tool_id}", **told)


async def known_server(session: AsyncSession, server_id: int) -> Server:
    """A server that is not deleted. Raises NotFoundError."""
    server = await session.get(Server, server_id)
    if server is None or server.state == "deleted":
        raise NotFoundError(f"There is no server {server_id}.", hint="Look at the list of servers.")
    return server


async def audit(
    session: AsyncSession, by: By, action: str, subject: str, *, before: Any = None, after: Any = None
) -> None:
    """The audit row of an action."""
    await write_audit(
        session, actor=by.actor, action=action, subject=subject, before=before, after=after, request_id=by.request_id
    )


async def _check_end(session: AsyncSession, until: datetime) -> None:
    now = await store.now(session)
    if until <= now:
        raise InputError("The mute would be over at once.", hint="Choose an end in the future.")
    if until > now + LONGEST_MUTE:
        raise InputError(
            f"A mute lasts at most {LONGEST_MUTE.days} days.", hint="Add an ignore rule with a reason instead."
        )


def _words(reason: str | None) -> str | None:
    return (reason or "").strip() or None
