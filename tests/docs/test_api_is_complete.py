"""Whatever a page shows or does, the API shows or does: every route of the pages names its operations here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from fastapi.routing import APIRoute

from driftwatch.settings import Settings
from driftwatch.web import live, pages
from driftwatch.web.auth import login

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "openapi.json"

PAGES: Final[dict[str, str]] = {
    "GET /": "get_overview list_standings list_alerts search",
    "GET /servers/{server_id:int}": "get_server list_listening list_tools list_over_eras get_timeline list_findings "
    "get_polls list_poll_events list_alerts list_server_deliveries list_changes",
    "POST /servers/{server_id:int}/check": "check_server",
    "POST /servers/{server_id:int}/pause": "pause_server",
    "POST /servers/{server_id:int}/resume": "resume_server",
    "POST /servers/{server_id:int}/edit": "change_server",
    "POST /servers/{server_id:int}/delete": "remove_server",
    "GET /servers/{server_id:int}/as-of": "get_as_of",
    "GET /servers/new": "add_server",
    "POST /servers/preview": "add_server",
    "POST /servers": "add_server",
    "GET /servers/import": "import_servers",
    "POST /servers/import": "import_servers",
    "GET /tools/{tool_id:int}": "get_tool list_versions get_version diff_versions list_changes",
    "GET /tools/{tool_id:int}/against/{other_id:int}": "list_over_eras get_version",
    "GET /changes/{change_id:int}": "get_change get_version list_alert_deliveries list_channels dry_run_change",
    "GET /changes/{change_id:int}.md": "get_change_markdown",
    "GET /changesets/{changeset_id:int}": "get_changeset get_alert list_alert_deliveries",
    "GET /alerts/{alert_id:int}": "get_alert",
    "POST /alerts/{alert_id:int}/acknowledge": "acknowledge_alert",
    "POST /alerts/{alert_id:int}/accept": "accept_alert",
    "POST /alerts/{alert_id:int}/mute": "mute_alert",
    "POST /changes/{change_id:int}/ignore": "add_ignore",
    "GET /changelog": "list_changesets",
    "GET /changelog.md": "export_changelog_markdown",
    "GET /changelog.json": "export_changelog",
    "GET /rules": "list_rules",
    "GET /rules/{rule_id}": "list_rules",
    "POST /servers/{server_id:int}/credential": "change_server",
    "POST /tools/{tool_id:int}/edit": "change_tool",
    "GET /settings/policy": "get_policy",
    "POST /settings/policy": "change_policy",
    "POST /settings/policy/{change_id:int}/restore": "restore_policy",
    "GET /settings/quiet": "list_mutes list_ignores list_maintenance",
    "POST /settings/quiet/mutes": "add_mute",
    "POST /settings/quiet/ignores": "add_ignore",
    "POST /settings/quiet/maintenance": "add_maintenance",
    "POST /settings/channels/{channel_id:int}/filter": "change_channel",
    "POST /settings/routes/{route_id:int}/change": "change_route",
    "GET /settings/channels": "list_channels list_routes list_deliveries list_mutes list_ignores list_maintenance "
    "get_policy",
    "POST /settings/channels": "add_channel",
    "POST /settings/channels/{channel_id:int}/{action}": "test_channel rotate_secret remove_channel change_channel",
    "POST /deliveries/{delivery_id:int}/redeliver": "redeliver",
    "POST /settings/routes": "add_route",
    "POST /settings/routes/{route_id:int}/{action}": "remove_route order_routes",
    "POST /settings/quiet/{kind}/{row_id:int}/end": "end_mute end_ignore end_maintenance",
}
#: how a browser signs in and stays up to date; a script has a token, and asks again
BROWSER_ONLY: Final = {
    "GET /login",
    "POST /login",
    "GET /login/{secret}",
    "POST /login/{secret}",
    "POST /logout",
    "GET /live",
    "GET /announce",  # reading matter
    "GET /announce/{name}",
}


def routes() -> set[str]:
    """Method and path of every page, form, and what else only browsers ask."""
    services: Any = SimpleNamespace(settings=Settings(), db=None, sandbox=None)
    live_router = live.router(services, live.Live(services.db))
    return {
        f"{method} {route.path}"
        for router in (pages.router(services), login.router, live_router)
        for route in _flat(router)
        for method in route.methods or ()
    }


def _flat(router: Any) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from _flat(route.original_router)


def test_every_page_and_form_names_what_does_the_same_over_the_api() -> None:
    assert routes() - BROWSER_ONLY == set(PAGES)


def test_the_operations_named_exist() -> None:
    paths = json.loads(DOCUMENT.read_text())["paths"]
    known = {one["operationId"] for methods in paths.values() for one in methods.values()}
    assert {name for names in PAGES.values() for name in names.split()} <= known
