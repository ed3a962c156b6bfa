"""The channels page and the change page's forms, without a browser: what a person does there has its effect."""

from __future__ import annotations

import re
from typing import Any


async def test_add_test_and_remove_a_channel(visitor: Any) -> None:
    page = await visitor.post(
        "/settings/channels", {"name": "ci", "kind": "webhook", "url": "https://ci.example/hooks"}
    )
    assert "whsec_" in page
    page = await visitor.get("/settings/channels")
    assert "whsec_" not in page
    assert "ci.example" not in page
    number = re.findall(r"/settings/channels/(\d+)/rotate", page)[-1]
    page = await visitor.post(f"/settings/channels/{number}/test", {})
    assert "A test message is on its way" in page
    assert "Sent to ci" in page
    page = await visitor.post(f"/settings/channels/{number}/disable", {})
    assert "ci is out of service" in page
    assert "switched off by" in page
    page = await visitor.post(f"/settings/channels/{number}/enable", {})
    page = await visitor.post("/settings/routes", {"name": "prod", "channel": number, "tags": "prod, pci"})
    assert "tags: prod, pci" in page
    page = await visitor.post(f"/settings/channels/{number}/remove", {})
    assert f"/settings/channels/{number}/" not in page


async def test_a_channel_hears_what_its_filter_lets_through(visitor: Any) -> None:
    page = await visitor.get("/settings/channels")
    number = re.findall(r"filter=(\d+)#filter", page)[0]
    asked = {"tags": "prod, pci", "severities": ["critical", "warning"], "announcements": "silent"}
    page = await visitor.post(f"/settings/channels/{number}/filter", asked)
    assert "tags: prod, pci; announcements: silent" in page.replace("severities: critical, warning; ", "")
    page = await visitor.get(f"/settings/channels?filter={number}")
    assert 'value="prod, pci"' in page
    assert re.findall(r'value="(\w+)" checked', page) == ["critical", "warning", "silent"]
    async with visitor.world.services.db.engine.connect() as connection:
        query = "SELECT actor, before, after FROM audit_log WHERE action = 'channel.change' ORDER BY id DESC LIMIT 1"
        actor, before, after = (await connection.exec_driver_sql(query)).one()
    assert actor.startswith("admin")
    assert '"accepts": null' in str(before)
    assert '"announcements": ["silent"]' in str(after)
    assert "hears everything its routes send" in await visitor.post(f"/settings/channels/{number}/filter", {})


async def test_a_filter_from_the_api_keeps_words_that_the_page_does_not_know(visitor: Any) -> None:
    async with visitor.world.services.db.engine.begin() as connection:
        await connection.exec_driver_sql('UPDATE channel SET accepts = \'{"kinds": ["drift", "contract"]}\'')
    page = await visitor.get("/settings/channels")
    number = re.findall(r"filter=(\d+)#filter", page)[0]
    page = await visitor.get(f"/settings/channels?filter={number}")
    assert re.findall(r'name="kinds" value="([\w-]+)" checked', page) == ["drift", "contract"]


async def test_a_route_is_changed_with_every_condition_there_is(visitor: Any) -> None:
    page = await visitor.get("/settings/channels")
    number = re.findall(r"/settings/channels/(\d+)/test", page)[0]
    await visitor.post(
        "/settings/routes", {"name": "prod", "channel": number, "via": "declared", "verdicts": "breaking"}
    )
    page = await visitor.get("/settings/channels")
    route = re.findall(r"\?route=(\d+)#route", page)[0]
    assert "verdicts: breaking" in page
    page = await visitor.get(f"/settings/channels?route={route}")
    assert f'action="/settings/routes/{route}/change"' in page
    assert re.findall(r'value="([\w-]+)" checked', page) == [number, "breaking", "declared"]
    page = await visitor.post(
        f"/settings/routes/{route}/change", {"channel": number, "reasons": ["restart"], "goes_on": "1"}
    )
    assert "reasons: restart" in page
    assert "verdicts: breaking" not in page
    assert "then the next match too" in page
    await visitor.post(f"/settings/routes/{route}/change", {"reasons": ["restart"]}, status=422)


async def test_mute_and_ignore_from_the_change_page(visitor: Any) -> None:
    async with visitor.world.services.db.engine.connect() as connection:
        query = (
            "SELECT a.id, d.change_id FROM alert a JOIN alert_decision d ON d.alert_id = a.id"
            " WHERE a.state = 'open' AND a.kind = 'drift' AND d.outcome = 'alert' ORDER BY a.id LIMIT 1"
        )
        alert, change = (await connection.exec_driver_sql(query)).one()
    page = await visitor.get(f"/changes/{change}")
    assert f'action="/alerts/{alert}/mute"' in page
    await visitor.post(f"/alerts/{alert}/mute", {"hours": "24", "reason": "we know"})
    page = await visitor.get("/settings/quiet")
    assert "we know" in page
    number = re.findall(r"/settings/quiet/mute/(\d+)/end", page)[0]
    assert "we know" not in await visitor.post(f"/settings/quiet/mute/{number}/end", {})
    page = await visitor.post(f"/changes/{change}/ignore", {"what": "0", "days": "30", "reason": "sandbox only"})
    assert "Ignored from now on" in page
    assert "sandbox only" in await visitor.get("/settings/quiet")
    await visitor.post(f"/changes/{change}/ignore", {"what": "0", "days": "30", "reason": " "}, status=422)


async def test_the_changelog_leads_to_its_feed(visitor: Any) -> None:
    assert 'href="/feeds/all.atom"' in await visitor.get("/changelog")
    assert (await visitor.get("/feeds/all.atom")).startswith('<?xml version="1.0"')
