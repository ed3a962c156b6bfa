"""Every operation of the API asked once, in an order in which each can be answered: a seeded world and a live server.

What is written here is what the description of the API shows as examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import httpx2
from browser.world import World

ORIGIN: Final = "http://driftwatch.test"
#: items shown of a list, and characters of a text
MOST_ITEMS: Final = 2
MOST_TEXT: Final = 600


@dataclass
class Everything:
    """Asks, and keeps question and answer by operation id. The last question of an operation is kept."""

    client: httpx2.AsyncClient
    document: Mapping[str, Any]
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def ask(self, operation: str, body: Any = None, **parameters: Any) -> Any:
        """The answer of an operation; keyword arguments are parameters of path and query."""
        path, method = next(
            (path, method)
            for path, methods in self.document["paths"].items()
            for method, described in methods.items()
            if described["operationId"] == operation
        )
        given = {name.rstrip("_"): value for name, value in parameters.items()}
        query = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
        url = path.format(**given)
        answer = await self.client.request(method, url, params=query, **({} if body is None else {"json": body}))
        assert answer.is_success, f"{operation}: {answer.status_code} {answer.text}"
        is_json = answer.headers.get("content-type") == "application/json"
        said = answer.json() if is_json else answer.text
        self.seen[operation] = {
            "parameters": given,
            "body": body,
            "status": answer.status_code,
            "answer": shown(said) if is_json else said[:MOST_TEXT],
        }
        return said


def shown(value: Any) -> Any:
    """An answer short enough for a page of documentation."""
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(item) for item in value[:MOST_ITEMS]]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return f"{value[: MOST_TEXT - 1]}…"
    return value


async def ask_everything(client: httpx2.AsyncClient, document: Mapping[str, Any], world: World, url: str) -> Everything:
    """Ask every operation of the document; ``url``: an MCP server that can be watched."""
    api = Everything(client, document)
    await _the_fleet(api, world)
    await _one_server(api, world)
    await _tools(api, world)
    await _changes(api, world)
    await _alerts(api, world)
    await _channels(api)
    await _quiet(api, world)
    await _badges(api, world)
    await _pushed(api)
    await _registration(api, url)
    return api


async def _the_fleet(api: Everything, world: World) -> None:
    await api.ask("healthz")
    await api.ask("readyz")
    await api.ask("get_overview")
    await api.ask("list_standings", tag="prod")
    await api.ask("search", q="order")
    await api.ask("list_servers", tag="prod")
    await api.ask("get_server", server_id=world.servers["orders"])
    await api.ask("list_rules")


async def _one_server(api: Everything, world: World) -> None:
    crm = world.servers["crm"]
    await api.ask("get_timeline", server_id=crm, since=(world.now - timedelta(days=120)).isoformat())
    await api.ask("list_listening", server_id=crm)
    await api.ask("list_findings", server_id=world.servers["tickets"])
    await api.ask("get_polls", server_id=crm)
    await api.ask("list_poll_events", server_id=world.servers["orders"])
    await api.ask("list_server_deliveries", server_id=world.servers["orders"])
    moment = world.now - timedelta(seconds=3_700)  # inside the window of crm's change
    await api.ask("get_as_of", server_id=crm, at=moment.isoformat())
    await api.ask("list_over_eras", server_id=world.servers["rates"])


async def _tools(api: Everything, world: World) -> None:
    tool = world.tools["orders", "get_order"]
    await api.ask("list_tools", server_id=world.servers["orders"])
    await api.ask("get_tool", tool_id=tool)
    await api.ask("change_tool", {"transitive": True}, tool_id=tool)
    await api.ask("list_versions", tool_id=tool)
    await api.ask("get_version", tool_id=tool, number=1)
    await api.ask("diff_versions", tool_id=tool, from_="baseline", to=2)


async def _changes(api: Everything, world: World) -> None:
    change = world.changes["orders", "get_order"]
    await api.ask("list_changes", verdict="breaking", limit=1)
    await api.ask("get_change", change_id=change)
    await api.ask("get_change_markdown", change_id=change)
    await api.ask("dry_run_change", row_id=change)
    await api.ask("list_changesets", tag="prod", limit=1)
    await api.ask("get_changeset", changeset_id=world.changesets["crm"])
    await api.ask("export_changelog", server=world.servers["crm"])
    await api.ask("export_changelog_markdown", server=world.servers["crm"])


async def _alerts(api: Everything, world: World) -> None:
    alert = world.alerts["orders"]
    soon = (world.now + timedelta(days=2)).isoformat()
    await api.ask("list_alerts", limit=2)
    await api.ask("get_alert", alert_id=alert)
    await api.ask("list_alert_deliveries", alert_id=alert)
    await api.ask("acknowledge_alert", {"reason": "we ask the team"}, alert_id=alert)
    await api.ask("mute_alert", {"until": soon, "reason": "until the release"}, alert_id=alert)
    await api.ask("accept_alert", {"reason": "carriers may be pending"}, alert_id=alert)


async def _channels(api: Everything) -> None:
    config = {"url": "https://hooks.slack.com/services/T0/B0/xyz"}
    await api.ask("list_channels")
    added = await api.ask("add_channel", {"name": "releases", "kind": "slack-webhook", "config": config})
    channel = added["channel"]["id"]
    await api.ask("change_channel", {"accepts": {"severities": ["critical"]}}, channel_id=channel)
    delivery = await api.ask("test_channel", channel_id=channel)
    await api.ask("get_delivery", delivery_id=delivery["id"])
    await api.ask("list_deliveries", channel_id=1)
    told = api.seen["list_deliveries"]["answer"]["items"][0]["id"]
    await api.ask("redeliver", delivery_id=told)
    hook = {"name": "ci", "kind": "webhook", "config": {"url": "https://hooks.slack.com/ci"}}
    signed = (await api.ask("add_channel", hook))["channel"]["id"]
    await api.ask("rotate_secret", channel_id=signed)
    route = {"name": "payments", "match": {"owners": ["payments"]}, "channels": [channel]}
    number = (await api.ask("add_route", route))["id"]
    await api.ask("list_routes")
    await api.ask("change_route", {"goes_on": True}, route_id=number)
    await api.ask("order_routes", [number])
    await api.ask("remove_route", route_id=number)
    await api.ask("remove_channel", channel_id=channel)


async def _quiet(api: Everything, world: World) -> None:
    orders = world.servers["orders"]
    soon, later = ((world.now + timedelta(days=days)).isoformat() for days in (2, 3))
    mute = await api.ask("add_mute", {"server_id": orders, "tool": "get_order", "until": soon})
    await api.ask("list_mutes")
    await api.ask("end_mute", row_id=mute["id"])
    ignore = await api.ask(
        "add_ignore", {"server_id": orders, "rule": "output-null-added", "reason": "our clients take null"}
    )
    await api.ask("list_ignores")
    await api.ask("end_ignore", row_id=ignore["id"])
    window = await api.ask("add_maintenance", {"tag": "prod", "starts_at": soon, "ends_at": later})
    await api.ask("list_maintenance")
    await api.ask("end_maintenance", row_id=window["id"])
    change = await api.ask(
        "change_policy", {"line": "wording-only", "outcome": "alert", "severity": "notice", "tag": "prod"}
    )
    await api.ask("get_policy", server=orders)
    await api.ask("restore_policy", row_id=change["id"])
    old, new = {"type": "string"}, {"type": ["string", "null"]}
    await api.ask("compare_contracts", {"old": old, "new": new, "root": "any"})


async def _badges(api: Everything, world: World) -> None:
    server, tool = world.servers["orders"], world.tools["orders", "get_order"]
    await api.ask("server_badge", server_id=server)
    await api.ask("server_badge_data", server_id=server)
    await api.ask("tool_badge", tool_id=tool)
    await api.ask("tool_badge_data", tool_id=tool)
    await api.ask("feed")
    await api.ask("server_feed", server_id=server)
    await api.ask("tag_feed", tag="prod")


async def _pushed(api: Everything) -> None:
    found = await api.ask("find_pushed_server", {"name": "behind-the-wall", "owner": "platform"})
    now = found["now"]
    page = {"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]}
    snapshot = {
        "id": "3f2b6c1e-5d0a-4b7e-9c11-0a1b2c3d4e5f",
        "era": "legacy",
        "sent_at": now,
        "window": {"from": now, "to": now},
        "server": {"protocol_version": "2025-11-25", "server_info": {"name": "wall"}, "capabilities": {"tools": {}}},
        "pages": [page],
    }
    await api.ask("push_snapshot", snapshot, server_id=found["server_id"])


async def _registration(api: Everything, url: str) -> None:
    added = await api.ask("add_server", {"url": url, "name": "shop", "tags": ["prod"], "owner": "payments"})
    server = added["server"]["id"]
    await api.ask("change_server", {"interval_seconds": 60}, server_id=server)
    await api.ask("check_server", server_id=server)
    await api.ask("pause_server", server_id=server)
    await api.ask("resume_server", server_id=server)
    await api.ask("remove_server", server_id=server)
    await api.ask("add_servers", [{"url": url, "name": "shop-eu"}, {"url": url, "name": "orders"}])
    await api.ask("import_servers", {"content": f'{{"mcpServers": {{"shop-us": {{"url": "{url}"}}}}}}'})
