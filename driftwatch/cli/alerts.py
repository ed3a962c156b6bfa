"""``driftwatch alerts …`` and ``driftwatch accept``: what needs someone, and the decision about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from driftwatch.cli import service
from driftwatch.cli.service import AsJson, Limit, Token, Url

if TYPE_CHECKING:
    from driftwatch.web.api.models import AlertOut, AlertState

cli = typer.Typer(help="What needs someone, from a running service.", no_args_is_help=True)

AlertId = Annotated[int, typer.Argument(min=1, help="Its id.")]
Reason = Annotated[str | None, typer.Option(help="Why; a pinned server demands it.")]


@cli.command("list")
def list_alerts(
    state: Annotated[
        str, typer.Option(help="needs-someone, any, open, acknowledged, accepted, settled, reverted or resolved.")
    ] = "needs-someone",
    server: Annotated[int | None, typer.Option(help="Only of this server, by id.")] = None,
    limit: Limit = 50,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Alerts, newest first."""
    with service.connect(url, token) as client:
        found = service.first(client.alerts.every(state=cast("AlertState", state), server=server), limit)
    if as_json:
        service.print_json(found)
    else:
        rows = [
            (one.id, f"{one.opened_at:%Y-%m-%d %H:%M}", one.server, one.severity, one.state, one.title) for one in found
        ]
        headings = ("id", "since (UTC)", "server", "severity", "state", "what")
        service.print_table(headings, rows, empty="Nothing needs you.")


@cli.command("show")
def show_alert(alert: AlertId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """One alert: its changes, and what happened to it."""
    with service.connect(url, token) as client:
        found = client.alerts.get(alert)
    _show(found, as_json=as_json)


@cli.command("acknowledge")
def acknowledge(
    alert: AlertId, reason: Reason = None, url: Url = None, token: Token = None, as_json: AsJson = False
) -> None:
    """Say that you are on it; reminders stop, the alert stays open."""
    with service.connect(url, token) as client:
        found = client.alerts.acknowledge(alert, reason)
    _show(found, as_json=as_json)


def accept(
    alert: AlertId,
    reason: Reason = None,
    tool: Annotated[
        list[int] | None, typer.Option(help="Accept only this tool, by id; may be repeated.", show_default="all")
    ] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Make the new contracts of an alert the baseline. It closes when all its tools are accepted."""
    with service.connect(url, token) as client:
        found = client.alerts.accept(alert, reason=reason, tools=tool)
    _show(found, as_json=as_json)


def _show(alert: AlertOut, *, as_json: bool) -> None:
    if as_json:
        service.print_json(alert)
        return
    service.print_lines(
        (
            ("alert", f"{alert.id}  {alert.title}"),
            ("server", alert.server),
            ("state", f"{alert.state}, {alert.severity}"),
            ("opened", alert.opened_at),
            ("closed", alert.closed_at),
            ("handled by", alert.handled_by),
        )
    )
    typer.echo()
    rows = [(c.change_id, c.tool_id, c.tool, c.era, c.verdict, c.announcement, c.outcome) for c in alert.changes]
    headings = ("change", "tool id", "tool", "era", "verdict", "announced", "outcome")
    service.print_table(headings, rows, empty="It is about no single change.")
    typer.echo()
    events = [(f"{e.at:%Y-%m-%d %H:%M}", e.kind, e.actor, e.reason) for e in alert.events]
    service.print_table(("when (UTC)", "what", "who", "why"), events, empty="Nothing happened to it yet.")
