"""From an empty driftwatch to a closed alert, by hand, against real MCP servers in processes of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from acceptance.harness import ADMIN_TOKEN, HERE, Deployment, Service, mcp2
from browser.site import FLAGS, Visit, executable
from browser.world import BIDI_NAME, HOSTILE_TEXT, MARKUP_NAME, OR_NULL, TEXT, obj, tool
from playwright.async_api import Page, async_playwright, expect

pytestmark = [pytest.mark.browser, pytest.mark.acceptance]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """All roles in one process, as ``driftwatch serve`` runs them."""
    running = Service(tmp_path_factory.mktemp("service"), None).start()
    yield running
    running.close()


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    place = Deployment(tmp_path)
    yield place
    place.close()


@pytest.fixture
async def visit(service: Service) -> AsyncIterator[Visit]:
    path = executable()
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield Visit(service.base, ADMIN_TOKEN, browser)
        await browser.close()


async def register(page: Page, url: str, name: str) -> None:
    """Look first, then watch, every second; the page that stays open is marked, so that a reload would be noticed."""
    await page.goto("/servers/new")
    await page.get_by_label("URL").fill(url)
    await page.get_by_role("button", name="Look first").click()
    await expect(page.get_by_role("heading", name="What we found")).to_be_visible()
    await page.get_by_label("Name").fill(name)
    await page.get_by_role("button", name="Watch it").click()
    await expect(page.get_by_role("status").first).to_contain_text("It is watched now")
    await page.get_by_label("Look every").fill("1")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").first).to_contain_text("Saved.")
    await expect(page.get_by_text("looked at every 1 s")).to_be_visible()
    await expect(page.locator("#live")).to_have_text("live")
    await page.evaluate("window.stayed = true")


async def follow_to_the_end(page: Page, name: str, changed: str, deploy: Callable[[], None]) -> None:
    """Drift appears on the open page, is compared, accepted, and needs nobody any more."""
    deploy()
    await expect(page.get_by_role("link", name="Open the change")).to_be_visible()
    assert await page.evaluate("window.stayed"), "the page was loaded anew"
    await expect(page.get_by_role("link", name=changed).first).to_be_visible()

    await page.get_by_role("link", name="Open the change").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("status may now be null")
    await expect(page.locator(".json .bad")).to_contain_text('"status": null')
    await page.get_by_role("link", name="The whole contract, v1 → v2").click()
    await page.get_by_role("link", name="side by side").click()
    await expect(page.locator(".sides ins").first).to_have_text("null")
    await page.get_by_role("link", name="raw", exact=True).click()
    await expect(page.locator(".json .good").first).to_be_visible()

    await page.get_by_role("link", name="Open the last change").click()
    await page.get_by_label("Reason").fill("carriers may be pending")
    await page.get_by_role("button", name="Accept v2", exact=True).click()
    await expect(page.get_by_role("status").first).to_contain_text("Accepted.")
    await page.goto("/")
    await page.get_by_role("link", name=name, exact=True).click()
    await expect(page.get_by_role("link", name="Open the change")).to_have_count(0)
    await expect(page.locator("table", has_text="opened").get_by_text("accepted", exact=True)).to_be_visible()


async def test_a_server_of_the_official_sdk(visit: Visit, deployment: Deployment) -> None:
    deployment.deploy(mcp2())
    page = await visit.open()
    await register(page, deployment.url, "shop")
    await follow_to_the_end(page, "shop", "get_order", lambda: deployment.control(flags="null"))
    assert visit.complaints == []


async def test_names_and_texts_that_want_to_be_something_else(
    visit: Visit, deployment: Deployment, tmp_path: Path
) -> None:
    page = await visit.open()
    page.on("dialog", lambda dialog: visit.complaints.append(f"dialog: {dialog.message}"))
    deployed = tmp_path / "tools.json"

    def deploy(status: object) -> None:
        order = obj(["id", "status"], id=TEXT, status=status)
        tools = [tool(MARKUP_NAME, obj(), order, HOSTILE_TEXT), tool(BIDI_NAME), tool("`tick` & {{ 7*7 }}")]
        written = tmp_path / "new.json"
        written.write_text(json.dumps({"pages": [tools]}))
        written.replace(deployed)

    deploy(TEXT)
    deployment.deploy([sys.executable, str(HERE / "servers" / "raw_server.py"), "{port}", str(deployed)])
    await register(page, deployment.url, "<i>hostile</i>")
    await expect(page.locator(".hidden-char", has_text="U+202E").first).to_be_visible()
    await follow_to_the_end(page, "<i>hostile</i>", MARKUP_NAME, lambda: deploy(OR_NULL))
    assert await page.locator("main img, main i, main script").count() == 0
    assert visit.complaints == []
