"""One release that edits 161 tools: told by cause, each tool once, counted as a whole in the changelog."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.world import TEXT, Definition, obj, tool

from driftwatch.wire.facts import Era

pytestmark = pytest.mark.postgres


def edited(number: int, *, new: bool) -> Definition:
    if number < 120:
        return tool(f"read_{number:03}", obj(["id", "region"] if new else ["id"], id=TEXT, region=TEXT))
    return tool(f"text_{number:03}", says="Other words." if new else "Some words.")


async def test_161_edits_in_one_release(visitor: Any) -> None:
    world = visitor.world
    await world.watch("erp", Era.MODERN)
    await world.poll("erp", [edited(number, new=False) for number in range(161)], 30)
    await world.hold("erp", [edited(number, new=True) for number in range(161)], 20)
    await world.learn_ids()
    html = await visitor.get(f"/changesets/{world.changesets['erp']}")
    assert len(html) < 100_000
    groups = re.findall(r"<b>(\d+) tools</b>", html)
    assert groups[:2] == ["120", "41"]
    assert html.count('<th scope="row"') >= 161
    log = await visitor.get(f"/changelog?server={world.servers['erp']}")
    assert "161 tools changed, 120 breaking" in log
    assert "and 121 more" in log
