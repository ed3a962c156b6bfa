"""Pictures of every page: ``python -m browser.screenshots FOLDER`` in tests/; with ``--docs`` those of docs/images."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Literal

import psycopg
from browser.inbox import told
from browser.site import FLAGS, Site, executable, served
from browser.world import World, build, large, services_on
from playwright.async_api import Browser, async_playwright, expect

from driftwatch.db.embedded import DATABASE, EmbeddedPostgres
from driftwatch.db.migrate import upgrade
from driftwatch.testing.shop import Shop
from driftwatch.web.app import create_app

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def pages(world: World) -> dict[str, str]:
    """What is worth a picture, by file name."""
    return {
        "overview": "/",
        "search": "/?q=order",
        "rules": "/rules",
        "changelog": "/changelog",
        "channels": "/settings/channels?log=1&filter=1",
        "quiet": "/settings/quiet",
        "policy": "/settings/policy?scope=tag:prod",
        "register": "/servers/new",
        "import": "/servers/import",
        "server": f"/servers/{world.servers['orders']}",
        "server-listening": f"/servers/{world.servers['crm']}",
        "server-kinds": f"/servers/{world.servers['rates']}",
        "server-hostile": f"/servers/{world.servers['tickets']}",
        "server-unwatched": f"/servers/{world.servers['billing']}",
        "tool": f"/tools/{world.tools['orders', 'get_order']}",
        "tool-side": f"/tools/{world.tools['orders', 'get_order']}?view=side",
        "tool-kinds": f"/tools/{world.tools['rates', 'list_rates']}/against/{world.tools['rates', 'list_rates'] + 4}",
        "as-of": f"/servers/{world.servers['orders']}/as-of?at={world.now - timedelta(seconds=300):%Y-%m-%dT%H:%M:%S}",
        "tool-raw": f"/tools/{world.tools['orders', 'get_order']}?view=raw",
        "change": f"/changes/{world.changes['orders', 'get_order']}",
        "change-input": f"/changes/{world.changes['crm', 'search']}",
        "change-invalid": f"/changes/{world.changes['files', 'read_text']}",
        "change-removed": f"/changes/{world.changes['tickets', 'gone_soon']}",
        "changeset": f"/changesets/{world.changesets['files']}",
        "changeset-large": f"/changesets/{world.changesets['commerce']}",
        "changelog-breaking": "/changelog?verdict=breaking&tag=prod",
        "nothing-found": "/?q=nothing-of-that-name",
        "not-found": "/changes/999999",
    }


@asynccontextmanager
async def shop() -> AsyncIterator[str]:
    """The demo's server, to be looked at in the first step of a registration."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        running = Shop(probe.getsockname()[1])
    serving = asyncio.create_task(running.serve())
    for _ in range(200):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.close()
            break
        await asyncio.sleep(0.02)
    yield running.url
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


#: the pictures in README and docs: how much of a page is worth showing, from its top, in pixels
DOCUMENTED = {"change": 1180, "overview": 800, "server": 1010, "tool": 1150, "changeset-large": 560}

#: width in pixels, by the end of the file's name; the dark one is also 1440 wide
WIDTHS = {"light": 1440, "dark": 1440, "tablet": 768, "phone": 375}


async def take(site: Site, folder: Path, shop_url: str) -> None:
    """Every page in both themes at 1440 px, and in light at 768 and 375 px."""
    for theme, width in WIDTHS.items():
        page = await site.open(width=width, dark=theme == "dark")
        for name, path in pages(site.world).items():
            await page.goto(path)
            await page.screenshot(path=folder / f"{name}-{theme}.png", full_page=True)
        await page.goto("/servers/new")
        await page.get_by_label("URL").fill(shop_url)
        await page.get_by_role("button", name="Look first").click()
        await page.get_by_role("button", name="Watch it").wait_for()
        await page.screenshot(path=folder / f"found-{theme}.png", full_page=True)
        stranger = await site.open(width=width, dark=theme == "dark", signed_in=False)
        await stranger.goto("/login")
        await stranger.screenshot(path=folder / f"login-{theme}.png", full_page=True)


MESSAGES = {
    "slack-break": "orders / get_order",
    "slack-announced": "crm / search",
    "slack-invalid": "files / 13 tools",
    "slack-removal": "tickets / gone_soon",
    "slack-blind": "Not watching",
    "slack-summary": "Daily summary",
}


async def take_inbox(browser: Browser, inbox: str, folder: Path) -> None:
    """The fake Slack's inbox and each message in it; the pictures of docs/slack.md are among them."""
    for theme in THEMES:
        context = await browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme)
        page = await context.new_page()
        await page.goto(inbox)
        await page.screenshot(path=folder / f"slack-{theme}.png", full_page=True)
        for name, title in MESSAGES.items():
            await page.locator("article.msg", has_text=title).screenshot(path=folder / f"{name}-{theme}.png")


async def take_documented(site: Site, folder: Path) -> None:
    """What README and docs show, light and dark."""
    for theme in ("light", "dark"):
        page = await site.open(dark=theme == "dark")
        for name, height in DOCUMENTED.items():
            await page.set_viewport_size({"width": 1280, "height": height})
            await page.goto(pages(site.world)["server-listening" if name == "server" else name])
            await expect(page.locator("#live")).to_have_text("live")
            await page.screenshot(path=folder / f"{name}-{theme}.png")


async def main(folder: Path, *, documented: bool) -> None:
    """Seed a database of our own, serve it, take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dw-", dir="/tmp") as home, EmbeddedPostgres(Path(home)) as server:
        upgrade(server.url)
        with psycopg.connect(server.database_url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE inbox TEMPLATE {DATABASE}")
        async with told(server.database_url("inbox"), Path(home)) as inbox, async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=executable(), headless=True, args=FLAGS)
            await take_inbox(browser, inbox, folder)
            await browser.close()
        async with services_on(server.url, Path(home)) as services, shop() as shop_url:
            world = await build(services)
            await large(world)
            async with served(create_app(services)) as url, async_playwright() as driver:
                browser = await driver.chromium.launch(executable_path=executable(), headless=True, args=FLAGS)
                site = Site(url, world.token, browser, world=world)
                await (take_documented(site, folder) if documented else take(site, folder, shop_url))
                await browser.close()


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--docs"]
    asyncio.run(main(Path(words[0] if words else "pictures"), documented="--docs" in sys.argv))
