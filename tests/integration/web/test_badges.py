"""Badges tell a state to those who may read, and to everyone only where the setting says so."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

import httpx2
import pytest
from browser.world import MARKUP_NAME

from driftwatch.web.app import create_app

pytestmark = pytest.mark.postgres


async def test_a_server_and_a_tool_as_shields_json_and_svg(visitor: Any) -> None:
    world = visitor.world
    orders, tool = world.servers["orders"], world.tools["orders", "get_order"]
    answer = (await visitor.client.get(f"/badges/servers/{orders}.json")).json()
    assert answer == {
        "schemaVersion": 1,
        "label": "orders",
        "message": "needs you",
        "color": "red",
        "isError": True,
        "cacheSeconds": 60,
    }
    fine = (await visitor.client.get(f"/badges/servers/{world.servers['rates']}.json")).json()
    assert (fine["message"], fine["color"]) == ("fine", "brightgreen")
    told = (await visitor.client.get(f"/badges/tools/{tool}.json")).json()
    assert (told["label"], told["message"]) == ("orders / get_order", "breaking")
    other = (await visitor.client.get(f"/badges/tools/{world.tools['orders', 'list_orders']}.json")).json()
    assert other["message"] == "fine"
    svg = await visitor.client.get(f"/badges/tools/{world.tools['tickets', MARKUP_NAME]}.svg")
    assert svg.headers["content-type"].startswith("image/svg+xml")
    root = Xml.fromstring(svg.text)
    assert MARKUP_NAME in str(root.get("aria-label"))
    assert [one.tag for one in root.iter() if one.tag.endswith("img")] == []
    assert (await visitor.client.get("/badges/servers/9999.svg")).status_code == 404


async def test_who_may_see_a_badge(visitor: Any) -> None:
    world = visitor.world
    path = f"/badges/servers/{world.servers['orders']}.json"
    for public, headers, expected in (
        (False, {}, 401),
        (False, {"authorization": "Bearer dw_nobody"}, 401),
        (False, {"authorization": f"Bearer {world.token}"}, 200),
        (True, {}, 200),
    ):
        settings = world.services.settings.model_copy(update={"public_badges": public})
        app = create_app(replace_settings(world.services, settings))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x.test") as client:
            assert (await client.get(path, headers=headers)).status_code == expected


def replace_settings(services: Any, settings: Any) -> Any:
    from dataclasses import replace

    return replace(services, settings=settings)
