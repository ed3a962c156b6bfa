"""Open pages show what happens while somebody looks at them, and take nothing away from what is being typed."""

from __future__ import annotations

import pytest
from browser.site import Site
from browser.world import TEXT, obj, tool
from playwright.async_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.postgres]


async def test_drift_appears_live_is_compared_and_accepted(site: Site) -> None:
    page = await site.open()
    await expect(page.get_by_role("heading", level=1)).to_have_text("4 need you")
    await expect(page.locator("#live")).to_have_text("live")
    await page.get_by_role("heading", level=1).evaluate("one => { window.stayed = true; }")
    stricter = tool("forecast", obj(["city", "country"], city=TEXT, country=TEXT))
    await site.world.hold("weather", [stricter, tool("alerts")], 1)
    await expect(page.get_by_role("heading", level=1)).to_have_text("5 need you")
    assert await page.evaluate("window.stayed")
    await page.get_by_role("link", name="Open: weather / forecast").click()
    await page.get_by_role("link", name="The whole contract, v1 → v2").first.click()
    await page.get_by_role("link", name="side by side").click()
    await expect(page.locator(".sides").first).to_contain_text("not there")
    await page.go_back()
    await page.go_back()
    await page.get_by_label("Reason").fill("known")
    await page.get_by_role("button", name="Accept v2", exact=True).click()
    await expect(page.get_by_role("status").first).to_contain_text("Accepted.")
    await page.goto("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("4 need you")
    assert site.complaints == []


async def test_what_is_being_typed_stays_and_the_page_waits(site: Site) -> None:
    page = await site.open()
    await page.goto(f"/servers/{site.world.servers['weather']}")
    await expect(page.locator("#live")).to_have_text("live")
    owner = page.get_by_label("Owner")
    await owner.fill("half a na")
    await site.world.hold("weather", [tool("forecast"), tool("alerts"), tool("tides")], 1)
    await page.wait_for_timeout(2_500)
    await expect(owner).to_have_value("half a na")
    await expect(page.get_by_role("link", name="tides")).to_have_count(0)
    await owner.fill("")
    await owner.blur()
    await expect(page.get_by_role("link", name="tides").first).to_be_visible()
    assert site.complaints == []
