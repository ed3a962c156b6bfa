"""The pages that browser tests open, by what they show."""

from __future__ import annotations

from datetime import timedelta

from browser.world import MARKUP_NAME, World


def paths(world: World) -> dict[str, str]:
    moment = world.now - timedelta(seconds=300)
    return {
        "overview": "/",
        "search": "/?q=order",
        "filtered": "/?tag=prod&era=modern",
        "rules": "/rules",
        "guides": "/announce",
        "guide": "/announce/python-mcp-2",
        "changelog": "/changelog",
        "changelog of a server": f"/changelog?server={world.servers['orders']}&verdict=breaking",
        "as of": f"/servers/{world.servers['orders']}/as-of?at={moment:%Y-%m-%dT%H:%M:%S}",
        "listening": f"/servers/{world.servers['crm']}",
        "kinds": f"/servers/{world.servers['rates']}?range=24h",
        "side by side": f"/tools/{world.tools['orders', 'get_order']}?view=side",
        "channels": "/settings/channels?log=1&filter=1",
        "quiet": "/settings/quiet",
        "policy": "/settings/policy?scope=tag:prod",
        "register": "/servers/new",
        "import": "/servers/import",
        "server": f"/servers/{world.servers['orders']}",
        "hostile": f"/servers/{world.servers['tickets']}",
        "unwatched": f"/servers/{world.servers['billing']}",
        "tool": f"/tools/{world.tools['orders', 'get_order']}",
        "raw": f"/tools/{world.tools['orders', 'get_order']}?view=raw",
        "change": f"/changes/{world.changes['orders', 'get_order']}",
        "input change": f"/changes/{world.changes['crm', 'search']}",
        "invalid change": f"/changes/{world.changes['files', 'read_text']}",
        "text change": f"/changes/{world.changes['tickets', MARKUP_NAME]}",
        "removal": f"/changes/{world.changes['tickets', 'gone_soon']}",
        "changeset": f"/changesets/{world.changesets['files']}",
    }
